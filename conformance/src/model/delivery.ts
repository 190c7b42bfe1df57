// Explains one Deliver: which message it may be, whether the broker may deliver it on this connection now, and the states that may
// follow. A Deliver that no message explains breaks a rule. Areas: DELIVERY, PUBLISH, DLQ.
import type { Breach, Explanation } from './breach.ts';
import { contentDifferences, isSameContent } from './content.ts';
import { afterEndedPauses, withEndedFanOuts } from './delivery-end.ts';
import { judgeOrder } from './delivery-order.ts';
import { queueOf } from './queue-entry.ts';
import type { Copy, DeletedInFlightMessage, Difference, ModelMessage, Queue, State } from './state.ts';
import { copyOf, isFanOut, withDifference } from './state.ts';
import { idleSubscribers } from './waiting-range.ts';

export type SeenDelivery = {
  readonly connection: number;
  readonly queue: string;
  readonly id: string;
  /** The payload as text. */
  readonly payload: string;
  readonly headers: ReadonlyMap<string, string>;
  /** The number of the current command. */
  readonly at: number;
};

/** The states that explain the delivery. */
export function afterDelivery(state: State, seen: SeenDelivery): Explanation {
  const queue = state.queues.get(seen.queue);
  const refusal = queue === undefined ? fromMissingQueue(seen) : withoutSubscription(state, queue, seen);
  if (queue === undefined || refusal !== undefined)
    return afterDeletedDelivery(state, seen, refusal ?? fromMissingQueue(seen));
  const named = queue.messages.filter(({ content }) => content.id === seen.id);
  const states = [...afterRenamedDeadLetter(state, queue, seen)];
  if (named.length > 0) {
    const explained = takeOneOf(state, queue, named, seen);
    if (explained.breach !== undefined && states.length === 0) return explained;
    return { states: [...explained.states, ...states] };
  }
  return states.length > 0
    ? { states }
    : afterDeletedDelivery(state, seen, ofUnknownMessage(state, queue, seen));
}

/** A dead letter with a new id: that it keeps its id is only recommended. */
function afterRenamedDeadLetter(state: State, queue: Queue, seen: SeenDelivery): readonly State[] {
  const deadLetters = queue.messages.filter(
    ({ deadLetter, content, sentCount }) =>
      deadLetter !== undefined && content.id !== seen.id && sentCount === 0,
  );
  return deadLetters.flatMap(({ serial }) => {
    const next = noted(state, [{ clause: 'DLQ-012', text: 'a dead letter is delivered with another id' }]);
    const own = find(next, queue.name, serial);
    own.content = { ...own.content, id: seen.id };
    return takeOneOf(next, queueOf(next, queue.name), [own], seen).states;
  });
}

function takeOneOf(
  state: State,
  queue: Queue,
  named: readonly ModelMessage[],
  seen: SeenDelivery,
): Explanation {
  const same = named.filter((message) => isSameContent(message, seen));
  if (same.length === 0)
    return breach('DELIVERY-053', `${seen.id} is delivered with other content: ${seen.payload}`);
  const taken = same.map((message) => take(state, queue, message, seen));
  const states = taken.flatMap((explained) => explained.states);
  const [first] = taken.flatMap((explained) => (explained.breach === undefined ? [] : [explained.breach]));
  return states.length > 0 || first === undefined ? { states } : { states, breach: first };
}

/** A breach when the connection has no subscription to the queue. */
function withoutSubscription(
  state: State,
  queue: Queue,
  { connection, id }: SeenDelivery,
): Breach | undefined {
  const isEnding = state.ending?.connection === connection && state.ending.queue === queue.name;
  if (isEnding || queue.subscribers.includes(connection)) return undefined;
  const text = `${id} is delivered on a connection that is not subscribed to ${queue.name}`;
  return { clause: 'DELIVERY-061', text };
}

function fromMissingQueue({ id, queue }: SeenDelivery): Breach {
  return { clause: 'QUEUE-014', text: `${id} is delivered from ${queue}, which does not exist` };
}

/** A message that was in flight when its queue was deleted. That it is not delivered again is only recommended. */
function afterDeletedDelivery(state: State, seen: SeenDelivery, otherwise: Breach): Explanation {
  const { queue, id, at } = seen;
  const found = state.deletedInFlight.find((one) => one.queue === queue && one.message.content.id === id);
  if (found === undefined || (found.isUnseen && found.at !== at)) return { states: [], breach: otherwise };
  // The delivery may have been under way when the queue was deleted.
  if (found.at === at) return { states: [found.isUnseen ? withSeenDelivery(state, found, seen) : state] };
  const text = 'a message that was in flight when its queue was deleted is delivered again';
  return { states: [withDifference(state, { clause: 'QUEUE-017', text })] };
}

