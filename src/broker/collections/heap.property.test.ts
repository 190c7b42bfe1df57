// The heap against a sorted list: whatever is put in and taken out from anywhere, the first is the smallest, and of equal
// keys the lower rank and then the earlier one.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap, type HeapNode } from './heap.ts';

type Move = { readonly key: number; readonly rank: number } | { readonly remove: number };

const moves = fc.array(
  fc.oneof(
    fc.record({ key: fc.nat(5), rank: fc.nat(1) }),
    fc.record({ key: fc.nat(5), rank: fc.nat(1) }),
    fc.record({ remove: fc.nat(30) }),
  ),
  { maxLength: 60, size: 'max' },
);

type Entry = {
  readonly node: HeapNode<number>;
  readonly key: number;
  readonly rank: number;
  readonly item: number;
};

function smallest(entries: readonly Entry[]): Entry | undefined {
  return [...entries].sort((a, b) => a.key - b.key || a.rank - b.rank || a.item - b.item)[0];
}

function play(sequence: readonly Move[]): void {
  const heap = new Heap<number>();
  let entries: Entry[] = [];
  for (const [item, move] of sequence.entries()) {
    if ('key' in move) entries.push({ node: heap.insert(move.key, item, move.rank), ...move, item });
    else {
      const entry = entries[move.remove % Math.max(1, entries.length)];
      if (entry === undefined) continue;
      heap.remove(entry.node);
      heap.remove(entry.node);
      entries = entries.filter((one) => one !== entry);
    }
    expect(heap.first()?.item).toBe(smallest(entries)?.item);
    expect(heap.size).toBe(entries.length);
  }
}

describe('the heap', () => {
  it('has the smallest entry first, whatever was taken out', () => {
    fc.assert(fc.property(moves, play));
  });

  it('refuses the key NaN, and keeps its entries', () => {
    const heap = new Heap<string>();
    heap.insert(1, 'one');
    expect(() => heap.insert(Number.NaN, 'none')).toThrow('NaN');
    expect(heap.size).toBe(1);
    expect(heap.first()?.item).toBe('one');
  });
});
