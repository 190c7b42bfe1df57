// How waiting messages reach subscribers in the naive broker, mode by mode, and how blocked publishes follow them (DELIVERY, OVERFLOW). Run
// after every input until nothing changes.

import { addMessage, canEnter, removeMessage } from './giving-up.ts';
import {
  endTurn,
  hasRoom,
  type NaiveBlocked,
  type NaiveCopy,
  type NaiveMessage,
  type NaiveQueue,
  type NaiveState,
  type NaiveSubscription,
  nextOrder,
  offerableMessages,
  rotationOf,
  subscriptionsOf,
} from './state.ts';

/** Delivers everything that can be delivered and lets in every blocked publish that finds room. */
export function offerEverything(state: NaiveState): void {
  if (state.draining) return;
  const changed = [...state.changed].filter((queue) => state.queues.includes(queue));
  for (const queue of new Set([...changed, ...state.queues])) {
    while (offerFrom(state, queue) || unblockOne(state, queue));
  }
  state.changed.clear();
}

/** Delivers everything of the queue that can be delivered; tells whether there was anything. */
export function offerFrom(state: NaiveState, queue: NaiveQueue): boolean {
  let offered = false;
  while (!state.draining && offerOne(state, queue)) offered = true;
  return offered;
}

function offerOne(state: NaiveState, queue: NaiveQueue): boolean {
  switch (queue.options.mode) {
    case 0:
    case 3:
      return offerToOne(state, queue);
    case 1:
      return sendUnsentCopy(state, queue) || offerToMembers(state, queue);
    case 2:
      return offerWithoutAck(state, queue);
  }
}

function offerToOne(state: NaiveState, queue: NaiveQueue): boolean {
  const [next] = rotationOf(state, queue);
  const message = offerableMessages(state, queue)[0];
  if (next === undefined || message === undefined) return false;
  sendTo(state, queue, message, next);
  return true;
}

/** Sends a message of which there is one copy at a time, and ends the turn of the subscription, if it is its turn. */
export function sendTo(
  state: NaiveState,
  queue: NaiveQueue,
  message: NaiveMessage,
  subscription: NaiveSubscription,
): void {
  endTurn(state, queue, subscription);
  const copy = newCopy(subscription);
  copy.failedCount = message.failedCount;
  copy.sentCount = message.sentCount;
  message.copies = [copy];
  send(state, queue, message, copy);
}

function sendUnsentCopy(state: NaiveState, queue: NaiveQueue): boolean {
  const active = [...queue.messages].sort((a, b) => a.activationOrder - b.activationOrder);
  for (const message of active) {
    for (const copy of message.copies) {
      if (copy.state !== 'unsent' || !hasRoom(state, queue, copy.subscription)) continue;
      send(state, queue, message, copy);
      return true;
    }
  }
  return false;
}

function offerToMembers(state: NaiveState, queue: NaiveQueue): boolean {
  const message = offerableMessages(state, queue)[0];
  const members = subscriptionsOf(state, queue);
  if (message === undefined || !members.some((one) => hasRoom(state, queue, one))) return false;
  message.copies = members.map((member) => newCopy(member, message.sendings));
  message.activationOrder = nextOrder(state);
  return true;
}

function offerWithoutAck(state: NaiveState, queue: NaiveQueue): boolean {
  const message = offerableMessages(state, queue)[0];
  const all = subscriptionsOf(state, queue);
  const reading = all.filter((one) => one.connection.writable);
  if (message === undefined || reading.length === 0) return false;
  for (const subscription of reading) send(state, queue, message, newCopy(subscription));
  state.counters.discardedCount += all.length - reading.length;
  removeMessage(queue, message);
  return true;
}

function newCopy(subscription: NaiveSubscription, sentBefore = 0): NaiveCopy {
  return {
    subscription,
    sentBefore,
    state: 'unsent',
    sentCount: 0,
    failedCount: 0,
    cutShort: false,
    sentAt: 0,
    sendOrder: 0,
    timerAt: 0,
    overdue: false,
    timerOrder: 0,
  };
}

export function send(state: NaiveState, queue: NaiveQueue, message: NaiveMessage, copy: NaiveCopy): void {
  copy.state = 'sent';
  copy.overdue = false;
  copy.sentCount += 1;
  copy.sentAt = state.now;
  if (copy.sendOrder === 0) copy.sendOrder = nextOrder(state);
  copy.timerAt = state.now + state.settings.ackTimeoutMs;
  copy.timerOrder = nextOrder(state);
  if (queue.options.mode !== 1) message.sentCount = copy.sentCount;
  count(state, message, copy);
  queue.history.push('delivered');
  state.effects.push({
    kind: 'deliver',
    connection: copy.subscription.connection.id,
    queue: queue.name,
    id: message.id,
    content: message.content,
    attempt: copy.sentBefore + copy.sentCount,
    deadLetter: message.deadLetter,
  });
}

function count({ counters }: NaiveState, message: NaiveMessage, copy: NaiveCopy): void {
  counters.deliveredCount += 1;
  if (copy.sentCount > 1) counters.retryCount += 1;
  if (message.sendings === 0) counters.firstDeliveryCount += 1;
  message.sendings += 1;
}

function unblockOne(state: NaiveState, queue: NaiveQueue): boolean {
  const first = queue.blocked[0];
  if (first === undefined || !canEnter(state, queue)) return false;
  queue.blocked = queue.blocked.slice(1);
  acceptBlocked(state, queue, first);
  return true;
}

function acceptBlocked(state: NaiveState, queue: NaiveQueue, blocked: NaiveBlocked): void {
  addMessage(state, queue, blocked, undefined);
  state.counters.publishedCount += 1;
  for (const { connection, token } of blocked.askers) {
    state.effects.push({ kind: 'answered', connection: connection.id, token });
  }
}
