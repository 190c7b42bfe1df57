// The index against a Map of the platform: ids whose numbers come, and are forgotten together.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collidingId } from '../../testing/colliding-ids.ts';
import { HashIndex } from './hash-index.ts';
import { hashOf } from './id-table.ts';

/** Gives each group of ids a number. */
class Groups {
  readonly index: HashIndex;
  readonly #groups = new Map<number, ReadonlySet<string>>();
  #lastNumber = 0;
  /** How often the index has asked whose number one is. */
  questionCount = 0;

  constructor() {
    this.index = new HashIndex({
      isOf: (number, id) => {
        this.questionCount += 1;
        return this.#groups.get(number)?.has(id) === true;
      },
      isKnown: (number) => this.#groups.has(number),
    });
  }

  get numbers(): readonly number[] {
    return [...this.#groups.keys()];
  }

  add(ids: readonly string[]): void {
    const isNew = (id: string) => this.numberOf(id) === undefined;
    const added = new Set(ids.filter(isNew));
    this.#lastNumber += 1;
    this.#groups.set(this.#lastNumber, added);
    for (const id of added) this.index.add(id, hashOf(id), this.#lastNumber);
  }

  forget(number: number): void {
    this.#groups.delete(number);
    this.index.forget(number);
  }

  numberOf(id: string): number | undefined {
    return this.numbers.find((number) => this.#groups.get(number)?.has(id));
  }

  /** The ids for which the index says something else. */
  mistaken(ids: readonly string[]): readonly string[] {
    const expected = new Map<string, number>();
    for (const [number, group] of this.#groups) for (const id of group) expected.set(id, number);
    return ids.filter((id) => this.index.find(id, hashOf(id)) !== expected.get(id));
  }
}

const counted = (number: number): string => `m-${number}`;
const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

describe('an index of numbers', () => {
  it.each([
    ['ids that count', counted],
    ['ids that all collide', collidingId],
  ])('finds what was added and not forgotten, with %s', (_title, idOf) => {
    const step = fc.record({
      from: fc.nat({ max: 90 }),
      count: fc.nat({ max: 12 }),
      forgets: fc.nat({ max: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const groups = new Groups();
        for (const { from, count, forgets } of steps) {
          groups.add(range(from, count).map(idOf));
          const forgotten = groups.numbers[forgets];
          if (forgotten !== undefined && forgets > 0) groups.forget(forgotten);
          expect(groups.mistaken(range(0, 105).map(idOf))).toEqual([]);
        }
      }),
    );
  });

  it('finds many ids while the oldest are forgotten, and none of those', () => {
    const groups = new Groups();
    const idOf = (number: number) => (number % 50 === 0 ? collidingId(number) : counted(number));
    for (let round = 0; round < 60; round += 1) {
      const ids = range(round * 500, 500).map(idOf);
      expect(ids.filter((id) => groups.index.find(id, hashOf(id)) !== undefined)).toEqual([]);
      groups.add(ids);
      const oldest = groups.numbers[0];
      if (groups.numbers.length > 20 && oldest !== undefined) groups.forget(oldest);
    }
    expect(groups.numbers.length).toBe(20);
    expect(groups.mistaken(range(0, 30_500).map(idOf))).toEqual([]);
  });

  it('asks few questions, however many ids have the same hash', () => {
    const groups = new Groups();
    for (let from = 0; from < 1000; from += 100) groups.add(range(from, 100).map(collidingId));
    groups.questionCount = 0;
    expect(groups.mistaken(range(0, 2000).map(collidingId))).toEqual([]);
    expect(groups.questionCount / 2000).toBeLessThanOrEqual(2);
  });
});
