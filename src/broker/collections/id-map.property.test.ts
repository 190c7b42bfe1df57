// The map by id does what a Map does, below the size at which it is spread, above it, and on the way back.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdMap } from './id-map.ts';

describe('a map by id', () => {
  it('does what a Map does', () => {
    const change = fc.record({ id: fc.nat(40).map(String), remove: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const [real, plain] = [new IdMap<number>(), new Map<string, number>()];
        for (const [index, { id, remove }] of changes.entries()) {
          const isNew = !plain.has(id);
          if (remove) plain.delete(id);
          else plain.set(id, index);
          if (remove) real.delete(id);
          else expect(real.set(id, index)).toBe(isNew);
          expect([real.size, real.get(id), real.has(id)]).toEqual([plain.size, plain.get(id), plain.has(id)]);
        }
      }),
    );
  });

  it.each([
    ['numbers', (number: number) => String(number)],
    ['numbers at the front', (number: number) => `${number}-and-a-common-end`],
    ['the empty id too', (number: number) => (number === 0 ? '' : `m${number}`)],
  ])('keeps tens of thousands of ids: %s', (_, idOf) => {
    const map = new IdMap<number>();
    const count = 30_000;
    for (let number = 0; number < count; number += 1) map.set(idOf(number), number);
    map.set(idOf(7), -7);
    expect([map.size, map.get(idOf(7)), map.get(idOf(count - 1)), map.get('none')]).toEqual([
      count,
      -7,
      count - 1,
      undefined,
    ]);
    for (let number = 0; number < count; number += 1) map.delete(idOf(number));
    map.delete(idOf(1));
    expect([map.size, map.get(idOf(1))]).toEqual([0, undefined]);
    map.set('again', 1);
    expect(map.get('again')).toBe(1);
  });
});
