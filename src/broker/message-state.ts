// The life of a message in a queue, as one table. Every change of a message's state goes through `transition`; what is
// not in the table throws and changes nothing. The table knows no queue, no subscriber and no clock.
//
// A copy-by-copy delivery (FanOutWithAck) moves the message to `inFlight` when its last copy has been sent, and out of
// it when its last copy has ended; the pauses of single copies are not states of the message. A queue that is deleted takes
// its messages along in one go: nothing looks at their states any more, so that is no transition of theirs.
//
// Implements DELIVERY (waiting, in flight), RETRY (delayed), OVERFLOW (blocked, dropped) and TTL (expired).

export type MessageState =
  /** Not accepted yet: its publisher waits for room (OverflowStrategy BlockPublisher). */
  | 'blocked'
  /** Accepted, to be sent to a subscriber. */
  | 'waiting'
  /** Sent and not settled. */
  | 'inFlight'
  /** An attempt failed; the next one is due after the retry delay. Still in flight to whoever counts. */
  | 'delayed'
  | FinalState;

export type FinalState =
  /** Taken by its subscriber, or by every member that is left. */
  | 'acknowledged'
  /** Sent in a mode that asks for no acknowledgment. */
  | 'sent'
  /** Older than the queue's message TTL, without a dead letter queue. */
  | 'expired'
  /** Moved to the dead letter queue, where it begins a new life. */
  | 'deadLettered'
  /** Pushed out by a younger message, or out of attempts without a dead letter queue. */
  | 'dropped'
  /** Taken out of its queue by an operator. */
  | 'purged'
  /** Never accepted: its publisher left, or its queue was deleted, before there was room. */
  | 'withdrawn';

export type MessageEvent =
  | 'admit'
  | 'withdraw'
  | 'deliver'
  | 'sendUnconfirmed'
  | 'acknowledge'
  | 'pause'
  | 'resend'
  | 'giveBack'
  | 'expire'
  | 'deadLetter'
  | 'drop'
  | 'purge';

type Row = Readonly<Partial<Record<MessageEvent, MessageState>>>;

const ends: Row = { expire: 'expired', deadLetter: 'deadLettered', drop: 'dropped' };
const final: Row = {};

export const transitions: Readonly<Record<MessageState, Row>> = {
  blocked: { admit: 'waiting', withdraw: 'withdrawn' },
  waiting: { ...ends, deliver: 'inFlight', sendUnconfirmed: 'sent', purge: 'purged' },
  inFlight: { ...ends, acknowledge: 'acknowledged', pause: 'delayed', giveBack: 'waiting' },
  delayed: { ...ends, acknowledge: 'acknowledged', resend: 'inFlight', giveBack: 'waiting' },
  acknowledged: final,
  sent: final,
  expired: final,
  deadLettered: final,
  dropped: final,
  purged: final,
  withdrawn: final,
};

/** The state that `event` leads to. Throws, for our own fault, where the table has no such way. */
export function transition(state: MessageState, event: MessageEvent): MessageState {
  const next = transitions[state][event];
  if (next === undefined) throw new Error(`A message that is ${state} cannot ${event}.`);
  return next;
}
