// A queue whose operations have a constant cost, whatever its length: it removes used entries in large blocks.

export class Fifo<T> {
  #entries: T[] = [];
  #head = 0;

  get size(): number {
    return this.#entries.length - this.#head;
  }

  push(entry: T): void {
    this.#entries.push(entry);
  }

  shift(): T | undefined {
    const entry = this.#entries[this.#head];
    if (entry === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#entries.length) this.#cut();
    else if (this.#head > 65_536 && this.#head * 2 > this.#entries.length) this.#cut();
    return entry;
  }

  #cut(): void {
    this.#entries = this.#entries.slice(this.#head);
    this.#head = 0;
  }
}
