// Which instant of the wall clock an instant of the monotonic clock is. A later change of the wall clock does not change it, so a message has
// the same time of acceptance whenever it is shown, and the same in a store. Implements DASH-041.

import type { Time } from '../interface/time.ts';

/** Both clocks are read in whole milliseconds, so that their difference varies by one although neither was set. */
const JITTER_MS = 1;
/** Wall clocks are set rarely. When one is set more often, the earliest changes are forgotten. */
const MAX_CHANGES = 1000;

type Change = {
  /** On the monotonic clock. */
  readonly since: number;
  /** What the wall clock is ahead of the monotonic one. */
  readonly offset: number;
};

export class WallTimes {
  readonly #changes: Change[] = [];
  /** That of the last change: this is asked in every step. */
  #offset = Number.NaN;

  /** Notes what both clocks show now. Returns what `at` gives for this instant. */
  note({ now, wallNow }: Time): number {
    const offset = wallNow - now;
    if (!(Math.abs(offset - this.#offset) <= JITTER_MS)) this.#change({ since: now, offset });
    return now + this.#offset;
  }

  /** What the wall clock showed at this instant; for one before the first note, what it would have shown. */
  at(instant: number): number {
    const change = this.#changes.findLast(({ since }) => since <= instant) ?? this.#changes[0];
    return instant + (change?.offset ?? 0);
  }

  #change(change: Change): void {
    this.#offset = change.offset;
    this.#changes.push(change);
    if (this.#changes.length > MAX_CHANGES) this.#changes.shift();
  }
}
