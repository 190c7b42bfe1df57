// Numbers by id, where many ids have the same number and are forgotten together. It keeps hashes and numbers, and neither ids nor items, so a
// million of them cost the garbage collector nothing. Numbers whose hashes collide too often are in a Map: a client may choose ids so.
//
// Open addressing as in id-table.ts, with two differences, because whoever looks into a table of a million slots waits for memory each time.
// A byte for each slot mostly tells that an id is not there. And what is forgotten stays in its slot until the table is full, and is left out
// when the table is copied (docs/internals/performance.md).

/** Bits of a hash that choose the table, the highest ones; the table takes the lowest. A table that grows is copied, and each copy is short. */
const SHARD_BITS = 8;
/** A power of two. */
const FIRST_SLOTS = 32;
/** A number is added at most so many slots after the first of its hash. */
const MAX_DISTANCE = 31;
/** Numbers in the slots of one hash, each of which must be asked about an id. Those of further ids are in the Map. */
const MAX_OF_SAME_HASH = 2;

/** Whoever gives the numbers. */
export type Numbered = {
  /** Whether the number is that of the id, which its hash alone does not tell. False if the number is forgotten. */
  isOf(number: number, id: string, hash: number): boolean;
  /** Whether the number is not forgotten. */
  isKnown(number: number): boolean;
};

export class HashIndex {
  readonly #numbered: Numbered;
  readonly #shards = new Array<Shard | undefined>(2 ** SHARD_BITS).fill(undefined);
  readonly #spare = new SpareSlots();
  /** Numbers for which there was no slot near that of their hash. */
  readonly #crowded = new Map<string, number>();
  /** The ids of each of these numbers, and their hashes. */
  readonly #crowdedOf = new Map<number, [id: string, hash: number][]>();

  constructor(numbered: Numbered) {
    this.#numbered = numbered;
  }

  /** The number of that id. */
  find(id: string, hash: number): number | undefined {
    const shard = this.#shards[shardOf(hash)];
    if (shard === undefined) return undefined;
    const number = shard.find(id, hash, this.#numbered);
    return number !== undefined || shard.crowdedCount === 0 ? number : this.#crowded.get(id);
  }

  /** Adds the number of an id that has none. */
  add(id: string, hash: number, number: number): void {
    let shard = this.#shards[shardOf(hash)];
    if (shard === undefined) {
      shard = new Shard(this.#spare);
      this.#shards[shardOf(hash)] = shard;
    }
    if (shard.add(hash, number, this.#numbered)) return;
    shard.crowdedCount += 1;
    this.#crowded.set(id, number);
    const others = this.#crowdedOf.get(number);
    if (others === undefined) this.#crowdedOf.set(number, [[id, hash]]);
    else others.push([id, hash]);
  }

  /** A number is forgotten: that of all ids that have it. */
  forget(number: number): void {
    for (const [id, hash] of this.#crowdedOf.get(number) ?? []) {
      this.#crowded.delete(id);
      const shard = this.#shards[shardOf(hash)];
      if (shard !== undefined) shard.crowdedCount -= 1;
    }
    this.#crowdedOf.delete(number);
  }
}

function shardOf(hash: number): number {
  return hash >>> (32 - SHARD_BITS);
}

/** A byte that differs for most hashes of one slot and shard; 0 is a free slot. */
function tagOf(hash: number): number {
  return (hash >>> 15) & 0xff || 1;
}

type Slots = {
  readonly tags: Uint8Array;
  /** Hash and number of each slot. */
  readonly pairs: Int32Array;
};

/** The memory that a copy has left, for the next one: new memory hastens garbage collections. */
class SpareSlots {
  #left: Slots | undefined;

  /** So many slots, all free. */
  take(count: number): Slots {
    const left = this.#left;
    if (left?.tags.length !== count) return { tags: new Uint8Array(count), pairs: new Int32Array(2 * count) };
    this.#left = undefined;
    left.tags.fill(0);
    return left;
  }

  leave(slots: Slots): void {
    this.#left = slots;
  }
}

class Shard {
  /** How many ids have their number elsewhere, because there was no slot. */
  crowdedCount = 0;
  readonly #spare: SpareSlots;
  #tags: Uint8Array;
  /** Hash and number of each slot. */
  #pairs: Int32Array;
  /** Slots that are not free. */
  #taken = 0;

  constructor(spare: SpareSlots) {
    this.#spare = spare;
    const { tags, pairs } = spare.take(FIRST_SLOTS);
    this.#tags = tags;
    this.#pairs = pairs;
  }

  find(id: string, hash: number, numbered: Numbered): number | undefined {
    const tags = this.#tags;
    const mask = tags.length - 1;
    const tag = tagOf(hash);
    for (let slot = hash & mask; tags[slot] !== 0; slot = (slot + 1) & mask) {
      if (tags[slot] !== tag || this.#pairs[2 * slot] !== hash) continue;
      const number = this.#pairs[2 * slot + 1] ?? 0;
      if (numbered.isOf(number, id, hash)) return number;
    }
    return undefined;
  }

  /** Whether the number stands near the slot of that hash. */
  add(hash: number, number: number, numbered: Numbered): boolean {
    // At most five of eight slots are taken, so that the next free one is near.
    if (this.#taken * 8 >= this.#tags.length * 5) this.#copy(numbered);
    const mask = this.#tags.length - 1;
    const freeSlot = this.#freeSlot(hash);
    let ofSameHash = 0;
    for (let slot = hash & mask; slot !== freeSlot; slot = (slot + 1) & mask) {
      if (this.#pairs[2 * slot] !== hash) continue;
      if (this.#pairs[2 * slot + 1] === number) return true;
      ofSameHash += 1;
    }
    if (((freeSlot - hash) & mask) > MAX_DISTANCE || ofSameHash >= MAX_OF_SAME_HASH) return false;
    this.#take(freeSlot, hash, number);
    return true;
  }

  /** Leaves out what is forgotten. At most five of sixteen slots are taken afterwards, so that the next copy is far. */
  #copy(numbered: Numbered): void {
    const tags = this.#tags;
    const pairs = this.#pairs;
    const known: number[] = [];
    for (let slot = 0; slot < tags.length; slot += 1) {
      if (tags[slot] !== 0 && numbered.isKnown(pairs[2 * slot + 1] ?? 0)) known.push(slot);
    }
    let slots = FIRST_SLOTS;
    while (known.length * 16 > slots * 5) slots *= 2;
    const copy = this.#spare.take(slots);
    this.#tags = copy.tags;
    this.#pairs = copy.pairs;
    this.#taken = 0;
    for (const slot of known) {
      const hash = pairs[2 * slot] ?? 0;
      this.#take(this.#freeSlot(hash), hash, pairs[2 * slot + 1] ?? 0);
    }
    this.#spare.leave({ tags, pairs });
  }

  #freeSlot(hash: number): number {
    const tags = this.#tags;
    const mask = tags.length - 1;
    let slot = hash & mask;
    while (tags[slot] !== 0) slot = (slot + 1) & mask;
    return slot;
  }

  #take(slot: number, hash: number, number: number): void {
    this.#tags[slot] = tagOf(hash);
    this.#pairs[2 * slot] = hash;
    this.#pairs[2 * slot + 1] = number;
    this.#taken += 1;
  }
}
