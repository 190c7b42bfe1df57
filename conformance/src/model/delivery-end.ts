// How a delivery ends: by an ack, by a negative ack, or with its connection or subscription. Each function returns every state that may
// follow. Areas: DELIVERY, NACK, DLQ.
import type { FailureReason } from './command.ts';
import { afterDeadLettering, queueOf } from './queue-entry.ts';
import type { Copy, DeletedInFlightMessage, Difference, ModelMessage, Queue, State } from './state.ts';
import { copyOf, isFanOut, withDifference } from './state.ts';
import { heldBy } from './waiting-range.ts';

export type NamedDelivery = {
  readonly connection: number;
  readonly id: string;
  /** The queue that the Ack names; undefined: any queue. */
  readonly queue: string | undefined;
  readonly at: number;
};

type MessagePlace = { readonly queue: string; readonly serial: number };

/** The states after an Ack. If it names a queue, it should settle only a delivery from that queue. */
export function afterAck(state: State, named: NamedDelivery): readonly State[] {
  const meant = acknowledgeOne(state, named);
  if (named.queue === undefined) return meant;
  const elsewhere = [...state.queues.keys()].some(
    (name) => name !== named.queue && acknowledgeable(state, { ...named, queue: name }),
  );
  if (!elsewhere) return meant;
  return [
    ...meant,
    ...acknowledgeOne(state, { ...named, queue: undefined }).map((next) =>
      withDifference(next, ackQueueIgnored),
    ),
  ];
}

function acknowledgeable(state: State, named: NamedDelivery): boolean {
  return heldOf(state, named).length + foreignOf(state, named).length > 0;
}

/**
 * An Ack may mean a delivery that the connection holds, one that it held, one that another connection holds, one of a deleted queue, or
 * none.
 */
function acknowledgeOne(state: State, named: NamedDelivery): readonly State[] {
  const deleted = state.deletedInFlight.filter(({ message }) => message.content.id === named.id);
  if (deleted.length === 0) return acknowledgeLive(state, named);
  let states: readonly State[] = [state];
  for (const deletedOne of deleted)
    states = states.flatMap((next) =>
      deletedCopyEnded(next, deletedOne, { ...named, phase: 'acknowledged' }),
    );
  // The Ack may settle the message of the deleted queue alone, and no other message with the same id.
  const text = 'an ack settles a message of a deleted queue';
  const taken = states.map((next) => withDifference(copyOf(next), { clause: 'QUEUE-018', text }));
  return [...states.flatMap((next) => acknowledgeLive(next, named)), ...taken];
}

function acknowledgeLive(state: State, named: NamedDelivery): readonly State[] {
  const held = heldOf(state, named);
  const foreign = foreignOf(state, named);
  return [
    ...(held.length === 0 ? [state] : []),
    ...held.flatMap((one) => acknowledgeHeld(state, named, one)),
    ...foreign.map((one) => acknowledgeForeign(state, named, one, held.length === 0)),
  ];
}

function acknowledgeForeign(
  state: State,
  named: NamedDelivery,
  foreign: MessagePlace,
  isAllThereIs: boolean,
): State {
  const wasHolder = isAllThereIs && messageOf(state, foreign)?.lastHolder === named.connection;
  const settled = removed(state, foreign);
  return wasHolder ? settled : withDifference(settled, anyAckCounts);
}

const ackQueueIgnored: Difference = {
  clause: 'DELIVERY-067',
  text: 'an ack that names a queue settles a delivery from another queue',
};

const anyAckCounts: Difference = {
  clause: 'DELIVERY-057',
  text: 'an ack settles a message that was delivered on another connection',
};

function acknowledgeHeld(
  state: State,
  { connection, at }: NamedDelivery,
  held: MessagePlace,
): readonly State[] {
  const message = messageOf(state, held);
  if (message?.copies === undefined) {
    const isPaused = message?.phase === 'paused';
    const ignored = withDifference(state, {
      clause: 'DELIVERY-007',
      text: 'an ack in the retry delay before the next attempt is ignored',
    });
    return [removed(state, held), ...(isPaused ? [ignored] : [])];
  }
  return endCopy(state, held, connection, { phase: 'acknowledged', at });
}

