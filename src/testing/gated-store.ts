// A store whose commits end when the test says so: shows what is visible before a commit is done, and what happens when one fails.

import type { RecoveredRecord, StoreRecord } from '../broker/interface/store-record.ts';
import type { StorageProvider } from '../storage/storage-provider.ts';

type Open = { readonly resolve: () => void; readonly reject: (error: unknown) => void };

export class GatedStore implements StorageProvider {
  /** The kinds of the records of each requested commit, in order. */
  readonly commits: (readonly StoreRecord['kind'][])[] = [];
  maxCommitsAtOnce = 0;
  isClosed = false;
  #open: Open[] = [];

  recover(): readonly RecoveredRecord[] {
    return [];
  }

  commit(records: readonly StoreRecord[]): Promise<void> {
    this.commits.push(records.map(({ kind }) => kind));
    return new Promise((resolve, reject) => {
      this.#open.push({ resolve, reject });
      this.maxCommitsAtOnce = Math.max(this.maxCommitsAtOnce, this.#open.length);
    });
  }

  close(): void {
    this.isClosed = true;
  }

  /** Completes the pending commit. Throws if there is none, because the test is wrong then. */
  release(): void {
    this.#take().resolve();
  }

  /** Fails the pending commit. */
  fail(error: unknown): void {
    this.#take().reject(error);
  }

  #take(): Open {
    const open = this.#open.shift();
    if (open === undefined) throw new Error('No commit is under way.');
    return open;
  }
}
