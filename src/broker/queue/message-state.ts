// The life of a message in a queue, as one table. Every change of a message's state goes through `transition`; what is not in the table
// throws and changes nothing. The table knows no queue, no subscriber and no clock.
//
// A message of a FanOutWithAck queue is one message with many copies. It is `partlySent` while some copies are sent and others are not,
// and `inFlight` from the last copy sent until the last copy ends. What happens to one copy (its retry delay, or waiting until its
// connection takes frames) is no state of the message; the copies' own table is delivery/delivery-state.ts. A queue that is deleted takes
// its messages along: nothing reads their states any more, so there is no transition for it.
//
// Implements DELIVERY-001, DELIVERY-006, DELIVERY-007, DELIVERY-038, RETRY-001 and the states of OVERFLOW and TTL.

export type MessageState =
  /** Not accepted yet: its publisher waits for room (OverflowStrategy BlockPublisher). */
  | 'blocked'
  /** Accepted, to be sent to a subscriber. */
  | 'waiting'
  /** Its deliveries were interrupted repeatedly: it is not sent before its backoff ends. Counts as waiting, and leaves its queue as such. */
  | 'backingOff'
  /** Some of its copies were sent, others not yet (FanOutWithAck). Counts as waiting. */
  | 'partlySent'
  /** Sent and not settled. */
  | 'inFlight'
  /** An attempt failed; the next one follows after the retry delay. Counts as in flight. */
  | 'delayed'
  | FinalState;

export type FinalState =
  /** Acknowledged by its subscriber, or by every member that is left. */
  | 'acknowledged'
  /** Sent in a mode that asks for no acknowledgment. */
  | 'sent'
  /** Older than the queue's message TTL, without a dead letter queue. */
  | 'expired'
  /** Moved to the dead letter queue, where it begins a new life. */
  | 'deadLettered'
  /** Evicted by a younger message, or out of attempts without a dead letter queue. */
  | 'dropped'
  /** Removed from its queue by an operator. */
  | 'purged'
  /** A dead letter that an operator has moved back to its source queue, where it begins a new life. */
  | 'requeued'
  /** Never accepted: its publisher disconnected, or its queue was deleted, before there was room. */
  | 'withdrawn';

export type MessageEvent =
  | 'admit'
  | 'withdraw'
  | 'deliver'
  | 'deliverPartly'
  | 'deliverRest'
  | 'cancelRest'
  | 'sendUnconfirmed'
  | 'acknowledge'
  | 'pause'
  | 'resend'
  | 'release'
  | 'backOff'
  | 'endBackoff'
  | 'expire'
  | 'deadLetter'
  | 'drop'
  | 'purge'
  | 'requeue';

type Row = Readonly<Partial<Record<MessageEvent, MessageState>>>;

const ends: Row = { expire: 'expired', deadLetter: 'deadLettered', drop: 'dropped' };
const final: Row = {};

export const transitions: Readonly<Record<MessageState, Row>> = {
  blocked: { admit: 'waiting', withdraw: 'withdrawn' },
  waiting: {
    ...ends,
    deliver: 'inFlight',
    deliverPartly: 'partlySent',
    sendUnconfirmed: 'sent',
    backOff: 'backingOff',
    purge: 'purged',
    requeue: 'requeued',
  },
  backingOff: { endBackoff: 'waiting' },
  partlySent: { deliverRest: 'inFlight', cancelRest: 'inFlight' },
  inFlight: { ...ends, acknowledge: 'acknowledged', pause: 'delayed', release: 'waiting' },
  delayed: { ...ends, acknowledge: 'acknowledged', resend: 'inFlight', release: 'waiting' },
  acknowledged: final,
  sent: final,
  expired: final,
  deadLettered: final,
  dropped: final,
  purged: final,
  requeued: final,
  withdrawn: final,
};

/** The state that `event` leads to. Throws, for our own fault, where the table has no such transition. */
export function transition(state: MessageState, event: MessageEvent): MessageState {
  const next = transitions[state][event];
  if (next === undefined) throw new Error(`A message that is ${state} cannot ${event}.`);
  return next;
}
