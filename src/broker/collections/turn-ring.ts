// Items that take turns in the order of their places, whichever of them came, went or was served out of turn meanwhile. The cost of a
// turn grows with the logarithm of the number of items in the ring, and not with the number of those outside.

import { Heap, type HeapNode } from './heap.ts';

/** What an item keeps for the ring. */
export type TurnItem<Item> = {
  /** Unique among the items of a ring. */
  readonly place: number;
  /** Undefined while it is not in the ring. */
  turn: HeapNode<Item> | undefined;
};

export class TurnRing<Item extends TurnItem<Item>> {
  /** Items behind the one whose turn was last, by place: their turns in this round are still to come. */
  #thisRound = new Heap<Item>();
  /** Items up to the one whose turn was last. */
  #nextRound = new Heap<Item>();
  /** The place of the item whose turn was last. */
  #lastPlace = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#thisRound.size + this.#nextRound.size;
  }

  /** The item whose turn it is. */
  first(): Item | undefined {
    return (this.#thisRound.first() ?? this.#nextRound.first())?.item;
  }

  /** The item whose turn it would be if `passed` were not in the ring. */
  firstOtherThan(passed: Item): Item | undefined {
    const first = this.first();
    if (first !== passed) return first;
    this.remove(passed);
    const other = this.first();
    this.insert(passed);
    return other;
  }

  /** Ends the turn of an item that is served. An item that is served out of turn keeps its turn. */
  served(item: Item): void {
    if (this.first() !== item) return;
    if (this.#thisRound.size === 0) this.#swapRounds();
    this.#lastPlace = item.place;
    if (this.size === 1) return this.#swapRounds();
    if (item.turn !== undefined) this.#thisRound.remove(item.turn);
    item.turn = this.#nextRound.insert(item.place, item);
  }

  /** Inserts an item that is not in the ring. */
  insert(item: Item): void {
    item.turn = this.#roundOf(item).insert(item.place, item);
  }

  /** Removes an item, if it is in the ring. */
  remove(item: Item): void {
    if (item.turn === undefined) return;
    this.#roundOf(item).remove(item.turn);
    item.turn = undefined;
  }

  #roundOf({ place }: Item): Heap<Item> {
    return place > this.#lastPlace ? this.#thisRound : this.#nextRound;
  }

  #swapRounds(): void {
    [this.#thisRound, this.#nextRound] = [this.#nextRound, this.#thisRound];
  }
}
