// The port to a store: what the broker asks of whatever keeps its messages. A store owns what it has committed; the core owns the
// live state. A store never calls back into the core and never reorders: batches are committed in the order in which they are
// given, one at a time. Every implementation must pass the suite in storage-contract.ts, and docs/guides/write-a-store.md tells
// how to write one. Implements the DURABLE area's port.

import type { RecoveredRecord, StoreRecord } from '../broker/interface/store-record.ts';

export type StorageProvider = {
  /**
   * Everything committed that has not ended since: first the queues in the order of their creation, then the messages of all
   * queues, dead letters included, by rising sequence. Contents are byte for byte those that were committed, each in a Uint8Array
   * that the caller copies before it asks for the next record. Records are made as they are asked for, so that they need not all be held twice. Numbers above
   * those that were given back may be used again, so nothing of an ended queue may turn up under them. Called once, before the
   * first commit but for a probe. A throw or rejection means that the store cannot be trusted; what was read by then must not be used.
   */
  recover(): Iterable<RecoveredRecord> | AsyncIterable<RecoveredRecord>;

  /**
   * Makes the records of one batch safe, all or none, in their order. Returns nothing when that is done, or a promise that
   * resolves when it is: from then on they survive a crash. The records are shared with the live state and must not be changed;
   * the bytes of a content are had from its `toBytes()`. The backend never calls it again before then. A batch without records
   * is a probe: it goes the same way to where the store keeps its bytes, so that its success means that the next batch may
   * succeed. A throw or rejection means that nothing of the batch may be taken as stored (though it may be found stored at the
   * next recovery), and that the store is of no use until it is closed and opened anew.
   */
  commit(records: readonly StoreRecord[]): void | Promise<void>;

  /** Ends the use of the store, also after a failure; everything committed stays. */
  close(): void | Promise<void>;
};

/** Opens the store, each time anew. Rejects with {@link StoreError} where it cannot be used; it is left as it was then. */
export type OpenStore = () => Promise<StorageProvider>;

/** What a storage module is given by the configuration. */
export type OpenModuleStoreOptions = {
  /** The text of storagePath, absent when none is configured. What it means is for the module to decide. */
  readonly storagePath?: string;
};

/**
 * What a module of `serve --storage-module` exports, as `openStore` or as default: opens the store, each time anew. Every
 * rejection is shown to the operator by its message, so it should say what to do.
 */
export type OpenModuleStore = (options: OpenModuleStoreOptions) => StorageProvider | Promise<StorageProvider>;

/** A store that cannot be opened, for a reason that its operator can understand and do something about. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
