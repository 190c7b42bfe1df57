// How a delivery ends: acknowledged, refused, or left with the connection or the subscription. Each function gives every state that
// may follow. Areas: DELIVERY, NACK, DLQ.
import type { FailureReason } from './command.ts';
import { buried, queueOf } from './entering.ts';
import type { Copy, Difference, Message, Queue, State } from './state.ts';
import { copyOf, withDifference } from './state.ts';
import { heldBy } from './waiting.ts';

export type Named = {
  readonly connection: number;
  readonly id: string;
  /** The queue that an Ack names; undefined: any. */
  readonly queue: string | undefined;
  readonly at: number;
};

type Found = { readonly queue: string; readonly serial: number };

/** The states after an Ack: of what the connection holds, of what it held, of what others hold, or of nothing. */
export function acknowledge(state: State, named: Named): readonly State[] {
  const held = heldOf(state, named);
  if (held.length > 0) return held.flatMap((one) => acknowledgeHeld(state, named, one));
  const foreign = foreignOf(state, named);
  if (foreign === undefined) return [state];
  const { mode } = queueOf(state, foreign.queue).options;
  if (mode === 'FanOutWithAck' || mode === 'FanOutWithoutAck') return [state];
  const wasHolder = messageOf(state, foreign)?.lastHolder === named.connection;
  const settled = removed(state, foreign);
  return [state, wasHolder ? settled : withDifference(settled, anyAckCounts)];
}

const anyAckCounts: Difference = {
  clause: 'DELIVERY-057',
  text: 'an ack counts from a connection that the message was not delivered to',
};

function acknowledgeHeld(state: State, { connection, at }: Named, held: Found): readonly State[] {
  const message = messageOf(state, held);
  if (message?.copies === undefined) {
    const isPaused = message?.phase === 'paused';
    const ignored = withDifference(state, {
      clause: 'DELIVERY-007',
      text: 'an ack during the pause before the next attempt does not count',
    });
    return [removed(state, held), ...(isPaused ? [ignored] : [])];
  }
  return endCopy(state, held, connection, { phase: 'acknowledged', at });
}

/** The states after a negative ack. Which of them never counts is left to the capability that was announced. */
export function refuse(state: State, named: Named, reason: FailureReason): readonly State[] {
  const [held] = heldOf(state, named);
  const message = held === undefined ? undefined : messageOf(state, held);
  if (held === undefined || message === undefined || message.phase === 'paused') return [state];
  const { maxRetryAttempts } = queueOf(state, held.queue).options;
  const { subscribers, hadLeft } = queueOf(state, held.queue);
  const isSubscribed = subscribers.includes(named.connection);
  const mayEnd = !isSubscribed || hadLeft.includes(named.connection);
  const failedCount = failedCountOf(message, named.connection) + 1;
  const isLast = reason === 'DeserializationError' || failedCount >= maxRetryAttempts;
  if (message.copies !== undefined) {
    const phases = isLast ? (['failed'] as const) : nextPhases(isSubscribed, mayEnd);
    return phases.flatMap((phase) =>
      endCopy(state, held, named.connection, { phase, at: named.at, failedCount, reason }),
    );
  }
  const failed: Message = { ...message, failedCount, cutCount: 0 };
  if (isLast) return buried(removed(state, held), held.queue, failed, { reason, at: named.at });
  const next = copyOf(state);
  replace(next, held, { ...failed, phase: 'paused' });
  queueOf(next, held.queue).turn = undefined;
  if (!mayEnd) return [next];
  // There is no next attempt here to pause for: it may wait for others at once.
  const waits = copyOf(next);
  replace(waits, held, { ...failed, phase: 'waiting', holder: undefined, waitingSince: named.at });
  return [waits, next];
}

/** What may become of a copy that failed: a pause before its next attempt, or its end with the subscription that it went to. */
function nextPhases(mayPause: boolean, mayEnd: boolean): readonly ('paused' | 'gone')[] {
  return [...(mayPause ? (['paused'] as const) : []), ...(mayEnd ? (['gone'] as const) : [])];
}

