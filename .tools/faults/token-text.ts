// A list of tokens that can be searched for another one. Joined into one string, so that the search is as fast as one in a string.
import type { Token } from './tokens.ts';

export type Range = { readonly start: number; readonly end: number };

/** Stands in no token: they hold no white space. */
const BETWEEN = '\n';

/** Tokens to search for. Made once for all the texts that are searched. */
export class WantedTokens {
  readonly count: number;
  readonly joined: string;

  constructor(tokens: readonly Token[]) {
    this.count = tokens.length;
    this.joined = joined(tokens);
  }
}

export class TokenText {
  readonly #tokens: readonly Token[];
  readonly #joined: string;
  /** Which token begins behind the separator at this place of the joined text. */
  readonly #indexAt = new Map<number, number>();

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    this.#joined = joined(tokens);
    let at = 0;
    for (const [index, { text }] of tokens.entries()) {
      this.#indexAt.set(at, index);
      at += BETWEEN.length + text.length;
    }
  }

  /** Every place in the program text at which these tokens stand one after the other. None for no tokens. */
  find(wanted: WantedTokens): readonly Range[] {
    if (wanted.count === 0) return [];
    const found: Range[] = [];
    let at = this.#joined.indexOf(wanted.joined);
    for (; at >= 0; at = this.#joined.indexOf(wanted.joined, at + 1)) {
      const first = this.#indexAt.get(at);
      if (first !== undefined) found.push(this.#range(first, wanted.count));
    }
    return found;
  }

  #range(first: number, count: number): Range {
    const [start, end] = [this.#tokens[first]?.start, this.#tokens[first + count - 1]?.end];
    if (start === undefined || end === undefined) throw new Error('A match lies outside of the text.');
    return { start, end };
  }
}

/** A separator before each token and behind the last, so that a token is found as a whole only. */
function joined(tokens: readonly Token[]): string {
  return BETWEEN + tokens.map(({ text }) => text + BETWEEN).join('');
}
