// Whether one delivery is within the rules: the first of its message, or one that goes on after another was given back, refused or
// not acknowledged in time. Everything else is a finding. A fan-out message has a copy for each subscriber, judged by itself.
// Areas: PUBLISH, DELIVERY.
import type { Finding } from './account.ts';
import type { HistoryState } from './history-state.ts';
import type { DeliveryRecord, MessageRecord } from './message-record.ts';
import type { Operation } from './operation.ts';

type Delivered = Extract<Operation, { kind: 'delivered' }>;

export type JudgedDelivery = {
  readonly message: MessageRecord;
  /** The message that this may be the dead letter of. */
  readonly source: MessageRecord | undefined;
  readonly operation: Delivered;
  readonly books: HistoryState;
  /** All messages of this id, in whatever queue. */
  readonly attempted: readonly MessageRecord[];
};

export type DeliveryVerdict =
  | { readonly kind: 'begins' }
  /** A copy that may be the first of another round: the message may have waited again before it. */
  | { readonly kind: 'begins anew' }
  | { readonly kind: 'goes on'; readonly from: DeliveryRecord }
  /** A crash may have undone the ack. */
  | { readonly kind: 'undone' }
  /** It is wrong, and told by the message as a whole. */
  | { readonly kind: 'told later' }
  | { readonly kind: 'finding'; readonly finding: Finding };

/** Timers may fire so much earlier than they should. */
const earlyMs = 10;

export function judgeDelivery(judged: JudgedDelivery): DeliveryVerdict {
  const wrong = unexpected(judged);
  if (wrong !== undefined) return found(judged, 'unexpected', wrong.text, wrong.clause);
  if (judged.source === undefined && judged.message.possibleCount === 0) return { kind: 'told later' };
  return isFanOut(judged) ? judgeCopy(judged) : judgeSingle(judged);
}

function unexpected(judged: JudgedDelivery): { text: string; clause: string } | undefined {
  const { message, source, operation, books } = judged;
  const publishes = source === undefined ? message.publishes : source.publishes;
  if (publishes.length === 0) return unknownText(judged);
  if (!publishes.some(({ content }) => content === operation.content))
    return {
      text: `another payload than the one that was published: ${operation.content}`,
      clause: 'DELIVERY-053',
    };
  if (!books.connections.isSubscribed(operation.connection, operation.queue))
    return { text: 'it came on a connection without a subscription', clause: 'DELIVERY-061' };
  return undefined;
}

function unknownText({ attempted, operation }: JudgedDelivery): { text: string; clause: string } {
  const elsewhere = attempted.find(({ publishes }) => publishes.length > 0);
  if (elsewhere !== undefined)
    return {
      text: `it was published to ${elsewhere.queue}, and came from ${operation.queue}`,
      clause: 'DELIVERY-051',
    };
  return { text: 'nobody had published it', clause: 'DELIVERY-050' };
}

/** Of RoundRobin and PriorityBased, and of dead letters: one delivery at a time. */
function judgeSingle(judged: JudgedDelivery): DeliveryVerdict {
  const { message, source } = judged;
  const from = message.deliveries.find((delivery) => mayComeAgain(delivery, judged));
  if (from !== undefined) return { kind: 'goes on', from };
  if (message.begunCount < (source ?? message).possibleCount) return { kind: 'begins' };
  if (crashedSinceAck(judged, message.deliveries)) return { kind: 'undone' };
  return found(judged, 'duplicated', duplicateText(message.deliveries), 'DELIVERY-011');
}

function judgeCopy(judged: JudgedDelivery): DeliveryVerdict {
  const { message, operation } = judged;
  const own = message.copiesOf(operation.connection);
  const from = own.find((delivery) => mayComeAgain(delivery, judged));
  if (from !== undefined) return { kind: 'goes on', from };
  if (crashedSinceAck(judged, message.deliveries)) return { kind: 'undone' };
  if (own.length >= message.possibleCount)
    return found(judged, 'duplicated', duplicateText(own), copyClause(judged));
  if (mayHaveWaitedAgain(judged)) return { kind: 'begins anew' };
  if (isLate(judged))
    return found(judged, 'duplicated', 'a copy for a subscriber that came after the first', 'DELIVERY-015');
  return { kind: 'begins' };
}

/** The subscription is younger than the first copy of the round. */
function isLate(judged: JudgedDelivery): boolean {
  const [first] = judged.message.round;
  return judged.message.possibleCount === 1 && first !== undefined && isYounger(judged, first);
}

/**
 * A message waits again when the copies of all who were there are given back, and may when they have ended and one was, seen or not
 * (DELIVERY-021 is a recommendation).
 */
function mayHaveWaitedAgain(judged: JudgedDelivery): boolean {
  const { message, operation, books } = judged;
  const [first] = message.round;
  if (first === undefined) return false;
  const given = ({ state, connection }: DeliveryRecord): boolean =>
    state === 'free' || state === 'passed on' || books.connections.willBeEndedByBroker(connection);
  const early = message.round.filter((copy) => !isYounger({ ...judged, operation: copy }, first));
  // When the broker noticed that a subscriber was gone, nobody knows: one that left long before may have been a member.
  const isOneGone = early.some(given) || books.connections.someoneLeftSince(operation.queue, 0);
  return isOneGone && early.every((copy) => given(copy) || copy.state !== 'held');
}

/** Whether the connection subscribed after the first copy came: it was no member then. */
function isYounger(
  {
    message,
    operation,
    books,
  }: {
    readonly message: MessageRecord;
    readonly operation: { readonly connection: string };
    readonly books: HistoryState;
  },
  first: DeliveryRecord,
): boolean {
  return (books.connections.subscribedAt(operation.connection, message.queue) ?? 0) >= first.at;
}

function mayComeAgain(delivery: DeliveryRecord, { operation, books }: JudgedDelivery): boolean {
  if (delivery.state === 'free') return true;
  if (delivery.state !== 'held' && delivery.state !== 'acked') return false;
  const late = operation.atMs - delivery.atMs >= books.rules.ackTimeoutMs - earlyMs;
  return late || books.connections.willBeEndedByBroker(delivery.connection);
}

function crashedSinceAck({ books }: JudgedDelivery, deliveries: readonly DeliveryRecord[]): boolean {
  return deliveries.some(({ ackedAt, at }) => books.crashes.some((crashAt) => crashAt > (ackedAt ?? at)));
}

function isFanOut({ operation, books }: JudgedDelivery): boolean {
  const mode = books.rules.queues[operation.queue]?.mode;
  return mode === 'FanOutWithAck' || mode === 'FanOutWithoutAck';
}

function copyClause({ operation, books }: JudgedDelivery): string {
  return books.rules.queues[operation.queue]?.mode === 'FanOutWithAck' ? 'DELIVERY-014' : 'DELIVERY-025';
}

function duplicateText(deliveries: readonly DeliveryRecord[]): string {
  const last = deliveries.findLast(({ state }) => state !== 'passed on');
  if (last?.state === 'settled') return 'it came again after its ack had been read';
  if (last?.state === 'acked') return 'it came again after its ack, on a connection that stayed open';
  return 'it came again while another delivery of it was held, before the ack timeout';
}

function found(
  { operation }: JudgedDelivery,
  kind: Finding['kind'],
  text: string,
  clause: string,
): DeliveryVerdict {
  const { queue, id } = operation;
  return { kind: 'finding', finding: { kind, queue, id, text, clause } };
}
