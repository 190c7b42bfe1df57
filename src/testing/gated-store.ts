// A store that is safe when the test says so: it shows what is visible before a commit is done, and what happens when one fails.

import type { RecoveredRecord, StoreRecord } from '../broker/interface/store-record.ts';
import type { StorageProvider } from '../storage/storage-provider.ts';

type Open = { readonly resolve: () => void; readonly reject: (error: unknown) => void };

export class GatedStore implements StorageProvider {
  /** The kinds of the records of each commit that was asked for, in order. */
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

  /** The commit under way is done. Throws when there is none: the test is wrong about what was to be stored. */
  release(): void {
    this.#take().resolve();
  }

  /** The commit under way fails. */
  fail(error: unknown): void {
    this.#take().reject(error);
  }

  #take(): Open {
    const open = this.#open.shift();
    if (open === undefined) throw new Error('No commit is under way.');
    return open;
  }
}
