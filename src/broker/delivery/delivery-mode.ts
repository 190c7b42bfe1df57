// What a delivery mode decides. There is one file per mode, all with this one shape, and nothing outside them asks which
// mode a queue has.

import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import type { Deliveries } from '../deliveries.ts';
import type { Delivery } from '../delivery.ts';
import type { QueuedMessage } from '../message.ts';
import type { Queue } from '../queue.ts';
import type { Settlement } from '../settlement.ts';
import type { Subscription } from '../subscription.ts';
import type { WaitingMessages } from '../waiting-messages.ts';

/** How a delivery ended. */
export type Ending =
  | { readonly kind: 'acknowledged' }
  /** No attempt is left, or the subscriber refused it for good. */
  | { readonly kind: 'failed'; readonly reason: DeadLetterReason }
  /** Nobody has judged it: the connection ended (`cutShort`), or there is no subscription to try again with. */
  | { readonly kind: 'gone'; readonly cutShort: boolean };

export type DeliveryTools = {
  readonly deliveries: Deliveries;
  readonly settlement: Settlement;
};

export type DeliveryModeRules = {
  /** The order in which waiting messages are offered. */
  newWaitingMessages(): WaitingMessages;

  /** Whether a message published now would go out at once and whole, so that it never has to wait. */
  takesAtOnce(queue: Queue): boolean;

  /** Sends everything that can be sent now. */
  dispatch(queue: Queue, tools: DeliveryTools): void;

  /** An attempt has failed; `delivery.failedAttempts` counts it already. */
  attemptFailed(delivery: Delivery, tools: DeliveryTools): void;

  /** The next attempt of a delivery comes after a pause that begins now. */
  paused(delivery: Delivery): void;

  /** A delivery has ended and is out of the books. */
  ended(delivery: Delivery, ending: Ending, tools: DeliveryTools): void;

  /** The pause after a failed attempt is over and the message is young enough to be sent again. */
  resume(delivery: Delivery, tools: DeliveryTools): void;

  /**
   * A subscription has ended; what it still has in flight ends by itself. Takes at most `most` of the copies that it is owed and tells
   * how many; called again for as long as some are left.
   */
  left(queue: Queue, subscription: Subscription, most: number, tools: DeliveryTools): number;

  /**
   * Takes the copies not yet sent from a message that was sent to some of its members only: as failed, or as if they had
   * never been owed. False when the message is not of that kind.
   */
  takePartlySent(
    queue: Queue,
    message: QueuedMessage,
    failure: DeadLetterReason | undefined,
    settlement: Settlement,
  ): boolean;
};
