// Texts of others on a terminal: nothing in them moves its cursor, and their width is known.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codePoint } from '../../testing/code-point.ts';
import { cutTo, escaped, fitted, widthOf } from './shown-text.ts';

describe('a text', () => {
  it.each([
    ['plain ü 注文 😀', 'plain ü 注文 😀'],
    ['a\nb\tc', 'a\\nb\\tc'],
    ['\u001b[31m', '\\x1b[31m'],
    ['\u009b\u007f', '\\x9b\\x7f'],
    ['\u202eabc\u200d', '\\u202eabc\\u200d'],
    ['\ud800', '\\ud800'],
    ['\u{e0041}', '\\u{e0041}'],
  ])('%j is shown as %s', (text, shown) => {
    expect(escaped(text)).toBe(shown);
  });

  it.each([
    ['abc', 3],
    ['注文', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['😀', 2],
    ['한글', 4],
    ['ｱ', 1],
  ])('%s is %i cells wide', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it('is cut to a width with a mark at its end, never in the middle of a character', () => {
    expect([
      cutTo('abcdef', 6),
      cutTo('abcdef', 4),
      cutTo('注文注', 4),
      cutTo('😀😀', 2),
      cutTo('ab', 0),
    ]).toEqual(['abcdef', 'abc~', '注~', '~', '']);
  });

  it('holds no control character and fits exactly, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), fc.integer({ min: 1, max: 40 }), (text, width) => {
        const cell = fitted(escaped(text), width, 'right');
        expect(cell).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        expect(widthOf(cell)).toBe(width);
      }),
    );
  });
});
