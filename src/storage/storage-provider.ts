// The port to a store. A store owns what it has committed; the core owns the live state. A store never calls back into
// the core and never reorders: batches are committed in the order in which they are given, one at a time.
// Implements the DURABLE area's port.

import type { StoreRecord } from '../broker/store-record.ts';

export type StorageProvider = {
  /**
   * Makes the records of one batch safe, all or none, in their order. Returns nothing when that is done, or a promise
   * that resolves when it is. The engine never calls it again before then. A throw or rejection means that nothing of
   * the batch may be taken as stored, and that the store cannot be used until it is opened anew.
   */
  commit(records: readonly StoreRecord[]): void | Promise<void>;

  /** Ends the use of the store; everything committed stays. */
  close(): void | Promise<void>;
};
