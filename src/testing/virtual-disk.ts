// A disk for the broker's stores, one after the other: each store recovers what the previous one has committed. Tests make it fail and
// repair it, and inspect its use.

import type { StoreRecord } from '../broker/interface/store-record.ts';
import { KeptRecords } from '../storage/contract/kept-records.ts';
import type { StorageProvider } from '../storage/storage-provider.ts';

export class VirtualDisk {
  readonly kept = new KeptRecords();
  /** Every commit fails, and nothing of it is kept. */
  isFull = false;
  /** The next commit is kept, and fails nevertheless. */
  deceivesOnce = false;
  /** No store can be opened. */
  hasFailed = false;
  openCount = 0;
  closeCount = 0;
  probeCount = 0;

  readonly openStore = async (): Promise<StorageProvider> => {
    if (this.hasFailed) throw new Error('the disk has failed');
    this.openCount += 1;
    return {
      recover: () => this.kept.recovered(),
      commit: (records) => this.#commit(records),
      close: () => {
        this.closeCount += 1;
      },
    };
  };

  #commit(records: readonly StoreRecord[]): void {
    if (records.length === 0) this.probeCount += 1;
    if (this.isFull) throw new Error('the disk is full');
    this.kept.take(records);
    if (!this.deceivesOnce) return;
    this.deceivesOnce = false;
    throw new Error('the disk did not answer');
  }
}
