// A map of items by their id that never blocks the event loop for long: a table that grows is copied as a whole, so from some thousands of
// items on they are spread over many tables, and each such copy is small.

import { hashOf, IdTable } from './id-table.ts';

/** The number of items from which on they are spread. Copying so many takes about a millisecond. */
const SPREAD_AT = 8192;
/** Bits of a hash that choose the table, the highest ones; the table takes the lowest. */
const SHARD_BITS = 8;

export class IdMap<Item extends { readonly id: string }> {
  #tables: readonly IdTable<Item>[] = [new IdTable()];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** `hash`: that of the id, where it is known already. */
  get(id: string, hash = hashOf(id)): Item | undefined {
    return this.#tableOf(hash).find(id, hash);
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  /** See `IdTable.isCrowded`. */
  isCrowded(id: string): boolean {
    return this.#tableOf(hashOf(id)).isCrowded(id);
  }

  /** Takes the place of an item with this id. Returns whether there was none. `id` must be that of the item. */
  set(id: string, item: Item, hash = hashOf(id)): boolean {
    if (!this.#tableOf(hash).set(item, hash)) return false;
    this.#size += 1;
    if (this.#size >= SPREAD_AT && this.#tables.length === 1) this.#spread();
    return true;
  }

  delete(id: string, hash = hashOf(id)): void {
    if (!this.#tableOf(hash).delete(id, hash)) return;
    this.#size -= 1;
    if (this.#size === 0 && this.#tables.length > 1) this.#tables = [new IdTable()];
  }

  #spread(): void {
    const all = this.#tables;
    this.#tables = Array.from({ length: 2 ** SHARD_BITS }, () => new IdTable<Item>());
    for (const table of all) {
      for (const item of table.items()) {
        const hash = hashOf(item.id);
        this.#tableOf(hash).set(item, hash);
      }
    }
  }

  #tableOf(hash: number): IdTable<Item> {
    const table = this.#tables[this.#tables.length === 1 ? 0 : hash >>> (32 - SHARD_BITS)];
    if (table === undefined) throw new Error('Every value of the highest bits has a table.');
    return table;
  }
}
