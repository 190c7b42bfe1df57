// The backoff of messages whose deliveries ended with their connections repeatedly: such a message is not sent again before a delay,
// which doubles with each interruption. It counts as waiting meanwhile. Implements DELIVERY-041.

import type { HeapNode } from '../collections/heap.ts';
import type { TimerQueue } from '../collections/timer-queue.ts';
import type { BrokerSettings } from '../interface/settings.ts';
import type { QueuedMessage } from './message.ts';
import type { Queue } from './queue.ts';
import { retryDelayMs } from './retry-policy.ts';
import type { StepContext } from './step-context.ts';
import { TimerRank } from './timer-rank.ts';

export class Backoff {
  readonly #step: StepContext;
  readonly #timers: TimerQueue;
  readonly #settings: BrokerSettings;

  constructor(step: StepContext, timers: TimerQueue, settings: BrokerSettings) {
    this.#step = step;
    this.#timers = timers;
    this.#settings = settings;
  }

  begin(queue: Queue, message: QueuedMessage): void {
    message.move('backOff');
    const until = this.#step.now + retryDelayMs(message.interruptedCount, this.#settings);
    message.backoff = queue.backoffs.insert(until, message);
    queue.backingOff.insert(message);
    this.#watch(queue);
  }

  /** Ends the backoff of a message that leaves its queue. */
  endEarly(queue: Queue, message: QueuedMessage): void {
    if (message.backoff !== undefined) this.#endOne(queue, message.backoff);
    this.#watch(queue);
  }

  /** The queue is deleted: no timer refers to it any more. */
  clearTimer(queue: Queue): void {
    if (queue.backoffTimer !== undefined) this.#timers.clear(queue.backoffTimer);
    queue.backoffTimer = undefined;
  }

  /** Has messages wait again whose backoff has ended, at most `limit`; returns how many. */
  #end(queue: Queue, limit: number): number {
    queue.backoffTimer = undefined;
    let count = 0;
    for (; count < limit; count += 1) {
      const first = queue.backoffs.first();
      if (first === undefined || first.key > this.#step.now) break;
      this.#endOne(queue, first);
      queue.waiting.insert(first.item);
    }
    this.#watch(queue);
    if (count > 0) this.#step.touch(queue);
    return count;
  }

  #endOne(queue: Queue, backoff: HeapNode<QueuedMessage>): void {
    backoff.item.move('endBackoff');
    queue.backoffs.remove(backoff);
    backoff.item.backoff = undefined;
    queue.backingOff.remove(backoff.item);
  }

  /** Sets the queue's one timer to the end of the backoff that ends first. */
  #watch(queue: Queue): void {
    const first = queue.backoffs.first();
    if (queue.backoffTimer?.key === first?.key) return;
    this.clearTimer(queue);
    if (first === undefined) return;
    queue.backoffTimer = this.#timers.set(first.key, (limit) => this.#end(queue, limit), TimerRank.Attempt);
  }
}
