// The map of ids against a Map of the platform: few items and many, ids that collide and ids that do not.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collidingId } from '../../testing/colliding-ids.ts';
import { IdMap } from './id-map.ts';
import { hashOf } from './id-table.ts';

type Item = { readonly id: string; readonly number: number };

/** A map and what it should be. */
class Pair {
  readonly map = new IdMap<Item>();
  readonly expected = new Map<string, Item>();
  /** Ids of which `set` said the wrong thing. */
  readonly mistaken: string[] = [];

  set(item: Item): void {
    if (this.map.set(item.id, item) === this.expected.has(item.id)) this.mistaken.push(item.id);
    this.expected.set(item.id, item);
  }

  delete(id: string): void {
    this.map.delete(id);
    this.expected.delete(id);
  }

  check(ids: Iterable<string>): void {
    expect(this.mistaken).toEqual([]);
    expect(this.map.size).toBe(this.expected.size);
    const wrong = [...ids].filter(
      (id) => this.map.get(id) !== this.expected.get(id) || this.map.has(id) !== this.expected.has(id),
    );
    expect(wrong).toEqual([]);
  }
}

describe('a map of ids', () => {
  it.each([
    ['ids that count', (number: number) => `m-${number}`],
    ['ids that collide', collidingId],
    ['ids of one character and more', (number: number) => 'x'.repeat(number)],
  ])('does what a Map does, with %s', (_title, idOf) => {
    const step = fc.record({ number: fc.nat({ max: 120 }), isSet: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), (steps) => {
        const pair = new Pair();
        for (const [index, { number, isSet }] of steps.entries()) {
          if (isSet) pair.set({ id: idOf(number), number: index });
          else pair.delete(idOf(number));
          pair.check([idOf(number)]);
        }
        pair.check(Array.from({ length: 121 }, (_, number) => idOf(number)));
      }),
    );
  });

  it.each([
    ['ids that count', (number: number) => `message-${number}`],
    ['some ids that collide', (number: number) => (number % 50 === 0 ? collidingId(number) : `${number}`)],
    ['ids that all collide', collidingId],
    ['the empty id too', (number: number) => (number === 0 ? '' : `m${number}`)],
  ])('keeps many items while they come and go, with %s', (_title, idOf) => {
    const pair = new Pair();
    const count = 10_000;
    for (let number = 0; number < count; number += 1) pair.set({ id: idOf(number), number });
    pair.set({ id: idOf(7), number: -7 });
    pair.check([...pair.expected.keys(), 'message', '']);
    for (let number = 0; number < 3 * count; number += 1) {
      pair.delete(idOf(number));
      if (number < count) pair.set({ id: idOf(number + count), number });
    }
    pair.check(Array.from({ length: 2 * count }, (_, number) => idOf(number)));
    expect(pair.map.size).toBe(0);
    pair.set({ id: 'again', number: 1 });
    pair.check(['again', idOf(1)]);
  });
});

describe('the hash of an id', () => {
  it('spreads ids that count over its lowest and highest bits', () => {
    const hashes = Array.from({ length: 25_600 }, (_, number) => hashOf(`message-${number}`));
    for (const part of [(hash: number) => hash & 255, (hash: number) => hash >>> 24]) {
      const counts = new Map<number, number>();
      for (const hash of hashes) counts.set(part(hash), (counts.get(part(hash)) ?? 0) + 1);
      expect(counts.size).toBe(256);
      expect(Math.max(...counts.values())).toBeLessThan(160);
      expect(Math.min(...counts.values())).toBeGreaterThan(50);
    }
  });

  it('differs for ids of one length that differ in one character, wherever', () => {
    const changed = fc.string({ minLength: 1, maxLength: 300 }).chain((id) =>
      fc.record({
        id: fc.constant(id),
        at: fc.nat(id.length - 1),
        by: fc.integer({ min: 1, max: 65_535 }),
      }),
    );
    fc.assert(
      fc.property(changed, ({ id, at, by }) => {
        const other = id.slice(0, at) + String.fromCharCode(id.charCodeAt(at) ^ by) + id.slice(at + 1);
        expect(hashOf(other)).not.toBe(hashOf(id));
      }),
    );
  });

  it('is the same for ids that were made so', () => {
    const ids = Array.from({ length: 5000 }, (_, number) => collidingId(number));
    expect(new Set(ids).size).toBe(5000);
    expect(new Set(ids.map(hashOf)).size).toBe(1);
  });
});
