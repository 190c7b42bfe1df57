// What a queue asks of its delivery. Each delivery mode implements this on the floor above, with one instance for each queue and state of
// its own, so a queue knows no subscription, no delivery and no mode.

import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import type { SubscriberFigures } from '../../model/queue-info.ts';
import type { QueuedMessage } from './message.ts';
import type { WaitingMessages } from './waiting-order.ts';

export type QueueDelivery = {
  readonly subscriberCount: number;
  /** Deliveries that are not settled. */
  readonly inFlightCount: number;
  /** At most `limit` of its subscriptions, in the order in which they were made. */
  subscribers(limit: number): readonly SubscriberFigures[];

  /** Messages some of whose copies are not sent yet. They count as waiting (DELIVERY-018). */
  readonly partlySentCount: number;

  /** An empty list in the order in which this mode sends waiting messages. */
  newWaitingMessages(): WaitingMessages;

  /** Whether a message published now would be sent as a whole, in this step, so that it never has to wait (OVERFLOW-001). */
  canDeliverNow(): boolean;

  /** Sends everything that can be sent now. */
  dispatch(): void;

  /** The partly sent message that was accepted first. */
  oldestPartlySent(): QueuedMessage | undefined;

  /** The partly sent messages by the time of their acceptance, but for the first `offset`. */
  partlySent(offset: number): Iterable<QueuedMessage>;

  /** The messages of the deliveries that are not settled; one with several copies comes several times. */
  inFlight(): Iterable<QueuedMessage>;

  /**
   * Cancels the unsent copies of a partly sent message: as failed for the reason `failure`, or, without one, as if they had never
   * been due. The message stays until its sent copies have ended.
   */
  cancelUnsentCopies(message: QueuedMessage, failure: DeadLetterReason | undefined): void;
};
