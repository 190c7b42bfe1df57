// Patterns against a matcher that tries everything, the folding of letters against the engine of regular expressions, and the number of
// characters that a hostile pattern makes a match read.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesNaively } from '../../testing/naive/rights.ts';
import { runsOf } from '../../testing/property-runs.ts';
import { type FoldedText, foldCase, Pattern } from './pattern.ts';

const matches = (pattern: string, name: string): boolean => new Pattern(pattern).matches(foldCase(name));

/** Few letters, so that many pairs match. */
const texts = (letters: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...letters), { maxLength: 9 }).map((all) => all.join(''));

describe('a pattern', () => {
  it('matches what a matcher that tries everything matches [AUTH-018, AUTH-019]', () => {
    fc.assert(
      fc.property(
        texts(['a', 'A', 'b', '.', 'σ', '*', '*']),
        texts(['a', 'B', '.', 'Σ', 'ς']),
        (pattern, name) => {
          expect(matches(pattern, name)).toBe(matchesNaively(pattern, name));
        },
      ),
      { numRuns: runsOf(2000) },
    );
  });

  it('matches every name that is made from it, in any case [AUTH-018, AUTH-019]', () => {
    const letters = texts(['a', 'Z', 'é', 'Я', '-', '7', '订']);
    fc.assert(
      fc.property(fc.array(letters, { minLength: 1, maxLength: 5 }), fc.array(letters), (parts, fillings) => {
        const name = parts.map((part, index) => (index === 0 ? '' : (fillings[index] ?? '')) + part).join('');
        expect(matches(parts.join('*'), name.toUpperCase())).toBe(true);
        expect(matches(parts.join('*').toUpperCase(), name)).toBe(true);
      }),
    );
  });
});

/** Counts how often a character of it is read. */
class CountedText implements FoldedText {
  readonly #text: string;
  readCount = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get length(): number {
    return this.#text.length;
  }

  charCodeAt(index: number): number {
    this.readCount += 1;
    return this.#text.charCodeAt(index);
  }
}

describe('a hostile pattern', () => {
  it.each([
    ['many stars before a letter that is missing', `${'*a'.repeat(64)}*b*`],
    ['a long part that nearly fits everywhere', `*${'a'.repeat(127)}b*`],
    ['parts that overlap themselves', `*${'ab'.repeat(40)}c*${'a'.repeat(40)}*`],
    ['nothing but stars', '*'.repeat(256)],
  ])('costs at most a few looks at each character: %s', (_, pattern) => {
    for (const text of ['a'.repeat(256), 'ab'.repeat(128), `${'a'.repeat(255)}b`]) {
      const name = new CountedText(text);
      new Pattern(pattern).matches(name);
      expect(name.readCount).toBeLessThanOrEqual(3 * text.length);
    }
  });
});

describe('the folding of letters', () => {
  const isNameLetter = /^[\p{L}\p{Nd}]$/u;
  const letters = Array.from({ length: 0x11_0000 }, (_, codePoint) => codePoint)
    .filter((codePoint) => codePoint < 0xd8_00 || codePoint > 0xdf_ff)
    .map((codePoint) => String.fromCodePoint(codePoint))
    .filter((letter) => isNameLetter.test(letter));

  it('makes no two letters equal that differ in more than their case, and changes no length [AUTH-019]', () => {
    const changed = letters.filter((letter) => foldCase(letter) !== letter);
    expect(changed.length).toBeGreaterThan(1300);
    for (const letter of changed) {
      const folded = foldCase(letter);
      expect(folded.length, letter).toBe(letter.length);
      expect(new RegExp(`^${folded}$`, 'iu').test(letter), letter).toBe(true);
    }
  });

  it('makes the capital and the small form of every letter equal that has one of each [AUTH-019]', () => {
    for (const letter of letters) {
      for (const other of [letter.toUpperCase(), letter.toLowerCase()]) {
        // Most letters have no case, and compiling an expression for each of them takes seconds.
        if (other !== letter && new RegExp(`^${letter}$`, 'iu').test(other))
          expect(foldCase(other), letter).toBe(foldCase(letter));
      }
    }
  });
});
