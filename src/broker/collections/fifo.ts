// Items in the order in which they were pushed, taken from the front at constant cost. Keeps no item that was taken.

/** Used places at the front are cut off in blocks of at least so many. */
const MIN_CUT = 1024;

export class Fifo<Item> {
  #items: (Item | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  /** The item that was pushed first. */
  first(): Item | undefined {
    return this.#items[this.#head];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Removes the first item and returns it. */
  shift(): Item | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.size === 0) this.#items.length = 0;
    else if (this.#head < MIN_CUT || this.#head * 2 < this.#items.length) return item;
    else this.#items = this.#items.slice(this.#head);
    this.#head = 0;
    return item;
  }
}
