// A small map against a Map.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SmallMap } from './small-map.ts';

const keys = [0, 1, 2, 3, 4, 5];
const steps = fc.array(
  fc.record({ sets: fc.boolean(), key: fc.constantFrom(...keys), value: fc.integer({ min: 0, max: 9 }) }),
);

it('has the same entries in the same order as a Map, and tells whether it lost one', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const small = new SmallMap<number, number>();
      const map = new Map<number, number>();
      for (const { sets, key, value } of all) {
        if (sets) {
          small.set(key, value);
          map.set(key, value);
        } else expect(small.delete(key)).toBe(map.delete(key));
        expect([[...small.values()], small.size]).toEqual([[...map.values()], map.size]);
        expect(keys.map((each) => [small.get(each), small.has(each)])).toEqual(
          keys.map((each) => [map.get(each), map.has(each)]),
        );
      }
    }),
  );
});

it('may lose its entries while their values are gone through', () => {
  const map = new SmallMap<string, string>();
  for (const key of ['a', 'b', 'c']) map.set(key, key);
  const seen: string[] = [];
  for (const value of map.values()) {
    seen.push(value);
    map.delete(value);
  }
  expect([seen, map.size]).toEqual([['a', 'b', 'c'], 0]);
});
