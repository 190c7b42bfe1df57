// Timers in the order in which they are due. A timer is a callback; the queue does not know what it does.

import { Heap, type HeapNode } from './heap.ts';

/**
 * Called once, when the timer is due. Makes at most `limit` changes, sets a new timer where more are left, and returns how many it made.
 * The caller counts one for the timer itself, so a callback that never makes more than one change may return 0.
 */
export type TimerCallback = (limit: number) => number;

export type Timer = HeapNode<TimerCallback>;

export class TimerQueue {
  readonly #heap = new Heap<TimerCallback>();

  /** When the first timer is due, in milliseconds on the monotonic clock. */
  nextAt(): number | undefined {
    return this.#heap.first()?.key;
  }

  /** `at`: in milliseconds on the monotonic clock. `rank`: of timers for the same instant, those of a lower rank come first. */
  set(at: number, callback: TimerCallback, rank: number): Timer {
    return this.#heap.insert(at, callback, rank);
  }

  /** Removes the first timer that is due at `now` and returns its callback. */
  takeDue(now: number): TimerCallback | undefined {
    const first = this.#heap.first();
    if (first === undefined || first.key > now) return undefined;
    this.#heap.remove(first);
    return first.item;
  }

  /** Removes a timer; one that is no longer set stays so. */
  clear(timer: Timer): void {
    this.#heap.remove(timer);
  }
}
