// One character of all of Unicode, for the properties of texts. What fast-check calls `binary` is the same, but its first use in a thread makes a
// table of 1.1 million characters: a second of processor time and 100 MiB.

import fc from 'fast-check';

/** All code points but halves of pairs, for `unit` of a string and `stringUnit` of JSON. */
export const codePoint: fc.Arbitrary<string> = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code), codeOf);

/** How fast-check makes a text shorter that it did not draw, such as `__proto__`. */
function codeOf(text: unknown): number {
  if (typeof text !== 'string' || [...text].length !== 1) throw new Error('That is not one character.');
  return text.codePointAt(0) ?? 0;
}
