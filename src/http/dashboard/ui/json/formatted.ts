// A JSON text with line breaks and indentation, for copying. Only white space between the parts changes.

import { endOfValue } from './json-node.ts';

const INDENT = '  ';

/** The text, formatted. Takes time in proportion to its length, and two more characters for each level of each line. */
export function formattedJson(text: string): string {
  const parts: string[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '"') {
      const end = endOfValue(text, at);
      parts.push(text.slice(at, end));
      at = end - 1;
    } else if (character === '{' || character === '[') {
      const close = closingAfter(text, at + 1);
      if (close === undefined) depth += 1;
      parts.push(close === undefined ? character + lineAt(depth) : `${character}${text[close]}`);
      at = close ?? at;
    } else if (character === '}' || character === ']') {
      depth = Math.max(0, depth - 1);
      parts.push(lineAt(depth) + character);
    } else if (character === ',') parts.push(`,${lineAt(depth)}`);
    else if (character === ':') parts.push(': ');
    else if (character.trim() !== '') parts.push(character);
  }
  return parts.join('');
}

/** Deep levels are not indented further: the text would grow with the square of its depth. */
function lineAt(depth: number): string {
  return `\n${INDENT.repeat(Math.min(depth, 50))}`;
}

/** Where the closing bracket is when nothing but white space stands before it. */
function closingAfter(text: string, from: number): number | undefined {
  let at = from;
  while (at < text.length && (text[at] ?? '').trim() === '') at += 1;
  return text[at] === '}' || text[at] === ']' ? at : undefined;
}