/** The states after a negative ack. It may settle any delivery with that id on the connection: that it is the oldest is only recommended. */
export function afterNack(state: State, named: NamedDelivery, reason: FailureReason): readonly State[] {
  const held = heldOf(state, named);
  return held.length === 0 ? [state] : held.flatMap((one) => refuseHeld(state, named, one, reason));
}

function refuseHeld(
  state: State,
  named: NamedDelivery,
  held: MessagePlace,
  reason: FailureReason,
): readonly State[] {
  const message = messageOf(state, held);
  if (message === undefined || message.phase === 'paused') return [state];
  const { maxRetryAttempts } = queueOf(state, held.queue).options;
  const { subscribers, formerSubscribers } = queueOf(state, held.queue);
  const isSubscribed = subscribers.includes(named.connection);
  const mayEnd = !isSubscribed || formerSubscribers.includes(named.connection);
  const failedCount = failedCountOf(message, named.connection) + 1;
  const isLast = reason === 'DeserializationError' || failedCount >= maxRetryAttempts;
  if (message.copies !== undefined) {
    const phases = isLast ? (['failed'] as const) : nextPhases(isSubscribed, mayEnd);
    return phases.flatMap((phase) =>
      endCopy(state, held, named.connection, { phase, at: named.at, failedCount, reason }),
    );
  }
  const failed: ModelMessage = { ...message, failedCount, interruptionCount: 0 };
  if (isLast) return afterDeadLettering(removed(state, held), held.queue, failed, { reason, at: named.at });
  const next = copyOf(state);
  replace(next, held, { ...failed, phase: 'paused' });
  queueOf(next, held.queue).servedThisRound = undefined;
  if (!mayEnd) return [next];
  // The connection gets no next attempt, so that the message may wait for other subscribers without a delay.
  const waits = copyOf(next);
  replace(waits, held, { ...failed, phase: 'waiting', holder: undefined, waitingSince: named.at });
  return [waits, next];
}

/** The phases of a copy after a failure: it pauses before its next attempt, or it ends with its subscription. */
function nextPhases(mayPause: boolean, mayEnd: boolean): readonly ('paused' | 'gone')[] {
  return [...(mayPause ? (['paused'] as const) : []), ...(mayEnd ? (['gone'] as const) : [])];
}

/** The states after the end of a connection: the messages that it held wait again. */
export function afterConnectionEnd(state: State, connection: number, at: number): readonly State[] {
  let states: readonly State[] = [{ ...copyOf(state) }];
  for (const queue of state.queues.values()) {
    states = states.flatMap((next) => withoutConnection(next, queue.name, connection, at));
  }
  for (const deletedOne of state.deletedInFlight.filter(({ holders }) => holders.includes(connection))) {
    states = states.flatMap((next) =>
      deletedOne.message.copies === undefined
        ? [next, ...requeued(next, deletedOne, at)]
        : deletedCopyEnded(next, deletedOne, { connection, phase: 'gone', at }),
    );
  }
  for (const next of states) {
    for (const [name, connections] of next.dormant)
      next.dormant.set(
        name,
        connections.filter((one) => one !== connection),
      );
  }
  return states;
}

/** Deliveries on the ended connection are released. That this does not count as a failed attempt is only recommended. */
function withoutConnection(state: State, name: string, connection: number, at: number): readonly State[] {
  const how = { at, gives: true, isCut: true };
  const plain = withoutSubscriber(state, name, connection, how);
  const queue = queueOf(state, name);
  const cut = heldBy(queue, connection).filter((message) => isHeld(message, connection));
  const unseen = possiblyInFlightTo(queue, connection).filter((message) => !cut.includes(message));
  if (cut.length + unseen.length === 0) return plain;
  const text = 'a delivery that ends with its connection counts as a failed attempt';
  const base = withDifference(copyOf(state), { clause: 'DELIVERY-040', text });
  const counted = subsets(unseen).flatMap((part) =>
    [...cut, ...part].reduce<readonly State[]>(
      (states, { serial }) =>
        states.flatMap((next) => interruptionCounted(next, { queue: name, serial }, connection, at)),
      [base],
    ),
  );
  return [...plain, ...counted.flatMap((next) => withoutSubscriber(next, name, connection, how))];
}

