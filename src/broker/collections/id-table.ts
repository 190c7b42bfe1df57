// A hash table of items by their id with open addressing: an item and its hash are all that it takes, and steady coming and going allocates
// nothing. With a Map the ids that wait took 17 percent of the cost of a message of 100 bytes (docs/internals/performance.md). Items whose ids
// collide too often are in a Map: a client may choose them so.

/** A power of two. Few, because most queues have few messages. A table that never had an item has none: each queue has a table. */
const FIRST_SLOTS = 4;
/** A power of two. A smaller table does not shrink, so that a queue that is often empty allocates nothing. */
const LEAST_AFTER_SHRINKING = 32;
/** An item stands at most so many slots after the first of its hash. */
const MAX_DISTANCE = 31;

type Identified = { readonly id: string };

const noHashes = new Int32Array(0);

/**
 * 32 bits of either sign, all of which look random. Ids of one length that differ in one character never have the same: each counts, because
 * the ids of a program may differ anywhere. Two characters at a time take half of the time.
 */
export function hashOf(id: string): number {
  let at = id.length % 2;
  let hash = at === 0 ? id.length : id.length ^ (id.charCodeAt(0) << 16);
  for (; at < id.length; at += 2) {
    hash = Math.imul(hash ^ id.charCodeAt(at) ^ (id.charCodeAt(at + 1) << 16), 0x9e_37_79_b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
  return hash ^ (hash >>> 13);
}

export class IdTable<Item extends Identified> {
  /** None, or a power of two slots, at most half of them taken. */
  #items: (Item | undefined)[] = [];
  #hashes = noHashes;
  #count = 0;
  /** Those for which there was no slot near that of their hash. */
  #crowded: Map<string, Item> | undefined;

  find(id: string, hash: number): Item | undefined {
    const slot = this.#slotOf(id, hash);
    return slot >= 0 ? this.#items[slot] : this.#crowded?.get(id);
  }

  /** Whether there was no slot for that id, because others were near its hash. */
  isCrowded(id: string): boolean {
    return this.#crowded?.has(id) === true;
  }

  /** Takes the place of an item with the same id. Returns whether there was none. */
  set(item: Item, hash: number): boolean {
    const slot = this.#slotOf(item.id, hash);
    if (slot >= 0) {
      this.#items[slot] = item;
      return false;
    }
    if (this.#crowded?.has(item.id)) {
      this.#crowded.set(item.id, item);
      return false;
    }
    if (this.#count * 2 >= this.#items.length) this.#resize(Math.max(this.#items.length * 2, FIRST_SLOTS));
    this.#add(item, hash);
    return true;
  }

  /** Whether there was an item with this id. */
  delete(id: string, hash: number): boolean {
    const slot = this.#slotOf(id, hash);
    if (slot < 0) return this.#deleteCrowded(id);
    this.#closeGap(slot);
    this.#count -= 1;
    const slotCount = this.#items.length;
    if (this.#count * 16 < slotCount && slotCount > LEAST_AFTER_SHRINKING)
      this.#resize(Math.max(slotCount / 4, LEAST_AFTER_SHRINKING));
    return true;
  }

  *items(): Generator<Item> {
    for (const item of this.#items) {
      if (item !== undefined) yield item;
    }
    if (this.#crowded !== undefined) yield* this.#crowded.values();
  }

  /** -1: in no slot. */
  #slotOf(id: string, hash: number): number {
    if (this.#count === 0) return -1;
    const mask = this.#items.length - 1;
    for (let distance = 0; distance <= MAX_DISTANCE; distance += 1) {
      const slot = (hash + distance) & mask;
      const item = this.#items[slot];
      if (item === undefined) return -1;
      if (this.#hashes[slot] === hash && item.id === id) return slot;
    }
    return -1;
  }

  /** An item whose id the table does not have. */
  #add(item: Item, hash: number): void {
    const mask = this.#items.length - 1;
    for (let distance = 0; distance <= MAX_DISTANCE; distance += 1) {
      const slot = (hash + distance) & mask;
      if (this.#items[slot] !== undefined) continue;
      this.#items[slot] = item;
      this.#hashes[slot] = hash;
      this.#count += 1;
      return;
    }
    this.#crowded ??= new Map();
    this.#crowded.set(item.id, item);
  }

  /** Empties a slot, and moves those behind it that an empty one would hide. */
  #closeGap(slot: number): void {
    const mask = this.#items.length - 1;
    let gap = slot;
    for (let next = (gap + 1) & mask; ; next = (next + 1) & mask) {
      const item = this.#items[next];
      if (item === undefined) break;
      const hash = this.#hashes[next] ?? 0;
      const isBeforeGap = ((next - hash) & mask) < ((next - gap) & mask);
      if (isBeforeGap) continue;
      this.#items[gap] = item;
      this.#hashes[gap] = hash;
      gap = next;
    }
    this.#items[gap] = undefined;
  }

  #deleteCrowded(id: string): boolean {
    const wasThere = this.#crowded?.delete(id) === true;
    if (this.#crowded?.size === 0) this.#crowded = undefined;
    return wasThere;
  }

  #resize(slotCount: number): void {
    const items = this.#items;
    const hashes = this.#hashes;
    this.#items = emptySlots(slotCount);
    this.#hashes = new Int32Array(slotCount);
    this.#count = 0;
    for (const [slot, item] of items.entries()) {
      if (item !== undefined) this.#add(item, hashes[slot] ?? 0);
    }
  }
}

function emptySlots<Item>(count: number): (Item | undefined)[] {
  return new Array<Item | undefined>(count).fill(undefined);
}
