// Everything that falls due at a time of its own, but for the ack timeouts (ack-deadlines.ts).

import type { Delivery } from './delivery.ts';
import { Heap, type HeapNode } from './heap.ts';
import type { Purge } from './purging.ts';
import type { Queue } from './queue.ts';
import type { Subscription } from './subscription.ts';

export type Timer =
  /** The pause of a delivery is over: its next attempt is due. */
  | { readonly kind: 'resume'; readonly delivery: Delivery }
  /** A message of the queue that was cut short repeatedly may be offered again. */
  | { readonly kind: 'offerAgain'; readonly queue: Queue }
  /** The oldest waiting message of the queue may have become too old. */
  | { readonly kind: 'expire'; readonly queue: Queue }
  /** Copies are still owed to a subscription that has ended: there were too many for one step. */
  | { readonly kind: 'leave'; readonly queue: Queue; readonly subscription: Subscription }
  /** The purge has more to take out than one step may. */
  | { readonly kind: 'purge'; readonly purge: Purge };

export class Timers {
  readonly #heap = new Heap<Timer>();

  /** When the first one falls due, in milliseconds on the monotonic clock. */
  nextAt(): number | undefined {
    return this.#heap.first()?.key;
  }

  /** Of timers for the same instant, attempts that are due come before what ends messages. */
  set(at: number, timer: Timer): HeapNode<Timer> {
    return this.#heap.insert(at, timer, timer.kind === 'resume' || timer.kind === 'offerAgain' ? 0 : 1);
  }

  /** Takes the first timer that is due at `now`. */
  takeDue(now: number): Timer | undefined {
    const first = this.#heap.first();
    if (first === undefined || first.key > now) return undefined;
    this.#heap.remove(first);
    return first.item;
  }

  clear(node: HeapNode<Timer>): void {
    this.#heap.remove(node);
  }
}
