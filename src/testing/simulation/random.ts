// The one source of chance of a simulation: every draw comes from the seed, so a run can be repeated. Not for secrets.

/** Draws that look random and are always the same for a seed (the generator sfc32). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  /** `seed`: a whole number from 0 to 2^53 - 1. */
  constructor(seed: number) {
    this.#a = seed >>> 0;
    this.#b = Math.floor(seed / 2 ** 32) >>> 0;
    this.#c = 0x9e3779b9;
    // Discards the first draws, which are similar for similar seeds.
    for (let round = 0; round < 12; round += 1) this.#draw();
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor((this.#draw() / 2 ** 32) * (most - least + 1));
  }

  /** True with this probability, 0 to 1. */
  chance(probability: number): boolean {
    return this.#draw() / 2 ** 32 < probability;
  }

  /** One of the items. Throws when there are none. */
  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new Error('There is nothing to pick from.');
    return items[this.whole(0, items.length - 1)] as Item;
  }

  /** One of the keys, each as often as its weight says; weights of 0 never. */
  weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
    const entries = Object.entries<number>(weights);
    let left = (this.#draw() / 2 ** 32) * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key as Key;
    }
    throw new Error('There is nothing to weigh.');
  }

  /** An independent generator: the draws of one part do not change those of another. */
  fork(): Random {
    return new Random(this.#draw() * 2 ** 20 + (this.#draw() >>> 12));
  }

  #draw(): number {
    const sum = (this.#a + this.#b + this.#count) >>> 0;
    this.#count = (this.#count + 1) >>> 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) >>> 0;
    return sum;
  }
}
