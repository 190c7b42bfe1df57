// Sees which contents a broker must have dropped and still keeps. It wraps the store: every message passes through its records, and the
// end of each does too. Keeps weak references only, to a part of the messages, so that it costs next to nothing itself.

import type { StoredMessage, StoreRecord } from '../../broker/interface/store-record.ts';
import type { OpenStore, StorageProvider } from '../../storage/storage-provider.ts';

type Watched = { readonly generation: number; readonly content: WeakRef<object> };

/** Every so many messages are watched. */
const WATCHED_EVERY = 37;

export class ContentWatch {
  readonly #held = new Map<number, Watched>();
  #ended: WeakRef<object>[] = [];
  /** Messages watched so far. */
  watchedCount = 0;

  /** Opens the same store, watched. A new store means a new broker: the contents of the one before have ended. */
  watching(openStore: OpenStore): OpenStore {
    return async () => {
      const store = await openStore();
      this.#endAll();
      return this.#watched(store);
    };
  }

  /** How many watched contents have ended and are in memory. Call it after a garbage collection. */
  leftoverCount(): number {
    this.#ended = this.#ended.filter((content) => content.deref() !== undefined);
    return this.#ended.length;
  }

  #watched(store: StorageProvider): StorageProvider {
    const note = (record: StoreRecord): void => this.#note(record);
    const add = (stored: StoredMessage): void => this.#add(stored);
    return {
      *recover() {
        // Both stores of the judge recover in one go.
        for (const record of store.recover() as Iterable<never>) {
          noteRecovered(record, add);
          yield record;
        }
      },
      commit: (records) => {
        for (const record of records) note(record);
        return store.commit(records);
      },
      close: () => store.close(),
    };
  }

  #note(record: StoreRecord): void {
    switch (record.kind) {
      case 'messageAdded':
        return this.#add(record);
      case 'messageRemoved':
        return this.#end(record.sequence);
      case 'deadLettered':
        // The dead letter has the same content.
        this.#held.delete(record.from.sequence);
        return this.#add(record.to);
      case 'queueDeleted':
        for (const [sequence, { generation }] of this.#held) {
          if (generation === record.generation) this.#end(sequence);
        }
    }
  }

  #add({ sequence, generation, content }: StoredMessage): void {
    if (sequence % WATCHED_EVERY !== 0) return;
    this.watchedCount += 1;
    this.#held.set(sequence, { generation, content: new WeakRef(content) });
  }

  #end(sequence: number): void {
    const watched = this.#held.get(sequence);
    if (watched === undefined) return;
    this.#held.delete(sequence);
    this.#ended.push(watched.content);
  }

  #endAll(): void {
    for (const sequence of this.#held.keys()) this.#end(sequence);
  }
}

function noteRecovered(record: { readonly kind: string }, add: (stored: StoredMessage) => void): void {
  if (record.kind === 'message') add(record as unknown as StoredMessage);
}
