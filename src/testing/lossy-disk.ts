// A disk whose commits are done when a schedule says so, and which a crash robs of what was not: of a commit under way nothing is left,
// or all of it, never a part. Stores that were open at a crash are dead: what they try afterwards never ends.

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

  /** The commit under way, if there is one, is done. */
  release(): void {
    const underWay = this.#take();
    if (underWay === undefined) return;
    this.#kept.take(underWay.records);
    underWay.done();
  }

  /** The commit under way, if there is one, fails; what it was about is there nevertheless, or not. */
  fail(isKept: boolean): void {
    const underWay = this.#take();
    if (underWay === undefined) return;
    if (isKept) this.#kept.take(underWay.records);
    underWay.failed(new Error('the disk failed'));
  }

  /** The process is gone; so is the commit under way, or it had just been done. */
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
