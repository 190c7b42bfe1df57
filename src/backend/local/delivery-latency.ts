// How long messages take from their acceptance to their first Deliver. The core knows how long one waited in its queue; what
// a batch takes from its first arrival to its last write comes on top, and is all there is for a message that did not wait.
// Implements METRICS (the latency).

import type { LatencyHistogram } from '../backend.ts';

/** From half a millisecond to an hour: what is quick on one machine, and what has waited for its subscriber. */
const BOUNDS_MS = [
  0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 3_600_000,
] as const;

/** What the core tells of a batch. */
export type BatchDeliveries = {
  /** How many of the core's deliveries so far were the first of their message. */
  readonly firstDeliveryCount: number;
  /** How long those of this batch have waited that waited at all, in milliseconds. */
  readonly waits: readonly number[];
};

export class DeliveryLatency {
  readonly #counts: number[] = new Array(BOUNDS_MS.length + 1).fill(0);
  #sumMs = 0;
  #count = 0;

  /** A batch is written, `tookMs` after its first input was submitted. */
  written({ firstDeliveryCount, waits }: BatchDeliveries, tookMs: number): void {
    const count = firstDeliveryCount - this.#count;
    if (count === 0) return;
    this.#count = firstDeliveryCount;
    this.#sumMs += count * tookMs;
    this.#add(tookMs, count - waits.length);
    for (const waitMs of waits) {
      this.#sumMs += waitMs;
      this.#add(waitMs + tookMs, 1);
    }
  }

  /** The mean in milliseconds; 0 before the first delivery. */
  averageMs(): number {
    return this.#count === 0 ? 0 : this.#sumMs / this.#count;
  }

  histogram(): LatencyHistogram {
    return { boundsMs: BOUNDS_MS, counts: [...this.#counts], sumMs: this.#sumMs };
  }

  #add(durationMs: number, count: number): void {
    const bucket = BOUNDS_MS.findIndex((boundMs) => durationMs <= boundMs);
    const index = bucket === -1 ? BOUNDS_MS.length : bucket;
    this.#counts[index] = (this.#counts[index] ?? 0) + count;
  }
}