/** The states after the end of a connection: all that it held waits again. */
export function leave(state: State, connection: number, at: number): readonly State[] {
  let states: readonly State[] = [{ ...copyOf(state) }];
  for (const queue of state.queues.values()) {
    states = states.flatMap((next) =>
      departed(next, queue.name, connection, { at, gives: true, isCut: true }),
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

/** The states after an Unsubscribe: what is in flight stays so, or is given back. */
export function unsubscribe(state: State, name: string, connection: number, at: number): readonly State[] {
  const dormant = state.dormant.get(name);
  const base: State = { ...copyOf(state), ending: { connection, queue: name } };
  if (dormant !== undefined)
    base.dormant.set(
      name,
      dormant.filter((one) => one !== connection),
    );
  if (!base.queues.has(name)) return [base];
  const stays = departed(base, name, connection, { at, gives: false, isCut: false });
  if (heldBy(queueOf(base, name), connection).length === 0) return stays;
  return [...stays, ...departed(base, name, connection, { at, gives: true, isCut: false })];
}

function departed(
  state: State,
  name: string,
  connection: number,
  how: { readonly at: number; readonly gives: boolean; readonly isCut: boolean },
): readonly State[] {
  const base = copyOf(state);
  const queue = queueOf(base, name);
  queue.subscribers = queue.subscribers.filter((one) => one !== connection);
  if (!how.isCut) queue.hadLeft = [...queue.hadLeft.filter((one) => one !== connection), connection];
  queue.turn = undefined;
  for (const message of queue.messages) leaveMessage(message, connection, how);
  return concluded(base, name, how.at);
}

function leaveMessage(
  message: Message,
  connection: number,
  { at, gives, isCut }: { readonly at: number; readonly gives: boolean; readonly isCut: boolean },
): void {
  message.audiences = message.audiences.map((audience) => audience.filter((one) => one !== connection));
  for (const copy of message.copies ?? []) {
    if (copy.member === connection && (copy.phase === 'owed' || (gives && isOpen(copy)))) copy.phase = 'gone';
  }
  // What pauses or rests may have been sent on the connection that leaves, and nobody has seen it.
  if (isCut && (message.phase === 'paused' || message.cutCount >= 2)) message.isCounted = false;
  if (!gives || message.copies !== undefined || message.holder !== connection) return;
  if (message.phase === 'waiting') return;
  message.cutCount = isCut ? message.cutCount + 1 : 0;
  message.phase = 'waiting';
  message.waitingSince = at;
  message.holder = undefined;
}

function isOpen({ phase }: Copy): boolean {
  return phase === 'held' || phase === 'paused' || phase === 'owed';
}

function endCopy(
  state: State,
  found: Found,
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
  return concluded(next, found.queue, end.at);
}

/** What becomes of fan-out messages all of whose copies have ended. */
export function concluded(state: State, name: string, at: number): readonly State[] {
  const queue = state.queues.get(name);
  const message = queue?.messages.find(
    ({ copies }) => copies !== undefined && copies.length > 0 && !copies.some(isOpen),
  );
  if (queue === undefined || message === undefined) return [state];
  const after = conclusion(state, queue, message, at);
  return after.flatMap((next) => concluded(next, name, at));
}

function conclusion(state: State, queue: Queue, message: Message, at: number): readonly State[] {
  const found = { queue: queue.name, serial: message.serial };
  const { failure, copies = [] } = message;
  if (failure !== undefined)
    return buried(removed(state, found), queue.name, message, { reason: failure, at });
  if (queue.options.mode === 'FanOutWithoutAck') return [removed(state, found)];
  const isDone = message.isDropped || copies.some(({ phase }) => phase === 'acknowledged');
  if (isDone) return [removed(state, found)];
  const again = copyOf(state);
  const waits = { phase: 'waiting', copies: undefined, waitingSince: at } as const;
  const audiences = [[...queue.subscribers]];
  replace(again, found, { ...message, ...waits, audiences, cutCount: message.cutCount + 1 });
  return [again];
}

/** The deliveries of that id that the connection holds, the oldest first. */
function heldOf(state: State, { connection, id, queue: named }: Named): readonly Found[] {
  return [...state.queues.values()]
    .filter(({ name }) => named === undefined || named === name)
    .flatMap((queue) =>
      heldBy(queue, connection)
        .filter(({ content }) => content.id === id)
        .map(({ serial }) => ({ queue: queue.name, serial })),
    )
    .sort((a, b) => a.serial - b.serial);
}

function foreignOf(state: State, { id, queue: named }: Named): Found | undefined {
  for (const { name, messages } of state.queues.values()) {
    if (named !== undefined && named !== name) continue;
    const message = messages.find(({ content, sentCount }) => content.id === id && sentCount > 0);
    if (message !== undefined) return { queue: name, serial: message.serial };
  }
  return undefined;
}

function failedCountOf(message: Message, connection: number): number {
  const copy = message.copies?.find(({ member }) => member === connection);
  return copy?.failedCount ?? message.failedCount;
}

function messageOf(state: State, { queue, serial }: Found): Message | undefined {
  return state.queues.get(queue)?.messages.find((message) => message.serial === serial);
}

function removed(state: State, { queue: name, serial }: Found): State {
  const next = copyOf(state);
  const queue = queueOf(next, name);
  queue.messages = queue.messages.filter((message) => message.serial !== serial);
  queue.turn = undefined;
  return next;
}

function replace(state: State, { queue: name, serial }: Found, message: Message): void {
  const queue = queueOf(state, name);
  queue.messages = queue.messages.map((one) => (one.serial === serial ? message : one));
}
