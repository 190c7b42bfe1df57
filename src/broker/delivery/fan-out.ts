// How far a message has come that every member gets a copy of. The members are the subscriptions present when the first
// copy is sent; each copy is sent, retried and ended on its own. Implements DELIVERY (FanOutWithAck).

import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import type { QueuedMessage } from '../message.ts';
import type { CopyCursor } from '../owed-copies.ts';

export class FanOut {
  readonly message: QueuedMessage;
  /** Copies that were not sent yet. */
  unsentCount = 0;
  /** Copies that were sent and have not ended. */
  openCount = 0;
  /** The copies not sent were taken away. */
  unsentTaken = false;
  acknowledged = false;
  /** A copy ended with its connection. */
  cutShort = false;
  /** The first copy that failed for good, and why. */
  failure: { readonly reason: DeadLetterReason; readonly attempts: number } | undefined = undefined;

  /** Its place among the partly sent messages of its queue; see owed-copies.ts. */
  order = 0;
  previous: FanOut | undefined = undefined;
  next: FanOut | undefined = undefined;
  cursor: CopyCursor | undefined = undefined;

  constructor(message: QueuedMessage) {
    this.message = message;
  }

  get hasEnded(): boolean {
    return this.unsentCount === 0 && this.openCount === 0;
  }
}