/** Messages that the broker may have sent to the connection before it ended, unread by the runner. */
function possiblyInFlightTo({ messages, subscribers }: Queue, connection: number): readonly ModelMessage[] {
  if (!subscribers.includes(connection)) return [];
  return messages.filter(({ phase, copies }) => {
    if (copies === undefined) return phase === 'waiting' || phase === 'paused';
    return copies.some(
      (one) => one.member === connection && (one.phase === 'owed' || one.phase === 'paused'),
    );
  });
}

/** For more messages than this only some subsets are tried: none, each single one, all. */
const maxSubsetSource = 4;

function subsets(messages: readonly ModelMessage[]): readonly (readonly ModelMessage[])[] {
  if (messages.length > maxSubsetSource) return [[], ...messages.map((message) => [message]), messages];
  const numbers = Array.from({ length: 2 ** messages.length }, (_, number) => number);
  return numbers.map((number) => messages.filter((_, index) => (number & (1 << index)) !== 0));
}

function isHeld({ phase, copies }: ModelMessage, connection: number): boolean {
  if (copies === undefined) return phase === 'held';
  return copies.some((copy) => copy.member === connection && copy.phase === 'held');
}

function interruptionCounted(
  state: State,
  found: MessagePlace,
  connection: number,
  at: number,
): readonly State[] {
  const next = copyOf(state);
  const message = messageOf(next, found);
  if (message === undefined) return [next];
  const failedCount = failedCountOf(message, connection) + 1;
  const isLast = failedCount >= queueOf(next, found.queue).options.maxRetryAttempts;
  const copy = message.copies?.find(({ member }) => member === connection);
  const reason = 'MaxRetriesExceeded';
  if (copy !== undefined) {
    copy.failedCount = failedCount;
    if (!isLast) return [next];
    copy.phase = 'failed';
    message.failure ??= reason;
    message.failedCount = Math.max(message.failedCount, failedCount);
    return [next];
  }
  message.failedCount = failedCount;
  return isLast ? afterDeadLettering(removed(next, found), found.queue, message, { reason, at }) : [next];
}

/** If the broker keeps a fan-out message of a deleted queue, it may wait again when its last copy has ended. */
function deletedCopyEnded(
  state: State,
  deletedOne: DeletedInFlightMessage,
  {
    connection,
    phase,
    at,
  }: { readonly connection: number; readonly phase: Copy['phase']; readonly at: number },
): readonly State[] {
  const { copies = [] } = deletedOne.message;
  if (!copies.some((copy) => copy.member === connection && copy.phase === 'held')) return [state];
  const ended = copies.map((copy) => (copy.member === connection ? { ...copy, phase } : copy));
  const later: DeletedInFlightMessage = { ...deletedOne, message: { ...deletedOne.message, copies: ended } };
  const next: State = {
    ...copyOf(state),
    deletedInFlight: state.deletedInFlight.map((one) => (one === deletedOne ? later : one)),
  };
  const mayWait = !ended.some((copy) => copy.phase === 'held') && ended.some((copy) => copy.phase === 'gone');
  return [next, ...(mayWait ? requeued(next, later, at) : [])];
}

/** The message waits again in a new queue with the name of the deleted one; no state if that does not exist. */
function requeued(state: State, deletedOne: DeletedInFlightMessage, at: number): readonly State[] {
  if (!state.queues.has(deletedOne.queue)) return [];
  const next = copyOf(state);
  const queue = queueOf(next, deletedOne.queue);
  next.deletedInFlight = next.deletedInFlight.filter((one) => one !== deletedOne);
  const { message } = deletedOne;
  const doneBy = (message.copies ?? []).filter(({ phase }) => phase === 'acknowledged');
  const again = { phase: 'waiting', holder: undefined, copies: undefined, waitingSince: at } as const;
  const audiences = [[...queue.subscribers]];
  const serial = next.nextSerial;
  next.nextSerial += 1;
  queue.messages.push({
    ...message,
    ...again,
    serial,
    audiences,
    acknowledgedBy: [...message.acknowledgedBy, ...doneBy.map(({ member }) => member)],
  });
  queue.servedThisRound = undefined;
  const text = 'a message that was in flight when its queue was deleted waits in the new queue of that name';
  return [withDifference(next, { clause: 'QUEUE-017', text })];
}

