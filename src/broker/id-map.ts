// A map by id that never holds the event loop for long. A Map that grows or shrinks is copied in one go, which takes a tenth of a second
// at a million entries; so from some thousands on the entries are spread over many maps, and each such copy is a small one.

/** From so many entries on they are spread. Copying these takes about a millisecond. */
const SPREAD_AT = 8192;
/** A power of two. */
const SHARD_COUNT = 64;

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

  set(id: string, value: Value): void {
    const shard = this.#shardOf(id);
    const before = shard.size;
    shard.set(id, value);
    this.#size += shard.size - before;
    if (this.#size >= SPREAD_AT && this.#shards.length === 1) this.#spread(shard);
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

/** Ids mostly differ at their end. One whose ends are all alike is no worse off than with a single map. */
function shardIndex(id: string): number {
  const { length } = id;
  const last = id.charCodeAt(length - 1);
  const beforeLast = length > 1 ? id.charCodeAt(length - 2) : 0;
  const beforeThat = length > 2 ? id.charCodeAt(length - 3) : 0;
  return (last + 10 * beforeLast + 23 * beforeThat + length) & (SHARD_COUNT - 1);
}
