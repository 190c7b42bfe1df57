// Which of the numbers 0, 1, 2, .. have been seen, one bit each: tells a lost message from a late one, and a repeated one from a new
// one, at millions of messages.

export class SequenceSet {
  #words = new Uint32Array(1024);
  #size = 0;

  /** How many different numbers were added. */
  get size(): number {
    return this.#size;
  }

  /** False when the number was there already. `sequence` is a whole number from 0. */
  add(sequence: number): boolean {
    const index = sequence >>> 5;
    if (index >= this.#words.length) this.#grow(index);
    const bit = 1 << (sequence & 31);
    const word = this.#words[index] ?? 0;
    if ((word & bit) !== 0) return false;
    this.#words[index] = word | bit;
    this.#size += 1;
    return true;
  }

  #grow(index: number): void {
    const larger = new Uint32Array(Math.max(index + 1, this.#words.length * 2));
    larger.set(this.#words);
    this.#words = larger;
  }
}
