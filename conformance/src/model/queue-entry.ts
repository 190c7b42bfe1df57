// How a message may enter a queue: at once, pushing another out, going to the dead letters instead, or not at all. Each function gives
// every state that may follow. Areas: PUBLISH, OVERFLOW, DLQ.
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

/** The states after a Publish to a queue that exists, each with the answer that goes with it. */
export function afterPublish(state: State, publication: Publication): readonly State[] {
  const queue = state.queues.get(publication.queue);
  if (queue === undefined) return [];
  const twin = queue.messages.find(
    ({ content, deadLetter }) => content.id === publication.content.id && deadLetter === undefined,
  );
  if (twin === undefined) return admit(state, publication);
  const clause = twin.phase === 'waiting' && twin.copies === undefined ? 'PUBLISH-005' : 'PUBLISH-006';
  const text = 'a repeat is taken for a message of its own';
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

/** From a moment at which all subscribers are idle, messages published one after another go one to each. */
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
      const positive = { clause: 'OVERFLOW-008', text: 'DropNewest answers PublishAck for what it drops' };
      return [{ ...copyOf(state), answer: 'either', onAnswer: { positive } }];
    }
    case 'RedirectToDlq':
      return redirected(state, publication);
    case 'BlockPublisher':
      throw new Error('scenarios block no publisher');
  }
}

/** The earliest published message leaves; of one that was sent to some members, the copies not yet sent. */
function afterEviction(state: State, name: string): readonly State[] {
  const queue = queueOf(state, name);
  const oldest = oldestOf(queue);
  const partly = queue.messages.filter(({ copies }) => copies?.some(({ phase }) => phase === 'owed'));
  // What pauses may be due, and wait for room.
  const paused = queue.messages.filter(({ phase }) => phase === 'paused');
  const others = [
    ...partly.map((message) => withoutUnsentCopies(state, name, message.serial)),
    ...paused.map((message) => withoutMessage(state, name, message.serial)),
  ];
  if (oldest.length + others.length === 0) return [copyOf(state)];
  return [...oldest.map(({ serial }) => withoutMessage(state, name, serial)), ...others];
}

/** Of dead letters the one that entered first, or the one that was published first: the text says only which is the oldest. */
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
 * A message that is in no queue any more becomes a dead letter, or is gone where its queue has no dead letters or it was one already.
 * A full dead letter queue pushes out its oldest, unless a subscriber takes the letter at once.
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

/** A dead letter queue is recommended to have the size of its source; what a full one does, too. */
function roomFor(state: State, to: Queue): readonly State[] {
  const { max } = waitingRange(to);
  if (max < to.options.maxQueueSize) return [state];
  const roomier = withDifference(copyOf(state), {
    clause: 'DLQ-006',
    text: 'a dead letter queue has not the size of its source',
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
  const { content, failedCount, serial } = message;
  const added = newMessage(state, queue, { queue: name, content, publisher: undefined, at });
  queue.servedThisRound = undefined;
  queue.messages.push({
    ...added,
    deadLetter: { reason, source, attempts: failedCount, publishedAs: serial },
  });
  return state;
}

/** A state in which the queue exists; subscriptions that were waiting for it come alive. */
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
