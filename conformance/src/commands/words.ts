// Splits a command line into words like a shell, with quotes and backslashes, and without any other feature of a shell. Pure.
import { UsageError } from '../usage-error.ts';

/** `node "my adapter.js" --x='1 2'` has the three words node, my adapter.js, --x=1 2. Throws a UsageError for an open quote. */
export function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    const isEscape = character === '\\' && quote !== "'" && escapable.test(line.charAt(at + 1));
    if (isEscape) {
      at += 1;
      word = (word ?? '') + line.charAt(at);
    } else if (character === quote) quote = undefined;
    else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (quote === undefined && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  if (quote !== undefined) throw new UsageError(`${line}: the quote ${quote} is not closed`);
  return word === undefined ? words : [...words, word];
}

/** A backslash before any other character is literal, because Windows paths contain it. */
const escapable = /["'\\\s]/;