/** The message was in flight after all: from now on it is handled like the other ones that were. */
function withSeenDelivery(
  state: State,
  deletedOne: DeletedInFlightMessage,
  { connection }: SeenDelivery,
): State {
  const message: ModelMessage = {
    ...deletedOne.message,
    phase: 'held',
    holder: connection,
    lastHolder: connection,
  };
  const seen: DeletedInFlightMessage = { ...deletedOne, message, holders: [connection], isUnseen: false };
  return {
    ...copyOf(state),
    deletedInFlight: state.deletedInFlight.map((one) => (one === deletedOne ? seen : one)),
  };
}

function ofUnknownMessage(state: State, queue: Queue, { id }: SeenDelivery): Breach {
  const elsewhere = [...state.queues.values()].find(({ messages }) =>
    messages.some(({ content }) => content.id === id),
  );
  if (elsewhere !== undefined)
    return {
      clause: 'DELIVERY-051',
      text: `${id} is in ${elsewhere.name} but is delivered from ${queue.name}`,
    };
  const text = `${id} is delivered from ${queue.name} but is not there: it was settled, dropped or refused, or never published`;
  return { clause: queue.options.mode === 'FanOutWithoutAck' ? 'DELIVERY-025' : 'DELIVERY-001', text };
}

function take(state: State, queue: Queue, message: ModelMessage, seen: SeenDelivery): Explanation {
  return isFanOut(queue) ? takeCopy(state, queue, message, seen) : takeWhole(state, queue, message, seen);
}

/** RoundRobin and PriorityBased: to one subscriber, if no subscriber holds it. */
function takeWhole(state: State, queue: Queue, message: ModelMessage, seen: SeenDelivery): Explanation {
  const { connection, id } = seen;
  if (message.phase === 'held') {
    const clause = queue.options.mode === 'PriorityBased' ? 'DELIVERY-030' : 'DELIVERY-011';
    return breach(
      clause,
      `${id} is delivered while it is in flight to a subscriber and its ack timeout has not passed`,
    );
  }
  const turned = judgeRound(queue, message, connection);
  if (turned.breach !== undefined) return { states: [], breach: turned.breach };
  const next = noted(state, [
    ...contentDifferences(message, seen, { countsSendings: true }),
    ...(turned.difference === undefined ? [] : [turned.difference]),
    ...retryDifference(queue, message, connection),
  ]);
  const ordered = judgeOrder(queueOf(next, queue.name), message, seen);
  if (ordered.breach !== undefined) return { states: [], breach: ordered.breach };
  const own = find(next, queue.name, message.serial);
  Object.assign(own, {
    phase: 'held',
    holder: connection,
    lastHolder: connection,
    sentCount: message.sentCount + 1,
  });
  if (message.sentCount === 0) queueOf(next, queue.name).servedThisRound?.push(connection);
  return { states: [noted(next, ordered.differences)] };
}

/** RoundRobin serves each of n idle subscribers once before any a second time. */
function judgeRound(
  queue: Queue,
  { sentCount }: ModelMessage,
  connection: number,
): { readonly breach?: Breach; readonly difference?: Difference } {
  const { servedThisRound, subscribers } = queue;
  if (servedThisRound === undefined || sentCount > 0 || servedThisRound.length >= subscribers.length)
    return {};
  const isPriority = queue.options.mode === 'PriorityBased';
  if (servedThisRound.includes(connection)) {
    const text =
      'a subscriber receives a second message while another subscriber is idle and has received none';
    return isPriority
      ? { difference: { clause: 'DELIVERY-032', text } }
      : { breach: { clause: 'DELIVERY-012', text } };
  }
  const last = servedThisRound.at(-1);
  if (last === undefined || isPriority || queue.wasRecreated) return {};
  const after = subscribers[(subscribers.indexOf(last) + 1) % subscribers.length];
  const text = 'subscribers are not served in subscription order';
  return after === connection ? {} : { difference: { clause: 'DELIVERY-013', text } };
}

function retryDifference(queue: Queue, message: ModelMessage, connection: number): readonly Difference[] {
  if (message.phase !== 'paused' || message.holder !== connection) return [];
  const hasOther = idleSubscribers(queue).some((other) => other !== connection);
  const text = 'a retry goes to the same subscriber although another one is idle';
  return hasOther ? [{ clause: 'RETRY-011', text }] : [];
}

