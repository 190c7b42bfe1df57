// One message on its way to one subscriber: from its first sending there until it is settled, the pauses between the attempts included.

import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import type { Timer } from '../collections/timer-queue.ts';
import type { QueuedMessage } from '../queue/message.ts';
import type { Queue } from '../queue/queue.ts';
import { type DeliveryEvent, type DeliveryState, deliveryTransition } from './delivery-state.ts';
import type { Member } from './members.ts';

/** How a delivery ended. */
export type Ending =
  | { readonly kind: 'acknowledged' }
  /** No attempt is left, or the subscriber refused the message for good. */
  | { readonly kind: 'failed'; readonly reason: DeadLetterReason }
  /** Neither: its connection ended (`interrupted`), or there is no subscription to try again with. */
  | { readonly kind: 'released'; readonly interrupted: boolean };

/** Decides what follows from what happens to a delivery; implemented by the delivery modes. */
export type DeliveryOwner = {
  readonly queue: Queue;
  /** How often the message was sent before, beyond what its deliveries count themselves. */
  readonly sentBefore: number;
  /** An attempt has failed; `delivery.failedAttempts` includes it. */
  attemptFailed(delivery: Delivery): void;
  /** The retry delay before the next attempt begins now. */
  paused(delivery: Delivery): void;
  /** The retry delay is over, and the message is young enough to be sent again. */
  resume(delivery: Delivery): void;
  /** The delivery has ended and occupies no place any more. */
  ended(delivery: Delivery, ending: Ending): void;
};

/** The deliveries in flight to one subscriber. */
export type DeliverySet = {
  /** Deliveries whose next attempt is due while the connection takes no frames. */
  readonly overdue: Set<Delivery>;
  delete(delivery: Delivery): void;
};

export class Delivery {
  readonly owner: DeliveryOwner;
  readonly message: QueuedMessage;
  readonly member: Member;
  /** Those to the same subscriber, this one included. */
  readonly siblings: DeliverySet;
  state: DeliveryState = 'sent';
  /** How often this copy was sent; of a message that is with one subscriber at a time, to all of them. */
  attempt: number;
  /** Attempts of this copy that failed. */
  failedAttempts: number;
  /** When the current attempt was sent, and when it will have failed without an ack. */
  sentAt = 0;
  ackDeadlineAt = 0;
  /** Set during the pause between two attempts. */
  retryTimer: Timer | undefined = undefined;

  /** Its position among the deliveries that wait for an ack; see collections/linked-list.ts. */
  previous: Delivery | undefined = undefined;
  next: Delivery | undefined = undefined;
  /** The next younger delivery of the same id on the same connection. */
  youngerOfSameId: Delivery | undefined = undefined;

  constructor(
    owner: DeliveryOwner,
    message: QueuedMessage,
    member: Member,
    siblings: DeliverySet,
    earlier: { readonly sentCount: number; readonly failedAttempts: number },
  ) {
    this.owner = owner;
    this.message = message;
    this.member = member;
    this.siblings = siblings;
    this.attempt = earlier.sentCount;
    this.failedAttempts = earlier.failedAttempts;
  }

  get queue(): Queue {
    return this.owner.queue;
  }

  /** Whether an attempt has failed and the next one has not been made. */
  get isPaused(): boolean {
    return this.state !== 'sent';
  }

  move(event: DeliveryEvent): void {
    this.state = deliveryTransition(this.state, event);
  }
}
