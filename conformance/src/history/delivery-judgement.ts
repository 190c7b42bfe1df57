// Judges one delivery. Allowed are the first delivery of a message and a redelivery after a release, a negative ack or an ack timeout.
// Everything else is a finding. A fan-out message has a copy for each subscriber, and each copy is judged separately.
// Areas: PUBLISH, DELIVERY.
import type { Finding } from './account.ts';
import type { HistoryState } from './history-state.ts';
import type { DeliveryRecord, MessageRecord } from './message-record.ts';
import type { Operation } from './operation.ts';

type Delivered = Extract<Operation, { kind: 'delivered' }>;

export type JudgedDelivery = {
  readonly message: MessageRecord;
  /** The message whose dead letter this may be. */
  readonly source: MessageRecord | undefined;
  readonly operation: Delivered;
  readonly books: HistoryState;
  /** All messages with this id, in any queue. */
  readonly attempted: readonly MessageRecord[];
};

export type DeliveryVerdict =
  | { readonly kind: 'begins' }
  /** A copy that may be the first of another round: the message may have waited again before it. */
  | { readonly kind: 'begins anew' }
  | { readonly kind: 'goes on'; readonly from: DeliveryRecord }
  /** A crash may have undone the ack of `from`, once; of a copy of another subscriber, if it is undefined. */
  | { readonly kind: 'undone'; readonly from: DeliveryRecord | undefined }
  /** It is wrong; the finding is reported once for the whole message. */
  | { readonly kind: 'told later' }
  | { readonly kind: 'finding'; readonly finding: Finding };

/** Timers may fire this much too early. */
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
      text: `it has another payload than the published one: ${operation.content}`,
      clause: 'DELIVERY-053',
    };
  if (!books.connections.isSubscribed(operation.connection, operation.queue))
    return { text: 'it was delivered on a connection without a subscription', clause: 'DELIVERY-061' };
  return undefined;
}

function unknownText({ attempted, operation }: JudgedDelivery): { text: string; clause: string } {
  const elsewhere = attempted.find(({ publishes }) => publishes.length > 0);
  if (elsewhere !== undefined)
    return {
      text: `it was published to ${elsewhere.queue} but delivered from ${operation.queue}`,
      clause: 'DELIVERY-051',
    };
  return { text: 'it was never published', clause: 'DELIVERY-050' };
}

/** RoundRobin, PriorityBased and dead letters: one delivery at a time. */
function judgeSingle(judged: JudgedDelivery): DeliveryVerdict {
  const { message, source } = judged;
  const from = message.deliveries.find((delivery) => mayComeAgain(delivery, judged));
  if (from !== undefined) return { kind: 'goes on', from };
  if (message.begunCount < (source ?? message).possibleCount) return { kind: 'begins' };
  const undone = message.deliveries.find((delivery) => mayBeUndone(delivery, judged));
  if (undone !== undefined) return { kind: 'undone', from: undone };
  return found(judged, 'duplicated', duplicateText(message.deliveries), singleClause(judged));
}

function judgeCopy(judged: JudgedDelivery): DeliveryVerdict {
  const { message, operation } = judged;
  const own = message.copiesOf(operation.connection);
  const from = own.find((delivery) => mayComeAgain(delivery, judged));
  if (from !== undefined) return { kind: 'goes on', from };
  const undone = own.find((delivery) => mayBeUndone(delivery, judged));
  const isNew = own.length === 0 && message.deliveries.some((delivery) => mayBeUndone(delivery, judged));
  if (undone !== undefined || isNew) return { kind: 'undone', from: undone };
  if (own.length >= message.possibleCount) {
    return found(judged, 'duplicated', duplicateText(own), copyClause(judged, own));
  }
  if (mayHaveWaitedAgain(judged)) return { kind: 'begins anew' };
  if (isLate(judged))
    return found(
      judged,
      'duplicated',
      'a copy for a subscriber that subscribed after the first copy',
      'DELIVERY-015',
    );
  return { kind: 'begins' };
}

/** Whether the subscription started after the first copy of the round. */
function isLate(judged: JudgedDelivery): boolean {
  const [first] = judged.message.round;
  return judged.message.possibleCount === 1 && first !== undefined && isYounger(judged, first);
}

/**
 * A message waits again when the copies of all members are released. It may wait again when all copies have ended and at least one was
 * released, seen by the runner or not (DELIVERY-021 is a recommendation).
 */
function mayHaveWaitedAgain(judged: JudgedDelivery): boolean {
  const { message, operation, books } = judged;
  const [first] = message.round;
  if (first === undefined) return false;
  const given = ({ state, connection }: DeliveryRecord): boolean =>
    state === 'free' || state === 'passed on' || books.connections.willBeEndedByBroker(connection);
  const early = message.round.filter((copy) => !isYounger({ ...judged, operation: copy }, first));
  // The runner does not know when the broker saw the end of a connection: a subscriber that left long before may have been a member.
  const isOneGone = early.some(given) || books.connections.someoneLeftSince(operation.queue, 0);
  return isOneGone && early.every((copy) => given(copy) || copy.state !== 'held');
}

/** Whether the connection subscribed after the first copy, so that it was not a member. */
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

/** The broker crashed after the ack, or had crashed before it and was not started again yet. */
function mayBeUndone(
  { at, ackedAt = at, state, wasUndone }: DeliveryRecord,
  { books }: JudgedDelivery,
): boolean {
  if (state === 'passed on' || wasUndone === true) return false;
  const { crashes, restarts } = books;
  const before = crashes.findLast((crashAt) => crashAt < ackedAt);
  const isUp = before === undefined || restarts.some((startAt) => startAt > before && startAt < ackedAt);
  return !isUp || crashes.some((crashAt) => crashAt > ackedAt);
}

function isFanOut({ operation, books }: JudgedDelivery): boolean {
  const mode = books.rules.queues[operation.queue]?.mode;
  return mode === 'FanOutWithAck' || mode === 'FanOutWithoutAck';
}

function copyClause({ operation, books }: JudgedDelivery, own: readonly DeliveryRecord[]): string {
  if (books.rules.queues[operation.queue]?.mode !== 'FanOutWithAck') return 'DELIVERY-025';
  return isAcknowledged(own) ? 'DELIVERY-001' : 'DELIVERY-014';
}

function singleClause({ operation, books, source, message }: JudgedDelivery): string {
  if (isAcknowledged(message.deliveries)) return source === undefined ? 'DELIVERY-001' : 'DLQ-017';
  return books.rules.queues[operation.queue]?.mode === 'PriorityBased' ? 'DELIVERY-030' : 'DELIVERY-011';
}

function isAcknowledged(deliveries: readonly DeliveryRecord[]): boolean {
  const last = deliveries.findLast(({ state }) => state !== 'passed on');
  return last?.state === 'settled' || last?.state === 'acked';
}

function duplicateText(deliveries: readonly DeliveryRecord[]): string {
  const last = deliveries.findLast(({ state }) => state !== 'passed on');
  if (last?.state === 'settled') return 'it was delivered again after the broker had read its ack';
  if (last?.state === 'acked')
    return 'it was delivered again after its ack, which was sent on a connection that stayed open';
  return 'it was delivered again before the ack timeout while another delivery of it was held';
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