/** A fan-out message: the first copy shows which subscribers may be its members. */
function takeCopy(state: State, queue: Queue, message: ModelMessage, seen: SeenDelivery): Explanation {
  if (message.copies !== undefined) {
    const open = takeOpenCopy(state, queue, message, seen);
    const states = [...open.states, ...takeAfterEndedPauses(state, queue, message, seen)];
    return states.length > 0 || open.breach === undefined ? { states } : { states, breach: open.breach };
  }
  if (message.acknowledgedBy.includes(seen.connection))
    return breach('DELIVERY-001', `${seen.id} is delivered again to a subscriber that has acknowledged it`);
  const { starting } = state;
  const isStarting = starting?.queue === queue.name && !queue.subscribers.includes(starting.connection);
  const present = [
    ...message.audiences,
    queue.subscribers,
    ...(isStarting ? [[...queue.subscribers, starting.connection]] : []),
  ];
  const audiences = distinct(
    present.map((audience) => audience.filter((one) => !message.acknowledgedBy.includes(one))),
  ).filter((audience) => audience.includes(seen.connection));
  const begun = audiences.map((audience) => {
    const next = copyOf(state);
    const own = find(next, queue.name, message.serial);
    own.copies = audience.map((member): Copy => ({ member, phase: 'owed', failedCount: 0 }));
    return takeOpenCopy(next, queueOf(next, queue.name), own, seen);
  });
  const states = begun.flatMap((explained) => explained.states);
  const [first] = begun.flatMap((explained) => (explained.breach === undefined ? [] : [explained.breach]));
  return states.length > 0 || first === undefined ? { states } : { states, breach: first };
}

/** The pause of a copy may be over when its subscriber has left: the message waits again, and this is the first copy of another round. */
function takeAfterEndedPauses(
  state: State,
  queue: Queue,
  { serial }: ModelMessage,
  seen: SeenDelivery,
): readonly State[] {
  return afterEndedPauses(state, { queue: queue.name, serial }, seen.at).flatMap((next) => {
    const after = queueOf(next, queue.name);
    const message = after.messages.find((one) => one.serial === serial);
    return message === undefined || message.copies !== undefined
      ? []
      : takeCopy(next, after, message, seen).states;
  });
}

function takeOpenCopy(state: State, queue: Queue, message: ModelMessage, seen: SeenDelivery): Explanation {
  const copy = message.copies?.find(({ member }) => member === seen.connection);
  const wrong = copy === undefined ? lateCopy(seen) : secondCopy(queue, copy, seen);
  if (copy === undefined || wrong !== undefined) return { states: [], breach: wrong ?? lateCopy(seen) };
  const ordered = copy.phase === 'owed' ? judgeOrder(queueOf(state, queue.name), message, seen) : undefined;
  if (ordered?.breach !== undefined) return { states: [], breach: ordered.breach };
  const differences = contentDifferences(message, seen, { countsSendings: false });
  const next = copyOf(noted(state, [...differences, ...(ordered?.differences ?? [])]));
  const own = find(next, queue.name, message.serial);
  own.sentCount += 1;
  for (const one of own.copies ?? []) {
    if (one.member === seen.connection)
      one.phase = queue.options.mode === 'FanOutWithoutAck' ? 'acknowledged' : 'held';
  }
  return { states: withEndedFanOuts(next, queue.name, seen.at) };
}

function lateCopy({ id }: SeenDelivery): Breach {
  return {
    clause: 'DELIVERY-015',
    text: `${id} is delivered to a subscriber that subscribed after its first copy`,
  };
}

function secondCopy(queue: Queue, { phase }: Copy, { id }: SeenDelivery): Breach | undefined {
  if (phase === 'owed' || phase === 'paused') return undefined;
  const clause = queue.options.mode === 'FanOutWithAck' ? 'DELIVERY-014' : 'DELIVERY-025';
  return {
    clause,
    text: `a second copy of ${id} is delivered to the same subscriber, whose first copy is ${phase}`,
  };
}

function find(state: State, name: string, serial: number): ModelMessage {
  const found = queueOf(state, name).messages.find((message) => message.serial === serial);
  if (found === undefined) throw new Error(`the model has lost message ${serial} of ${name}`);
  return found;
}

function noted(state: State, differences: readonly Difference[]): State {
  return differences.reduce<State>((next, difference) => withDifference(next, difference), copyOf(state));
}

function distinct(audiences: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const byText = new Map(audiences.map((audience) => [[...audience].sort().join(), audience]));
  return [...byText.values()];
}

function breach(clause: string, text: string): Explanation {
  return { states: [], breach: { clause, text } };
}
