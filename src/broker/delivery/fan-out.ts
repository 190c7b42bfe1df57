// How far a message has come that every member gets a copy of. The members are the subscriptions present when the first
// copy is sent; each copy is sent, retried and ended on its own. Implements DELIVERY (FanOutWithAck).

import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';

export class FanOut {
  /** Copies that were not sent yet. */
  unsentCount = 0;
  /** Copies that were sent and have not ended. */
  openCount = 0;
  /** The copies not sent were taken away; a member's turn for one passes over it. */
  unsentTaken = false;
  acknowledged = false;
  /** A copy ended with its connection. */
  cutShort = false;
  /** The first copy that failed for good, and why. */
  failure: { readonly reason: DeadLetterReason; readonly attempts: number } | undefined = undefined;

  get hasEnded(): boolean {
    return this.unsentCount === 0 && this.openCount === 0;
  }
}
