// The disk under a simulated broker. Later stores recover what was committed; at a crash, the pending commit was written completely, in
// part, or not at all. Commits take time; in runs with faults, every operation of a store may take time or fail. It checks the backend's
// side of the port: one commit at a time, none after the close.

import type { RecoveredRecord, StoreRecord } from '../../broker/interface/store-record.ts';
import { KeptRecords } from '../../storage/contract/kept-records.ts';
import type { StorageProvider } from '../../storage/storage-provider.ts';
import type { Faults } from './faults.ts';
import type { Random } from './random.ts';
import type { SimulatedEnvironment } from './simulated-environment.ts';
import type { Tally } from './tally.ts';

export type StoreHabits = {
  /** How often a commit is not done at once, 0 to 1, and how long it then takes at most. */
  readonly lateChance: number;
  readonly maxDelayMs: number;
};

export type DiskParts = {
  readonly environment: SimulatedEnvironment;
  /** For the ordinary course of commits, and for what goes wrong. */
  readonly random: Random;
  readonly chance: Random;
  readonly habits: StoreHabits;
  readonly faults: Faults;
  readonly tally: Tally;
  /** A commit is about to fail; the process is to die now. */
  readonly onFailure: () => void;
  readonly onCrash: () => void;
};

export class SimulatedDisk {
  readonly #parts: DiskParts;
  readonly #kept = new KeptRecords();
  /** Handed over to be committed, and not yet safe. */
  #underWay: readonly StoreRecord[] | undefined;
  #life = 1;
  #faultsLeft: number;
  /** A store that has failed goes on failing until then. */
  #brokenUntil = 0;
  /** A commit under way will fail, or be the last one of this process. */
  #isDoomed = false;
  /** Operations that are under way. */
  #busyCount = 0;

  constructor(parts: DiskParts) {
    this.#parts = parts;
    this.#faultsLeft = parts.faults.maxCount;
  }

