// Items in the order in which they were appended. Any item can be removed at constant cost.

/** What an item keeps for the list that it is in. */
export type LinkedItem<Item> = {
  previous: Item | undefined;
  next: Item | undefined;
};

export class LinkedList<Item extends LinkedItem<Item>> {
  #head: Item | undefined;
  #tail: Item | undefined;

  first(): Item | undefined {
    return this.#head;
  }

  append(item: Item): void {
    item.previous = this.#tail;
    if (this.#tail === undefined) this.#head = item;
    else this.#tail.next = item;
    this.#tail = item;
  }

  /** Removes an item, if it is in the list. */
  remove(item: Item): void {
    if (item.previous === undefined && this.#head !== item) return;
    if (item.previous === undefined) this.#head = item.next;
    else item.previous.next = item.next;
    if (item.next === undefined) this.#tail = item.previous;
    else item.next.previous = item.previous;
    item.previous = undefined;
    item.next = undefined;
  }
}
