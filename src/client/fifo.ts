// A queue whose operations take constant time on average, whatever its length.

/** Taken entries are kept until this many, so that the list is rarely copied. */
const MAX_TAKEN_COUNT = 1_024;

export class Fifo<Entry> {
  #entries: (Entry | undefined)[] = [];
  #takenCount = 0;

  get first(): Entry | undefined {
    return this.#entries[this.#takenCount];
  }

  get length(): number {
    return this.#entries.length - this.#takenCount;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
  }

  /** Takes the first entry; undefined when the queue is empty. */
  shift(): Entry | undefined {
    const entry = this.first;
    if (this.#takenCount < this.#entries.length) {
      // A taken entry must not keep alive what it holds.
      this.#entries[this.#takenCount] = undefined;
      this.#takenCount += 1;
    }
    const isMostlyTaken = this.#takenCount > MAX_TAKEN_COUNT && this.#takenCount * 2 > this.#entries.length;
    if (this.#takenCount === this.#entries.length || isMostlyTaken) this.#removeTaken();
    return entry;
  }

  /** Puts entries before all others, in their order. */
  prepend(entries: readonly Entry[]): void {
    this.#removeTaken();
    this.#entries = [...entries, ...this.#entries];
  }

  /** Removes all other entries. Takes time for each. */
  keep(isWanted: (entry: Entry) => boolean): void {
    this.#removeTaken();
    this.#entries = this.#entries.filter((entry) => entry !== undefined && isWanted(entry));
  }

  #removeTaken(): void {
    this.#entries = this.#entries.slice(this.#takenCount);
    this.#takenCount = 0;
  }
}
