// Items in the order of their sequence numbers. New items are appended at constant cost. An item that returns to an earlier place is
// put at the front where it belongs there, and otherwise into a heap beside the list, which few lists ever have. Only `from` scans the list.

import { Heap, type HeapNode } from './heap.ts';

/** What an item keeps for the list that it is in. The sequence must not change while it is in a list. */
export type SequenceItem<Item> = {
  readonly sequence: number;
  previous: Item | undefined;
  next: Item | undefined;
  returned: HeapNode<Item> | undefined;
};

export class SequenceList<Item extends SequenceItem<Item>> {
  #returned: Heap<Item> | undefined;
  #head: Item | undefined;
  #tail: Item | undefined;
  #listed = 0;

  get size(): number {
    return this.#listed + (this.#returned?.size ?? 0);
  }

  /** The item with the smallest sequence. */
  first(): Item | undefined {
    const returned = this.#returned?.first()?.item;
    if (returned === undefined) return this.#head;
    if (this.#head === undefined || returned.sequence < this.#head.sequence) return returned;
    return this.#head;
  }

  /** All items by sequence, but for the first `offset`. The list must not change meanwhile. */
  *from(offset: number): Iterable<Item> {
    if (offset >= this.size) return;
    const returned = (this.#returned?.items() ?? []).sort((a, b) => b.sequence - a.sequence);
    let listed = this.#head;
    for (let position = 0; position < this.size; position += 1) {
      const back = returned.at(-1);
      const isBack = listed === undefined || (back !== undefined && back.sequence < listed.sequence);
      const item = isBack ? returned.pop() : listed;
      if (!isBack) listed = listed?.next;
      if (item !== undefined && position >= offset) yield item;
    }
  }

  insert(item: Item): void {
    if (this.#tail === undefined || item.sequence > this.#tail.sequence) this.#append(item);
    else if (this.#head !== undefined && item.sequence < this.#head.sequence) this.#prepend(item);
    else {
      this.#returned ??= new Heap();
      item.returned = this.#returned.insert(item.sequence, item);
    }
  }

  /** Removes an item that is in this list. */
  remove(item: Item): void {
    if (item.returned !== undefined) {
      this.#returned?.remove(item.returned);
      item.returned = undefined;
      return;
    }
    if (item.previous === undefined) this.#head = item.next;
    else item.previous.next = item.next;
    if (item.next === undefined) this.#tail = item.previous;
    else item.next.previous = item.previous;
    item.previous = undefined;
    item.next = undefined;
    this.#listed -= 1;
  }

  #append(item: Item): void {
    item.previous = this.#tail;
    if (this.#tail === undefined) this.#head = item;
    else this.#tail.next = item;
    this.#tail = item;
    this.#listed += 1;
  }

  #prepend(item: Item): void {
    item.next = this.#head;
    if (this.#head === undefined) this.#tail = item;
    else this.#head.previous = item;
    this.#head = item;
    this.#listed += 1;
  }
}
