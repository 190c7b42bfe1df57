// How a message may enter a queue: it is added, it replaces another message, it goes to the dead letter queue, or it is dropped. Each
// function returns every state that may follow. Areas: PUBLISH, OVERFLOW, DLQ.
import type { Content, ModelMessage, ModelQueueOptions, Queue, State } from './state.ts';
import { copyOf, withDifference } from './state.ts';
import { unsentMessages, waitingRange } from './waiting-range.ts';

export type Publication = {
  readonly queue: string;
  readonly content: Content;
  readonly publisher: number;
  /** The number of the command. */
  readonly at: number;
};

/** The states after a Publish to an existing queue, each with its allowed answer. */
export function afterPublish(state: State, publication: Publication): readonly State[] {
  const queue = state.queues.get(publication.queue);
  if (queue === undefined) return [];
  const twin = queue.messages.find(
    ({ content, deadLetter }) => content.id === publication.content.id && deadLetter === undefined,
  );
  if (twin === undefined) return admit(state, publication);
  const clause = twin.phase === 'waiting' && twin.copies === undefined ? 'PUBLISH-005' : 'PUBLISH-006';
  const text = 'a repeated Publish is accepted as a new message';
  const asRepeat: State = { ...copyOf(state), answer: 'positive' };
  return [asRepeat, ...admit(withDifference(state, { clause, text }), publication)];
}

function admit(state: State, publication: Publication): readonly State[] {
  const queue = queueOf(state, publication.queue);
  const { min, max } = waitingRange(queue);
  const { maxQueueSize } = queue.options;
  const mayEnter = min < maxQueueSize || queue.subscribers.length > 0;
  return [
    ...(mayEnter ? [entered(state, publication)] : []),
    ...(max >= maxQueueSize ? overflow(state, publication) : []),
  ];
}

function entered(state: State, publication: Publication): State {
  const next = copyOf(state);
  const queue = queueOf(next, publication.queue);
  startRound(queue);
  queue.messages.push(newMessage(next, queue, publication));
  return { ...next, answer: 'positive' };
}

/** A round starts when all subscribers are idle: each gets one message before any gets a second one. */
function startRound(queue: Queue): void {
  const isIdle = queue.messages.length === 0 && queue.subscribers.length > 1;
  if (queue.servedThisRound === undefined && isIdle) queue.servedThisRound = [];
}

function newMessage(
  state: State,
  queue: Queue,
  { content, publisher, at }: Omit<Publication, 'publisher'> & { readonly publisher: number | undefined },
): ModelMessage {
  const serial = state.nextSerial;
  state.nextSerial += 1;
  return {
    serial,
    content,
    publisher,
    phase: 'waiting',
    holder: undefined,
    lastHolder: undefined,
    sentCount: 0,
    isCounted: true,
    mayHaveBeenSent: false,
    failedCount: 0,
    interruptionCount: 0,
    waitingSince: at,
    audiences: [[...queue.subscribers]],
    copies: undefined,
    acknowledgedBy: [],
    isDropped: false,
    failure: undefined,
    deadLetter: undefined,
    overtakenOn: [],
    overtakenBy: undefined,
  };
}

function overflow(state: State, publication: Publication): readonly State[] {
  const queue = queueOf(state, publication.queue);
  switch (queue.options.overflowStrategy) {
    case 'DropOldest':
      return afterEviction(state, publication.queue).map((next) => entered(next, publication));
    case 'DropNewest': {
      const positive = {
        clause: 'OVERFLOW-008',
        text: 'DropNewest answers PublishAck for a message that it drops',
      };
      return [{ ...copyOf(state), answer: 'either', onAnswer: { positive } }];
    }
    case 'RedirectToDlq':
      return redirected(state, publication);
    case 'BlockPublisher':
      throw new Error('a scenario must not use BlockPublisher');
  }
}

/** DropOldest removes the message published first; of a message with sent copies it removes the unsent copies. */
function afterEviction(state: State, name: string): readonly State[] {
  const queue = queueOf(state, name);
  const oldest = oldestOf(queue);
  const partly = queue.messages.filter(({ copies }) => copies?.some(({ phase }) => phase === 'owed'));
  // The retry delay of a paused message may be over, so that it waits for a free subscriber.
  const paused = queue.messages.filter(({ phase }) => phase === 'paused');
  const others = [
    ...partly.map((message) => withoutUnsentCopies(state, name, message.serial)),
    ...paused.map((message) => withoutMessage(state, name, message.serial)),
  ];
  if (oldest.length + others.length === 0) return [copyOf(state)];
  return [...oldest.map(({ serial }) => withoutMessage(state, name, serial)), ...others];
}

/** For dead letters, the one that entered first or the one that was published first: the specification says only "oldest". */
function oldestOf(queue: Queue): readonly ModelMessage[] {
  const [first, ...rest] = unsentMessages(queue);
  if (first === undefined) return [];
  const publishedAs = ({ deadLetter, serial }: ModelMessage): number => deadLetter?.publishedAs ?? serial;
  const published = rest.reduce((min, one) => (publishedAs(one) < publishedAs(min) ? one : min), first);
  return published === first ? [first] : [first, published];
}

