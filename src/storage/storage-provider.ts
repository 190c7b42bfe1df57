// The port to a store, which keeps the broker's messages. A store owns what it has committed; the core owns the live state. A store never
// calls back into the core and never reorders: batches are committed in the order in which they are given, one at a time. Every
// implementation must pass the suite in storage-contract.ts, and docs/guides/write-a-store.md explains how to write one. Implements
// DURABLE-001 to DURABLE-012 together with the backend.

import type { RecoveredRecord, StoreRecord } from '../broker/interface/store-record.ts';

export type StorageProvider = {
  /**
   * Everything that was committed and not removed since: first the queues in the order of their creation, then the messages of all queues,
   * dead letters included, by rising sequence. Contents are byte for byte those that were committed, each in a Uint8Array that the caller
   * copies before it asks for the next record. Records are created on demand, so that they are not all in memory twice. The broker may
   * reuse numbers above the returned ones, so nothing of an ended queue may be returned under them. Called once, before the first commit
   * but for a probe. A throw or rejection means that the store is not usable; records read before must not be used.
   */
  recover(): Iterable<RecoveredRecord> | AsyncIterable<RecoveredRecord>;

  /**
   * Stores the records of one batch durably, all or none, in their order. Returns nothing when that is done, or a promise that resolves
   * when it is: from then on they survive a crash. The records are shared with the live state and must not be changed; `toBytes()` of a
   * content returns its bytes. The backend never calls it again before then. A batch without records is a probe: it is written like any
   * other batch, so its success means that the next batch may succeed. A throw or rejection means that the batch must be treated as not
   * stored (though the next recovery may return it), and that the store must be closed and opened again.
   */
  commit(records: readonly StoreRecord[]): void | Promise<void>;

  /** Closes the store, also after a failure. Committed records are kept. */
  close(): void | Promise<void>;
};

/**
 * Opens the store. May be called again after `close`. Rejects with {@link StoreError} when the store cannot be used, and leaves it
 * unchanged.
 */
export type OpenStore = () => Promise<StorageProvider>;

/** The part of the configuration that a storage module receives. */
export type OpenModuleStoreOptions = {
  /** The text of storagePath; undefined when none is configured. The module decides what it means. */
  readonly storagePath?: string;
};

/**
 * What a module of `serve --storage-module` exports, as `openStore` or as default: opens the store, and may be called again after `close`.
 * The operator sees the message of a rejection, so it should say what to do.
 */
export type OpenModuleStore = (options: OpenModuleStoreOptions) => StorageProvider | Promise<StorageProvider>;

/** A store that cannot be used; the message tells the operator why and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
