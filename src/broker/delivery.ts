// One message on its way to one subscriber: from its first sending there until it is settled, the pauses between the
// attempts included.

import type { HeapNode } from './heap.ts';
import type { QueuedMessage } from './message.ts';
import type { Queue } from './queue.ts';
import type { Subscription } from './subscription.ts';
import type { Timer } from './timers.ts';

export class Delivery {
  readonly queue: Queue;
  readonly message: QueuedMessage;
  readonly subscription: Subscription;
  /** How often this copy was sent; for a message that is with one subscriber at a time, to all of them. */
  attempt: number;
  /** Attempts of this copy that failed. */
  failedAttempts: number;
  /** When the current attempt was sent, and when it will have failed without an ack. */
  sentAt = 0;
  ackDeadlineAt = 0;
  /** Set during the pause between two attempts. */
  resume: HeapNode<Timer> | undefined = undefined;

  /** Its place among those that wait for an ack; see ack-deadlines.ts. */
  previous: Delivery | undefined = undefined;
  next: Delivery | undefined = undefined;
  /** The next younger delivery of the same id on the same connection. */
  youngerOfSameId: Delivery | undefined = undefined;

  constructor(
    queue: Queue,
    message: QueuedMessage,
    subscription: Subscription,
    earlier: { readonly attempts: number; readonly failedAttempts: number },
  ) {
    this.queue = queue;
    this.message = message;
    this.subscription = subscription;
    this.attempt = earlier.attempts;
    this.failedAttempts = earlier.failedAttempts;
  }

  /** Whether an attempt has failed and the next one has not been made. */
  get isPaused(): boolean {
    return this.resume !== undefined || this.subscription.connection.overdue.has(this);
  }
}