/** The states after an Unsubscribe: deliveries stay in flight, or are released. */
export function afterUnsubscribe(
  state: State,
  name: string,
  connection: number,
  at: number,
): readonly State[] {
  const dormant = state.dormant.get(name);
  const base: State = { ...copyOf(state), ending: { connection, queue: name } };
  if (dormant !== undefined)
    base.dormant.set(
      name,
      dormant.filter((one) => one !== connection),
    );
  if (!base.queues.has(name)) return [base];
  const stays = withoutSubscriber(base, name, connection, { at, gives: false, isCut: false });
  if (heldBy(queueOf(base, name), connection).length === 0) return stays;
  return [...stays, ...withoutSubscriber(base, name, connection, { at, gives: true, isCut: false })];
}

function withoutSubscriber(
  state: State,
  name: string,
  connection: number,
  how: { readonly at: number; readonly gives: boolean; readonly isCut: boolean },
): readonly State[] {
  const base = copyOf(state);
  const queue = queueOf(base, name);
  if (how.isCut)
    for (const message of possiblyInFlightTo(queue, connection)) noteUnseenSending(message, how.at);
  queue.subscribers = queue.subscribers.filter((one) => one !== connection);
  if (!how.isCut)
    queue.formerSubscribers = [...queue.formerSubscribers.filter((one) => one !== connection), connection];
  queue.servedThisRound = undefined;
  for (const message of queue.messages) releaseDelivery(message, connection, how);
  return withEndedFanOuts(base, name, how.at);
}

/** The broker may have sent it and released it again, unseen by the runner. */
function noteUnseenSending(message: ModelMessage, at: number): void {
  message.mayHaveBeenSent = true;
  message.isCounted = false;
  message.waitingSince = at;
  message.interruptionCount += 1;
}

/** The states after the pauses of copies whose subscribers have unsubscribed: they have no next attempt. Empty if there is no such copy. */
export function afterEndedPauses(state: State, place: MessagePlace, at: number): readonly State[] {
  const next = copyOf(state);
  const { formerSubscribers } = queueOf(next, place.queue);
  const ended = (messageOf(next, place)?.copies ?? []).filter(
    ({ member, phase }) => phase === 'paused' && formerSubscribers.includes(member),
  );
  for (const copy of ended) copy.phase = 'gone';
  return ended.length === 0 ? [] : withEndedFanOuts(next, place.queue, at);
}

function releaseDelivery(
  message: ModelMessage,
  connection: number,
  { at, gives, isCut }: { readonly at: number; readonly gives: boolean; readonly isCut: boolean },
): void {
  message.audiences = message.audiences.map((audience) => audience.filter((one) => one !== connection));
  for (const copy of message.copies ?? []) {
    if (copy.member === connection && (copy.phase === 'owed' || (gives && isOpen(copy)))) copy.phase = 'gone';
  }
  if (!gives || message.copies !== undefined || message.holder !== connection) return;
  if (message.phase === 'waiting') return;
  message.interruptionCount = isCut ? message.interruptionCount + 1 : 0;
  message.phase = 'waiting';
  message.waitingSince = at;
  message.holder = undefined;
}

function isOpen({ phase }: Copy): boolean {
  return phase === 'held' || phase === 'paused' || phase === 'owed';
}

function endCopy(
  state: State,
  found: MessagePlace,
  member: number,
  end: {
    readonly phase: Copy['phase'];
    readonly at: number;
    readonly failedCount?: number;
    readonly reason?: string;
  },
): readonly State[] {
  const next = copyOf(state);
  const message = messageOf(next, found);
  const copy = message?.copies?.find((one) => one.member === member);
  if (message === undefined || copy === undefined) return [next];
  copy.phase = end.phase;
  copy.failedCount = end.failedCount ?? copy.failedCount;
  if (end.phase === 'failed') {
    message.failure ??= end.reason;
    message.failedCount = Math.max(message.failedCount, copy.failedCount);
  }
  return withEndedFanOuts(next, found.queue, end.at);
}

