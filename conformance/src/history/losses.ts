// Finds lost messages: confirmed and never delivered. It looks only at queues that the check has drained, and only reports what no rule
// explains: a message may have expired, been dropped, deleted or dead-lettered, or been sent to a subscriber that ended before it read
// the message. Areas: PUBLISH, DELIVERY, DURABLE.
import type { Finding } from './account.ts';
import type { HistoryState } from './history-state.ts';
import { messageKey } from './history-state.ts';
import type { DeliveryRecord, MessageRecord } from './message-record.ts';

export type Losses = { readonly findings: readonly Finding[]; readonly outstandingCount: number };

export function losses(books: HistoryState): Losses {
  const confirmed = [...books.messages.values()].filter(({ isConfirmed }) => isConfirmed);
  const drained = new Set(books.rules.drained);
  const [inDrained, elsewhere] = [
    confirmed.filter(({ queue }) => drained.has(queue)),
    confirmed.filter(({ queue }) => !drained.has(queue)),
  ];
  const findings = inDrained.flatMap((message) => lossOf(message, books));
  const open = [...inDrained, ...elsewhere].filter((message) => isOutstanding(message, drained));
  return { findings, outstandingCount: open.length };
}

function lossOf(message: MessageRecord, books: HistoryState): readonly Finding[] {
  if (isExplained(message, books)) return [];
  const text = isFanOut(message, books) ? copyLoss(message, books) : singleLoss(message.deliveries);
  if (text === undefined) return [];
  const { queue, id } = message;
  return [{ kind: 'lost', queue, id, text, clause: lossClause(message, books) }];
}

/** The clause on crashes or on shutdowns if there was one. */
function lossClause({ deliveries, publishes, queue }: MessageRecord, books: HistoryState): string {
  const [first] = publishes;
  if (first !== undefined && books.crashes.some((crashAt) => crashAt > first.at)) return 'DURABLE-003';
  if (first !== undefined && books.restarts.some((startAt) => startAt > first.at)) return 'SHUTDOWN-003';
  // It may have been in flight, unseen, on a connection that ended.
  const mayHaveBeenInFlight = first !== undefined && books.connections.someoneLeftSince(queue, first.at);
  return deliveries.length === 0 && !mayHaveBeenInFlight ? 'PUBLISH-002' : 'DELIVERY-006';
}

function isExplained(message: MessageRecord, books: HistoryState): boolean {
  const { queue, id, publishes } = message;
  const rules = books.rules.queues[queue] ?? {};
  const [first] = publishes;
  if (first === undefined || rules.mayDrop === true) return true;
  const deadLetter = books.messages.get(messageKey(rules.deadLetterQueue ?? '', id));
  if (deadLetter !== undefined && deadLetter.deliveries.length > 0) return true;
  if (rules.messageTtlMs !== undefined && books.endMs - first.atMs >= rules.messageTtlMs) return true;
  if ((books.emptied.get(queue) ?? -1) > first.at) return true;
  const crashed = books.crashes.some((crashAt) => crashAt > first.at);
  return crashed && (!books.rules.durable || rules.mode === 'FanOutWithoutAck');
}

function singleLoss(deliveries: readonly DeliveryRecord[]): string | undefined {
  if (deliveries.length === 0) return 'it was confirmed and never delivered';
  const isOwed = deliveries.some(({ awaitsRedelivery }) => awaitsRedelivery);
  const isElsewhere = deliveries.some((delivery) => mayBeDone(delivery) || delivery.state === 'held');
  return isOwed && !isElsewhere ? 'it was released with its connection and never delivered again' : undefined;
}

/** Whether an ack for it was sent, read by the broker or not. */
function mayBeDone({ state, ackedAt, awaitsRedelivery }: DeliveryRecord): boolean {
  return isDone({ state }) || (state === 'free' && ackedAt !== undefined && !awaitsRedelivery);
}

function isDone({ state }: Pick<DeliveryRecord, 'state'>): boolean {
  return state === 'acked' || state === 'settled';
}

/** Every subscriber that subscribed before the Publish and stayed must have received its copy. */
function copyLoss(message: MessageRecord, books: HistoryState): string | undefined {
  const [first] = message.publishes;
  if (first === undefined) return undefined;
  const steady = books.connections.steadySubscribers(message.queue, first.at);
  const without = steady.find((connection) => message.copiesOf(connection).length === 0);
  if (without !== undefined) return `subscriber ${without} never got its copy`;
  const isDoneOnSending = books.rules.queues[message.queue]?.mode === 'FanOutWithoutAck';
  const mayBeUnread = isDoneOnSending && books.connections.someoneLeftSince(message.queue, first.at);
  return steady.length > 0 || mayBeUnread ? undefined : singleLoss(message.deliveries);
}

function isFanOut({ queue }: MessageRecord, books: HistoryState): boolean {
  const mode = books.rules.queues[queue]?.mode;
  return mode === 'FanOutWithAck' || mode === 'FanOutWithoutAck';
}

function isOutstanding(message: MessageRecord, drained: ReadonlySet<string>): boolean {
  const isHeld = message.deliveries.some(({ state }) => state === 'held');
  return isHeld || (!drained.has(message.queue) && !message.deliveries.some(isDone));
}
