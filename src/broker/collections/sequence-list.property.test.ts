// The list against a sorted array: whatever returns to its place and leaves from anywhere, the item with the smallest sequence is first.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeapNode } from './heap.ts';
import { type SequenceItem, SequenceList } from './sequence-list.ts';

/** A move is about the item of that number: it is inserted when it is out and removed when it is in. */
const moves = fc.array(fc.nat(11), { maxLength: 80, size: 'max' });

class Item implements SequenceItem<Item> {
  readonly sequence: number;
  previous: Item | undefined = undefined;
  next: Item | undefined = undefined;
  returned: HeapNode<Item> | undefined = undefined;

  constructor(sequence: number) {
    this.sequence = sequence;
  }
}

describe('a list by sequence', () => {
  it('has the smallest sequence in front [DELIVERY-039]', () => {
    const property = fc.property(moves, (sequence) => {
      const list = new SequenceList<Item>();
      const items = Array.from({ length: 12 }, (_, number) => new Item(number + 1));
      const inside = new Set<Item>();
      for (const number of sequence) {
        const moved = items[number];
        if (moved === undefined) continue;
        if (inside.delete(moved)) list.remove(moved);
        else {
          inside.add(moved);
          list.insert(moved);
        }
        expect(list.first()).toBe([...inside].sort((a, b) => a.sequence - b.sequence)[0]);
        expect(list.size).toBe(inside.size);
        const ordered = [...inside].sort((a, b) => a.sequence - b.sequence);
        for (const offset of [0, 2, 12]) expect([...list.from(offset)]).toEqual(ordered.slice(offset));
      }
    });
    fc.assert(property);
  });
});
