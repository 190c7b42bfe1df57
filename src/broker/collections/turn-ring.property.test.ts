// The ring against an array that is searched: whatever comes, goes and is served, the turns go round in the order of places.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeapNode } from './heap.ts';
import { type TurnItem, TurnRing } from './turn-ring.ts';

const ITEMS = 6;
const moves = fc.array(fc.oneof(fc.record({ toggle: fc.nat(ITEMS - 1) }), fc.constant('serve' as const)), {
  maxLength: 60,
  size: 'max',
});

class Item implements TurnItem<Item> {
  readonly place: number;
  turn: HeapNode<Item> | undefined = undefined;

  constructor(place: number) {
    this.place = place;
  }
}

/** The first item behind that place, or, when there is none, the first of all. */
function nextBehind(inside: ReadonlySet<Item>, place: number): Item | undefined {
  const inOrder = [...inside].sort((a, b) => a.place - b.place);
  return inOrder.find((item) => item.place > place) ?? inOrder[0];
}

describe('the ring of turns', () => {
  it('goes round in the order of places [DELIVERY-013]', () => {
    const property = fc.property(moves, (sequence) => {
      const ring = new TurnRing<Item>();
      const items = Array.from({ length: ITEMS }, (_, place) => new Item(place));
      const inside = new Set<Item>();
      let lastPlace = -1;
      for (const move of sequence) {
        const first = ring.first();
        if (move === 'serve') {
          if (first === undefined) continue;
          ring.served(first);
          lastPlace = first.place;
        } else {
          const item = items[move.toggle];
          if (item === undefined) continue;
          if (inside.delete(item)) ring.remove(item);
          else {
            inside.add(item);
            ring.insert(item);
          }
        }
        const expected = nextBehind(inside, lastPlace);
        expect(ring.first()).toBe(expected);
        expect(ring.size).toBe(inside.size);
        if (expected === undefined) continue;
        const others = new Set([...inside].filter((item) => item !== expected));
        expect(ring.firstOtherThan(expected)).toBe(nextBehind(others, lastPlace));
      }
    });
    fc.assert(property);
  });
});
