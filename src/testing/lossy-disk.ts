// A disk whose commits end when a schedule says so. At a crash the pending commit is lost or kept, always as a whole. Stores that were open
// at a crash never answer again.

import type { StoreRecord } from '../broker/interface/store-record.ts';
import { KeptRecords } from '../storage/contract/kept-records.ts';
import type { StorageProvider } from '../storage/storage-provider.ts';

type UnderWay = {
  readonly records: readonly StoreRecord[];
  readonly done: () => void;
  readonly failed: (error: Error) => void;
};

export class LossyDisk {
  readonly #kept = new KeptRecords();
  #underWay: UnderWay | undefined;
  #life = 1;

  readonly openStore = async (): Promise<StorageProvider> => {
    const life = this.#life;
    return {
      recover: () => this.#kept.recovered(),
      commit: (records) => (life === this.#life ? this.#commit(records) : new Promise(() => undefined)),
      close: () => undefined,
    };
  };

  get isCommitting(): boolean {
    return this.#underWay !== undefined;
  }

  /** Completes the pending commit, if there is one. */
  release(): void {
    const underWay = this.#take();
    if (underWay === undefined) return;
    this.#kept.take(underWay.records);
    underWay.done();
  }

  /** Fails the pending commit, if there is one; its records may be kept nevertheless. */
  fail(isKept: boolean): void {
    const underWay = this.#take();
    if (underWay === undefined) return;
    if (isKept) this.#kept.take(underWay.records);
    underWay.failed(new Error('the disk failed'));
  }

  /** Crashes the process; the pending commit is lost or kept. */
  crash(isKept: boolean): void {
    const underWay = this.#take();
    if (underWay !== undefined && isKept) this.#kept.take(underWay.records);
    this.#life += 1;
  }

  #commit(records: readonly StoreRecord[]): Promise<void> {
    if (this.#underWay !== undefined)
      throw new Error('A commit was asked for while another one is under way.');
    return new Promise((resolve, reject) => {
      this.#underWay = { records, done: resolve, failed: reject };
    });
  }

  #take(): UnderWay | undefined {
    const underWay = this.#underWay;
    this.#underWay = undefined;
    return underWay;
  }
}
