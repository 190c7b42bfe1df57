// One direction between two machines: carries what is sent later, one piece at a time and in order. Delays vary, so pieces gather and
// overtake what travels in the other direction; the same seed gives the same delays.

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
    // Each timer brings the first piece, whichever piece it was set for. So the order holds, and no piece is earlier than its delay allows:
    // the timers of those before it bring those.
    this.#environment.scheduler.after(this.#random.whole(minDelayMs, maxDelayMs), () =>
      this.#underWay.shift()?.(),
    );
  }
}
