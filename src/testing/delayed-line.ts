// One direction between two machines: delivers pieces later, one at a time and in order. Delays vary, so pieces accumulate and overtake
// pieces of the other direction; the same seed gives the same delays.

import type { Environment } from '../model/environment.ts';
import { Random } from './simulation/random.ts';

export type LineDelays = {
  readonly seed: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
};

export class DelayedLine {
  readonly #environment: Environment;
  readonly #delays: LineDelays;
  readonly #random: Random;
  #underWay: (() => void)[] = [];

  constructor(environment: Environment, delays: LineDelays) {
    this.#environment = environment;
    this.#delays = delays;
    this.#random = new Random(delays.seed);
  }

  /** Pieces that have not arrived. */
  get length(): number {
    return this.#underWay.length;
  }

  /** `arrive` is called after at least the shortest delay and at most the longest, and never within this call. */
  send(arrive: () => void): void {
    const { minDelayMs, maxDelayMs } = this.#delays;
    this.#underWay.push(arrive);
    // Each timer delivers the first waiting piece, whichever piece it was set for. So the order is kept, and no piece is earlier than its
    // delay.
    this.#environment.scheduler.after(this.#random.whole(minDelayMs, maxDelayMs), () =>
      this.#underWay.shift()?.(),
    );
  }
}