function withoutMessage(state: State, name: string, serial: number): State {
  const next = copyOf(state);
  const queue = queueOf(next, name);
  queue.messages = queue.messages.filter((message) => message.serial !== serial);
  return next;
}

function withoutUnsentCopies(state: State, name: string, serial: number): State {
  const next = copyOf(state);
  const queue = queueOf(next, name);
  const message = queue.messages.find((one) => one.serial === serial);
  if (message === undefined) return next;
  message.isDropped = true;
  for (const copy of message.copies ?? []) if (copy.phase === 'owed') copy.phase = 'gone';
  const isOver = message.copies?.every(({ phase }) => phase !== 'held' && phase !== 'paused');
  const wasFailed = message.copies?.some(({ phase }) => phase === 'failed');
  if (isOver === true && wasFailed !== true) queue.messages = queue.messages.filter((one) => one !== message);
  return next;
}

function redirected(state: State, publication: Publication): readonly State[] {
  const draft = newMessage(copyOf(state), queueOf(state, publication.queue), publication);
  const advanced: State = { ...copyOf(state), nextSerial: draft.serial + 1 };
  return afterDeadLettering(advanced, publication.queue, draft, {
    reason: 'QueueOverflow',
    at: publication.at,
  }).map((next) => ({ ...next, answer: 'positive' }));
}

/**
 * The states after a removed message becomes a dead letter. It is discarded if its queue has no dead letter queue, or if it is a dead
 * letter already. A full dead letter queue drops its oldest message, unless a subscriber receives the new one immediately.
 */
export function afterDeadLettering(
  state: State,
  source: string,
  message: ModelMessage,
  { reason, at }: { readonly reason: string; readonly at: number },
): readonly State[] {
  const from = queueOf(state, source);
  const { enableDeadLetterQueue, deadLetterQueue } = from.options;
  if (!enableDeadLetterQueue || deadLetterQueue === '' || message.deadLetter !== undefined) return [state];
  const ready = withQueue(state, deadLetterQueue, deadLetterQueueOptions(from));
  return roomFor(ready, queueOf(ready, deadLetterQueue)).map((next) =>
    withDeadLetter(copyOf(next), deadLetterQueue, message, { source, reason, at }),
  );
}

/** The size and the overflow strategy of a dead letter queue are only recommended. */
function roomFor(state: State, to: Queue): readonly State[] {
  const { max } = waitingRange(to);
  if (max < to.options.maxQueueSize) return [state];
  const roomier = withDifference(copyOf(state), {
    clause: 'DLQ-006',
    text: 'the dead letter queue does not have the maxQueueSize of its source queue',
  });
  const unmoved = to.subscribers.length > 0 ? state : roomier;
  return [...afterEviction(state, to.name), unmoved];
}

function withDeadLetter(
  state: State,
  name: string,
  message: ModelMessage,
  { source, reason, at }: { readonly source: string; readonly reason: string; readonly at: number },
): State {
  const queue = queueOf(state, name);
  const { content, serial } = message;
  const added = newMessage(state, queue, { queue: name, content, publisher: undefined, at });
  queue.servedThisRound = undefined;
  queue.messages.push({
    ...added,
    deadLetter: { reason, source, attempts: failedAttemptsOf(message), publishedAs: serial },
  });
  return state;
}

function failedAttemptsOf({ copies = [], failedCount }: ModelMessage): number | undefined {
  const counts = new Set(copies.map((copy) => copy.failedCount).filter((count) => count > 0));
  return counts.size > 1 ? undefined : failedCount;
}

/** A state in which the queue exists, with the dormant subscriptions to its name. */
export function withQueue(state: State, name: string, options: ModelQueueOptions): State {
  if (state.queues.has(name)) return state;
  const next = copyOf(state);
  const subscribers = next.dormant.get(name) ?? [];
  next.dormant.delete(name);
  const wasRecreated = subscribers.length > 0;
  next.queues.set(name, {
    name,
    options,
    messages: [],
    subscribers,
    formerSubscribers: [],
    wasRecreated,
    servedThisRound: undefined,
  });
  return next;
}

export function deadLetterQueueOptions({ options }: Queue): ModelQueueOptions {
  return {
    mode: 'RoundRobin',
    maxQueueSize: options.maxQueueSize,
    overflowStrategy: 'DropOldest',
    maxRetryAttempts: 3,
    enableDeadLetterQueue: false,
    deadLetterQueue: '',
    deadLetterQueueName: undefined,
  };
}

export function queueOf(state: State, name: string): Queue {
  const queue = state.queues.get(name);
  if (queue === undefined) throw new Error(`the model has no queue ${name}`);
  return queue;
}
