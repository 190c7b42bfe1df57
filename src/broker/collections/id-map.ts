// A map by id that never blocks the event loop for long. A Map that grows or shrinks is copied as a whole, which takes a tenth of a
// second at a million entries. So from some thousands on the entries are spread over many maps, and each such copy is small.

/** The number of entries from which on they are spread. Copying so many takes about a millisecond. */
const SPREAD_AT = 8192;
/** A power of two. */
const SHARD_COUNT = 256;
/** The number of characters at the end of an id that are hashed. */
const HASHED_CHARACTERS = 16;

export class IdMap<Value> {
  #shards: readonly Map<string, Value>[] = [new Map()];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: string): Value | undefined {
    return this.#shardOf(id).get(id);
  }

  has(id: string): boolean {
    return this.#shardOf(id).has(id);
  }

  /** Whether the id is new. */
  set(id: string, value: Value): boolean {
    const shard = this.#shardOf(id);
    const before = shard.size;
    shard.set(id, value);
    const isNew = shard.size > before;
    if (isNew) this.#size += 1;
    if (this.#size >= SPREAD_AT && this.#shards.length === 1) this.#spread(shard);
    return isNew;
  }

  delete(id: string): void {
    if (!this.#shardOf(id).delete(id)) return;
    this.#size -= 1;
    if (this.#size === 0 && this.#shards.length > 1) this.#shards = [new Map()];
  }

  #spread(all: ReadonlyMap<string, Value>): void {
    this.#shards = Array.from({ length: SHARD_COUNT }, () => new Map<string, Value>());
    for (const [id, value] of all) this.#shardOf(id).set(id, value);
  }

  #shardOf(id: string): Map<string, Value> {
    const shards = this.#shards;
    const shard = shards[shards.length === 1 ? 0 : shardIndex(id)];
    if (shard === undefined) throw new Error('Every index below the number of shards has a shard.');
    return shard;
  }
}

/**
 * Ids mostly differ at their end; ids that do not share one map, as without spreading. The choice must look random: if counted ids went
 * to the maps in turn, all maps would grow and shrink at the same moment.
 */
function shardIndex(id: string): number {
  let hash = 0;
  for (let at = Math.max(0, id.length - HASHED_CHARACTERS); at < id.length; at += 1) {
    hash = Math.imul(hash ^ id.charCodeAt(at), 0x9e_37_79_b1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x85_eb_ca_77);
  return (hash >>> 16) & (SHARD_COUNT - 1);
}
