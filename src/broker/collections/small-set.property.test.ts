// A small set against a Set.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SmallSet } from './small-set.ts';

const steps = fc.array(fc.record({ adds: fc.boolean(), item: fc.integer({ min: 0, max: 5 }) }));

it('has the same items in the same order as a Set, and tells whether it lost one', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const small = new SmallSet<number>();
      const set = new Set<number>();
      for (const { adds, item } of all) {
        if (adds) {
          small.add(item);
          set.add(item);
        } else expect(small.delete(item)).toBe(set.delete(item));
        expect([[...small], small.size]).toEqual([[...set], set.size]);
      }
    }),
  );
});

it('may lose its items while they are gone through', () => {
  const set = new SmallSet<string>();
  for (const item of ['a', 'b', 'c']) set.add(item);
  const seen: string[] = [];
  for (const item of set) {
    seen.push(item);
    set.delete(item);
  }
  expect([seen, set.size]).toEqual([['a', 'b', 'c'], 0]);
});
