// A store that keeps nothing and takes its time: each commit is done at once or later, as the seed has it. It checks the
// engine's side of the port: one commit at a time, none after the close. What a durable store may lose belongs here too.

import type { RecoveredRecord, StoreRecord } from '../../broker/store-record.ts';
import type { StorageProvider } from '../../storage/storage-provider.ts';
import type { Random } from './random.ts';
import type { SimulatedEnvironment } from './simulated-environment.ts';

export type StoreHabits = {
  /** How often a commit is not done at once, 0 to 1, and how long it then takes at most. */
  readonly lateChance: number;
  readonly mostDelayMs: number;
};

export class SimulatedStore implements StorageProvider {
  readonly #environment: SimulatedEnvironment;
  readonly #random: Random;
  readonly #habits: StoreHabits;
  #isCommitting = false;
  #isClosed = false;
  /** Commits that were not done at once. */
  lateCommitCount = 0;

  constructor(environment: SimulatedEnvironment, random: Random, habits: StoreHabits) {
    this.#environment = environment;
    this.#random = random;
    this.#habits = habits;
  }

  get isCommitting(): boolean {
    return this.#isCommitting;
  }

  recover(): readonly RecoveredRecord[] {
    return [];
  }

  commit(records: readonly StoreRecord[]): void | Promise<void> {
    if (this.#isCommitting) throw new Error('A commit was asked for while another one is under way.');
    if (this.#isClosed) throw new Error('A commit was asked for after the close.');
    if (records.length === 0) throw new Error('A commit was asked for without records.');
    if (!this.#random.chance(this.#habits.lateChance)) return;
    this.#isCommitting = true;
    this.lateCommitCount += 1;
    return new Promise((resolve) => {
      this.#environment.after(this.#random.whole(0, this.#habits.mostDelayMs), () => {
        this.#isCommitting = false;
        resolve();
      });
    });
  }

  close(): void {
    this.#isClosed = true;
  }
}
