// Contents that share memory do not share bytes: whatever is kept later, and wherever the first bytes came from.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContentPool } from './content-pool.ts';

describe('a content pool', () => {
  it('keeps every content as it was', () => {
    const length = fc.oneof(fc.nat(20), fc.nat(20_000), fc.constantFrom(8_192, 8_193, 65_536, 65_537));
    fc.assert(
      fc.property(fc.array(length, { maxLength: 60 }), (lengths) => {
        const pool = new ContentPool();
        const contents = lengths.map((bytes, index) => Buffer.alloc(bytes, index + 1));
        const kept = contents.map((content) => pool.keep(content));
        expect(kept.every((bytes, index) => contents[index]?.equals(bytes))).toBe(true);
      }),
    );
  });

  it('has small contents share memory, and large ones have their own', () => {
    const pool = new ContentPool();
    const [small, next, large] = [10, 1_000, 100_000].map((bytes) => pool.keep(Buffer.alloc(bytes)));
    expect(next?.buffer).toBe(small?.buffer);
    expect(large?.buffer).not.toBe(small?.buffer);
  });
});
