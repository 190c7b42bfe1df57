// How messages leave their queue without an ack in the naive broker, and how one enters: discarded, evicted, expired, waiting again, or
// dead-lettered (DLQ, OVERFLOW, TTL).

import type { DeadLetterFacts } from '../../broker/interface/message-content.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import { deadLetterName, deadLetterOptions } from './options.ts';
import {
  findQueue,
  hasRoom,
  isTooOld,
  isWaiting,
  type NaiveFailure,
  type NaiveMessage,
  type NaiveQueue,
  type NaiveState,
  nextOrder,
  offerableMessages,
  retryDelay,
  subscriptionsOf,
  waitingMessages,
} from './state.ts';

export function createQueue(state: NaiveState, name: string, options: QueueOptions): NaiveQueue {
  state.createdCount += 1;
  const queue: NaiveQueue = {
    id: state.createdCount,
    name,
    options,
    createdWallAt: state.wallNow,
    messages: [],
    blocked: [],
    lastPlace: -1,
    history: [],
  };
  state.queues.push(queue);
  if (options.enableDeadLetterQueue) deadLetterQueueFor(state, queue);
  return queue;
}

/** The dead letter queue of a queue that has one; made again where it is missing. */
export function deadLetterQueueFor(state: NaiveState, source: NaiveQueue): NaiveQueue {
  const name = deadLetterName(source.name, source.options);
  return findQueue(state, name) ?? createQueue(state, name, deadLetterOptions(source.options));
}

export function removeMessage(queue: NaiveQueue, message: NaiveMessage): void {
  queue.messages = queue.messages.filter((one) => one !== message);
}

/** The message leaves for good: on its way to the dead letter queue where there is one and it was in none before. */
export function giveUp(
  state: NaiveState,
  queue: NaiveQueue,
  message: NaiveMessage,
  failure: NaiveFailure,
): void {
  removeMessage(queue, message);
  state.changed.add(queue);
  if (queue.options.enableDeadLetterQueue && message.deadLetter === undefined) {
    state.deadLetters.push({ source: queue, message, failure });
  } else {
    state.counters.discardedCount += 1;
  }
}

export function addMessage(
  state: NaiveState,
  queue: NaiveQueue,
  message: Pick<NaiveMessage, 'id' | 'priority' | 'content'>,
  deadLetter: DeadLetterFacts | undefined,
): void {
  queue.history.push('entered');
  state.changed.add(queue);
  queue.messages.push({
    order: nextOrder(state),
    id: message.id,
    priority: message.priority,
    content: message.content,
    acceptedAt: state.now,
    acceptedWallAt: state.wallNow,
    deadLetter,
    sendings: 0,
    sentCount: 0,
    failedCount: 0,
    pushedOut: false,
    cutShortCount: 0,
    heldUntil: state.now,
    copies: [],
    activationOrder: 0,
    firstFailure: undefined,
  });
}

/** Whether a new message finds room: the queue is not full, or subscribers would take the message at once and whole. */
export function canEnter(state: NaiveState, queue: NaiveQueue): boolean {
  return waitingMessages(queue).length < queue.options.maxQueueSize || wouldBeTaken(state, queue);
}

function wouldBeTaken(state: NaiveState, queue: NaiveQueue): boolean {
  if (state.draining || offerableMessages(state, queue).length > 0) return false;
  const subscriptions = subscriptionsOf(state, queue);
  switch (queue.options.mode) {
    case 0:
    case 3:
      return subscriptions.some((one) => hasRoom(state, queue, one));
    case 1:
      return subscriptions.length > 0 && subscriptions.every((one) => hasRoom(state, queue, one));
    case 2:
      return subscriptions.some((one) => one.connection.writable);
  }
}

/** The earliest accepted of everything that waits leaves; of a FanOutWithAck message only the copies not yet sent. */
export function pushOutOldest(state: NaiveState, queue: NaiveQueue): void {
  const oldest = waitingMessages(queue).sort((a, b) => a.order - b.order)[0];
  if (oldest === undefined) return;
  state.counters.discardedCount += 1;
  takeWaiting(state, queue, oldest);
}

/** Everything that waits leaves. */
export function purge(state: NaiveState, queue: NaiveQueue): void {
  for (const message of waitingMessages(queue)) removeWaiting(state, queue, message);
}

/** An operator removes a message that waits. */
export function removeWaiting(state: NaiveState, queue: NaiveQueue, message: NaiveMessage): void {
  state.counters.purgedCount += 1;
  takeWaiting(state, queue, message);
}

function takeWaiting(state: NaiveState, queue: NaiveQueue, message: NaiveMessage): void {
  if (message.copies.length === 0) {
    removeMessage(queue, message);
    return;
  }
  message.pushedOut = true;
  for (const copy of message.copies) if (copy.state === 'unsent') copy.state = 'ended';
  finishIfEnded(state, queue, message);
}

/** FanOutWithAck: ends the message once every copy has ended. */
export function finishIfEnded(state: NaiveState, queue: NaiveQueue, message: NaiveMessage): void {
  const open = message.copies.filter((copy) => ['unsent', 'sent', 'paused'].includes(copy.state));
  if (open.length > 0 || !queue.messages.includes(message)) return;
  if (message.firstFailure !== undefined) giveUp(state, queue, message, message.firstFailure);
  else if (message.pushedOut || message.copies.some((copy) => copy.state === 'acknowledged')) {
    removeMessage(queue, message);
    state.changed.add(queue);
  } else
    waitAgain(
      state,
      queue,
      message,
      message.copies.some((copy) => copy.cutShort),
    );
}

/** The message waits in its old place, with a backoff if it was interrupted too often in a row. */
export function waitAgain(
  state: NaiveState,
  queue: NaiveQueue,
  message: NaiveMessage,
  cutShort: boolean,
): void {
  message.copies = [];
  state.changed.add(queue);
  message.cutShortCount = cutShort ? message.cutShortCount + 1 : 0;
  if (message.cutShortCount > 1) message.heldUntil = state.now + retryDelay(state, message.cutShortCount);
  if (!state.draining && isTooOld(state, queue, message)) expire(state, queue, message);
}

/** The time to live is over: what has not been sent is given up; what is in flight is left alone. */
export function expire(state: NaiveState, queue: NaiveQueue, message: NaiveMessage): void {
  if (!isWaiting(message)) return;
  if (message.copies.length === 0) {
    giveUp(state, queue, message, { reason: 'MessageExpired', attempts: message.failedCount });
    return;
  }
  for (const copy of message.copies) {
    if (copy.state !== 'unsent') continue;
    copy.state = 'failed';
    message.firstFailure ??= { reason: 'MessageExpired', attempts: copy.failedCount };
  }
  finishIfEnded(state, queue, message);
}
