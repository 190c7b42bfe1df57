// The positions of the readers against one plain list per reader, whatever is appended, read, removed and ended.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cursor, type CursorItem, CursorList, type CursorReader } from './cursor-list.ts';

const READERS = 4;

type Move =
  | { readonly append: readonly boolean[] }
  | { readonly remove: number }
  | { readonly advance: number }
  | { readonly end: number };

const append = fc.record({
  append: fc.array(fc.boolean(), { minLength: READERS, maxLength: READERS }),
});
const moves = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: append },
    { weight: 3, arbitrary: fc.record({ remove: fc.nat(1000) }) },
    { weight: 3, arbitrary: fc.record({ advance: fc.nat(READERS - 1) }) },
    { weight: 1, arbitrary: fc.record({ end: fc.nat(READERS - 1) }) },
  ),
  { maxLength: 80, size: 'max' },
);

class Item implements CursorItem<Item> {
  order = 0;
  earlier: Item | undefined = undefined;
  later: Item | undefined = undefined;
  cursor: Cursor<Item> | undefined = undefined;
}

type Reader = CursorReader<Item> & { active: boolean; model: Item[] };

class Play {
  readonly #list = new CursorList<Item>();
  readonly #readers: readonly Reader[] = Array.from({ length: READERS }, () => ({
    position: undefined,
    lastOrder: Number.POSITIVE_INFINITY,
    active: true,
    model: [],
  }));
  #items: Item[] = [];

  move(move: Move): void {
    if ('append' in move) this.#append(move.append);
    else if ('remove' in move) this.#remove(this.#items[move.remove % Math.max(1, this.#items.length)]);
    else if ('advance' in move) this.#advance(move.advance);
    else this.#end(move.end);
    for (const reader of this.#readers) {
      expect(this.#list.next(reader)).toBe(reader.model[0]);
      expect(this.#list.isBehind(reader)).toBe(reader.model.length > 0);
    }
  }

  /** A reader that is behind reads this one too; the others as `wanted` says. */
  #append(wanted: readonly boolean[]): void {
    const item = new Item();
    const readers = this.#readers.filter(
      ({ active, model }, at) => active && (model.length > 0 || wanted[at]),
    );
    if (readers.length === 0) return;
    for (const reader of readers) {
      this.#list.include(reader, item);
      reader.model.push(item);
    }
    this.#list.append(item);
    this.#items.push(item);
  }

  #remove(item: Item | undefined): void {
    if (item === undefined) return;
    this.#list.remove(item);
    this.#items = this.#items.filter((one) => one !== item);
    for (const reader of this.#readers) reader.model = reader.model.filter((one) => one !== item);
  }

  #advance(at: number): void {
    const reader = this.#readers[at];
    if (reader === undefined) return;
    this.#list.advance(reader);
    reader.model.shift();
  }

  #end(at: number): void {
    const reader = this.#readers[at];
    if (reader === undefined) return;
    this.#list.end(reader);
    reader.active = false;
  }
}

describe('a list with cursors', () => {
  it('gives each reader its items, in the order in which they were appended', () => {
    fc.assert(
      fc.property(moves, (sequence) => {
        const play = new Play();
        for (const move of sequence) play.move(move);
      }),
    );
  });
});
