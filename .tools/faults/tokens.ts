// Words and signs of program text with their places. Two texts that differ in white space only have the same tokens, and so do two
// that differ in a comma before a closing bracket, which the formatter writes and takes away. Must work on pieces of programs, which
// may begin or end within a string.

export type Token = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
};

// A word is compared as a whole, so that `return x` is not found in `returnx`; of everything else each character is a token.
const wordOrSign = /[\p{L}\p{N}_$]+|[^\s]/gu;
const word = /[\p{L}\p{N}_$]+/gu;

/** Tokens of `text`, their places moved by `offset`. */
export function tokensOf(text: string, offset = 0): readonly Token[] {
  return [...text.matchAll(wordOrSign)].map((match) => {
    const start = offset + match.index;
    return { text: match[0], start, end: start + match[0].length };
  });
}

/** The tokens that are words, in order. */
export function wordsOf(text: string): readonly string[] {
  return text.match(word) ?? [];
}

export function withoutTrailingCommas(tokens: readonly Token[]): readonly Token[] {
  return tokens.filter(({ text }, index) => text !== ',' || !closes(tokens[index + 1]));
}

function closes(token: Token | undefined): boolean {
  return token !== undefined && [')', ']', '}'].includes(token.text);
}