  readonly openStore = async (): Promise<StorageProvider> => {
    const life = this.#life;
    await this.#takeTime('store opens slowly', life);
    if (this.#isBroken()) return this.#refuse('store does not open');
    return this.#newStore(life);
  };

  get isBusy(): boolean {
    return this.#busyCount > 0;
  }

  get isTroubled(): boolean {
    return this.#faultsLeft > 0 || this.#isDoomed;
  }

  /** Stops new faults. */
  calmDown(): void {
    this.#faultsLeft = 0;
    this.#brokenUntil = 0;
  }

  /** Uses up one of the planned faults; false when there are none left. */
  takeFault(): boolean {
    if (this.#faultsLeft <= 0) return false;
    this.#faultsLeft -= 1;
    return true;
  }

  /** Crashes the process; pending operations never end. */
  crash(): void {
    const batch = this.#underWay;
    this.#underWay = undefined;
    this.#life += 1;
    this.#busyCount = 0;
    this.#isDoomed = false;
    if (batch === undefined) return;
    const { chance, tally } = this.#parts;
    // One piece for each record and one for the mark that all are there: without it the batch does not count.
    const written = chance.whole(0, batch.length + 1);
    if (written > batch.length) this.#kept.take(batch);
    if (written === 0) tally.fault('crash before anything is written');
    else if (written <= batch.length) tally.fault('crash tears the last write');
    else tally.fault('crash after all is written');
  }

  #newStore(life: number): StorageProvider {
    let isClosed = false;
    return {
      recover: () => this.#recover(life),
      commit: (records) => {
        if (isClosed) throw new Error('A commit was asked for after the close.');
        if (this.#underWay !== undefined)
          throw new Error('A commit was asked for while another one is under way.');
        if (life !== this.#life) return never();
        return records.length === 0 ? this.#probe(life) : this.#commit(records, life);
      },
      close: () => {
        isClosed = true;
        if (this.#isBroken()) return this.#refuse('close fails');
        return undefined;
      },
    };
  }

  #commit(records: readonly StoreRecord[], life: number): void | Promise<void> {
    const { random, chance, habits, faults } = this.#parts;
    const isLate = random.chance(habits.lateChance);
    if (chance.chance(faults.failChance) && this.takeFault()) return this.#fail(records, isLate, life);
    if (chance.chance(faults.crashChance) && this.takeFault()) {
      this.#underWay = records;
      this.#isDoomed = true;
      this.#after(life, () => this.#parts.onCrash());
      return never();
    }
    if (!isLate) return this.#kept.take(records);
    this.#parts.tally.fault('commit comes late');
    return this.#later(records, life, () => this.#kept.take(records));
  }

  #later(records: readonly StoreRecord[], life: number, end: () => void): Promise<void> {
    this.#underWay = records;
    return new Promise((resolve, reject) => {
      this.#after(life, () => {
        this.#underWay = undefined;
        try {
          end();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #fail(records: readonly StoreRecord[], isLate: boolean, life: number): Promise<void> {
    const { chance, tally, faults, environment } = this.#parts;
    const end = (): void => {
      if (chance.chance(0.5)) {
        tally.fault('failed commit is kept');
        this.#kept.take(records);
      }
      this.#brokenUntil = environment.clock.now() + chance.whole(0, faults.maxDownMs);
      this.#isDoomed = false;
      this.#parts.onFailure();
      throw new Error('the disk failed');
    };
    tally.fault(isLate ? 'commit fails late' : 'commit fails at once');
    this.#isDoomed = true;
    if (isLate) return this.#later(records, life, end);
    end();
    return never();
  }

  async #probe(life: number): Promise<void> {
    await this.#takeTime('probe comes late', life);
    if (this.#isBroken()) await this.#refuse('probe fails');
  }

  async *#recover(life: number): AsyncGenerator<RecoveredRecord> {
    const { chance, faults } = this.#parts;
    const records = this.#kept.recovered();
    const isSlow = this.#faultsLeft > 0 && chance.chance(faults.slowChance);
    const breaksAt = this.#isBroken() ? chance.whole(0, records.length) : undefined;
    if (isSlow && records.length > 0) this.#parts.tally.fault('recovery comes slowly');
    for (const [index, record] of records.entries()) {
      if (index === breaksAt) return this.#refuse('recovery fails');
      if (isSlow && chance.chance(0.3)) await this.#pauseOrDie(life);
      yield record;
    }
  }

  #isBroken(): boolean {
    const { environment, chance, faults } = this.#parts;
    if (environment.clock.now() < this.#brokenUntil) return chance.chance(0.7);
    return this.#faultsLeft > 0 && chance.chance(faults.brokenChance / 3);
  }

  #refuse(what: 'store does not open' | 'probe fails' | 'recovery fails' | 'close fails'): Promise<never> {
    this.#parts.tally.fault(what);
    return Promise.reject(new Error(`the disk is broken: ${what}`));
  }

  async #takeTime(what: 'store opens slowly' | 'probe comes late', life: number): Promise<void> {
    const { chance, faults, tally } = this.#parts;
    if (this.#faultsLeft <= 0 || !chance.chance(faults.slowChance)) return;
    tally.fault(what);
    await this.#pause(life);
  }

  async #pauseOrDie(life: number): Promise<void> {
    await this.#pause(life);
    if (!this.#parts.chance.chance(0.1) || !this.takeFault()) return;
    this.#parts.tally.fault('crash amid recovery');
    this.#parts.onCrash();
    await never();
  }

  #pause(life: number): Promise<void> {
    return new Promise((resolve) => this.#after(life, resolve));
  }

  /** After a while, if the process lives then. */
  #after(life: number, task: () => void): void {
    const { environment, random, habits } = this.#parts;
    this.#busyCount += 1;
    environment.after(random.whole(0, habits.maxDelayMs), () => {
      if (life !== this.#life) return;
      this.#busyCount -= 1;
      task();
    });
  }
}

/** The result of an operation of a crashed process. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
