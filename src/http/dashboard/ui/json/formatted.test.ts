// Formatted JSON means what the text means.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formattedJson } from './formatted.ts';

describe('a formatted JSON text', () => {
  it('is what JSON.stringify writes with two spaces', () => {
    const property = fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(formattedJson(text)).toBe(JSON.stringify(value, undefined, 2));
    });
    fc.assert(property);
  });

  it('keeps numbers and strings as they are spelled', () => {
    expect(formattedJson('[9007199254740993, "a, b: \\"{" ,1.0]')).toBe(
      '[\n  9007199254740993,\n  "a, b: \\"{",\n  1.0\n]',
    );
  });

  it('stays small for deep texts', () => {
    expect(formattedJson('['.repeat(2000) + ']'.repeat(2000)).length).toBeLessThan(500_000);
  });
});
