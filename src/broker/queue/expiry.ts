// The end of waiting messages that are older than their queue's message TTL. A queue has one timer, for its oldest message; it may be due
// early, never late. Implements TTL-001, TTL-005 and TTL-012.

import type { TimerQueue } from '../collections/timer-queue.ts';
import type { QueuedMessage } from './message.ts';
import type { Queue } from './queue.ts';
import type { StepContext } from './step-context.ts';
import { TimerRank } from './timer-rank.ts';

export class Expiry {
  readonly #step: StepContext;
  readonly #timers: TimerQueue;
  readonly #expire: (queue: Queue, message: QueuedMessage) => void;

  /** `expire`: ends a waiting message that is too old. */
  constructor(step: StepContext, timers: TimerQueue, expire: (queue: Queue, message: QueuedMessage) => void) {
    this.#step = step;
    this.#timers = timers;
    this.#expire = expire;
  }

  /** Sees to it that the message expires in time; it waits in the queue. */
  watch(queue: Queue, message: QueuedMessage): void {
    const ttl = queue.options.messageTtlMs;
    if (ttl === undefined) return;
    const dueAt = message.acceptedAt + ttl;
    if (queue.expiryTimer !== undefined) {
      if (queue.expiryTimer.key <= dueAt) return;
      this.#timers.clear(queue.expiryTimer);
    }
    queue.expiryTimer = this.#timers.set(
      dueAt,
      (limit) => this.#expireOldest(queue, limit),
      TimerRank.Ending,
    );
  }

  /** The queue is deleted: no timer refers to it any more. */
  clearTimer(queue: Queue): void {
    if (queue.expiryTimer !== undefined) this.#timers.clear(queue.expiryTimer);
    queue.expiryTimer = undefined;
  }

  /** Ends waiting messages that are too old, at most `limit` of them; returns how many. */
  #expireOldest(queue: Queue, limit: number): number {
    queue.expiryTimer = undefined;
    let expired = 0;
    let oldest = queue.oldestWaiting();
    while (oldest !== undefined && expired < limit && queue.isExpired(oldest, this.#step.now)) {
      this.#expire(queue, oldest);
      expired += 1;
      oldest = queue.oldestWaiting();
    }
    if (oldest !== undefined) this.watch(queue, oldest);
    if (expired > 0) this.#step.touch(queue);
    return expired;
  }
}