/** The states after all copies of a fan-out message have ended, for each such message. */
export function withEndedFanOuts(state: State, name: string, at: number): readonly State[] {
  const queue = state.queues.get(name);
  const message = queue?.messages.find(
    ({ copies }) => copies !== undefined && copies.length > 0 && !copies.some(isOpen),
  );
  if (queue === undefined || message === undefined) return [state];
  const after = afterFanOut(state, queue, message, at);
  return after.flatMap((next) => withEndedFanOuts(next, name, at));
}

function afterFanOut(state: State, queue: Queue, message: ModelMessage, at: number): readonly State[] {
  const found = { queue: queue.name, serial: message.serial };
  const { failure, copies = [] } = message;
  if (failure !== undefined)
    return afterDeadLettering(removed(state, found), queue.name, message, { reason: failure, at });
  if (queue.options.mode === 'FanOutWithoutAck') return [removed(state, found)];
  const doneBy = copies.filter(({ phase }) => phase === 'acknowledged').map(({ member }) => member);
  const done = removed(state, found);
  const areAllDone = doneBy.length > 0 && doneBy.length === copies.length;
  // The copy of a member that the runner does not know of may have ended with its connection.
  if (message.isDropped || (areAllDone && !message.mayHaveBeenSent)) return [done];
  const again = copyOf(state);
  const waits = { phase: 'waiting', copies: undefined, waitingSince: at } as const;
  const audiences = [[...queue.subscribers]];
  const interruptionCount = message.interruptionCount + 1;
  replace(again, found, {
    ...message,
    ...waits,
    audiences,
    interruptionCount,
    acknowledgedBy: [...message.acknowledgedBy, ...doneBy],
  });
  if (doneBy.length === 0) return [again];
  const text =
    'a message that one subscriber has acknowledged waits again because the other subscribers are gone';
  return [done, withDifference(again, { clause: 'DELIVERY-021', text })];
}

/** The deliveries with that id that the connection holds, the oldest first. */
function heldOf(state: State, { connection, id, queue: named }: NamedDelivery): readonly MessagePlace[] {
  return [...state.queues.values()]
    .filter(({ name }) => named === undefined || named === name)
    .flatMap((queue) =>
      heldBy(queue, connection)
        .filter(({ content }) => content.id === id)
        .map(({ serial }) => ({ queue: queue.name, serial })),
    )
    .sort((a, b) => a.serial - b.serial);
}

/** Messages with that id that were delivered and that the connection does not hold; fan-out messages excluded. */
function foreignOf(state: State, { connection, id, queue: named }: NamedDelivery): readonly MessagePlace[] {
  return [...state.queues.values()]
    .filter((queue) => !isFanOut(queue) && (named === undefined || named === queue.name))
    .flatMap((queue) => {
      const own = heldBy(queue, connection);
      return queue.messages
        .filter((one) => one.content.id === id && one.sentCount > 0 && !own.includes(one))
        .map(({ serial }) => ({ queue: queue.name, serial }));
    });
}

function failedCountOf(message: ModelMessage, connection: number): number {
  const copy = message.copies?.find(({ member }) => member === connection);
  return copy?.failedCount ?? message.failedCount;
}

function messageOf(state: State, { queue, serial }: MessagePlace): ModelMessage | undefined {
  return state.queues.get(queue)?.messages.find((message) => message.serial === serial);
}

function removed(state: State, { queue: name, serial }: MessagePlace): State {
  const next = copyOf(state);
  const queue = queueOf(next, name);
  queue.messages = queue.messages.filter((message) => message.serial !== serial);
  queue.servedThisRound = undefined;
  return next;
}

function replace(state: State, { queue: name, serial }: MessagePlace, message: ModelMessage): void {
  const queue = queueOf(state, name);
  queue.messages = queue.messages.map((one) => (one.serial === serial ? message : one));
}
