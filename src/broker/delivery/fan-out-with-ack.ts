// FanOutWithAck: each message to every subscriber present when it is first sent; each acknowledges its own copy. A member
// without room gets its copy as soon as it has; until every copy is sent the message counts as waiting.
// Implements DELIVERY (FanOutWithAck) and DLQ (once, however many failed).

import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import type { Deliveries } from '../deliveries.ts';
import type { Delivery } from '../delivery.ts';
import type { QueuedMessage } from '../message.ts';
import type { Queue } from '../queue.ts';
import type { Settlement } from '../settlement.ts';
import type { Subscription } from '../subscription.ts';
import { PublishOrder } from '../waiting-messages.ts';
import type { DeliveryModeRules, DeliveryTools, Ending } from './delivery-mode.ts';
import { FanOut } from './fan-out.ts';

export const fanOutWithAck: DeliveryModeRules = {
  newWaitingMessages: () => new PublishOrder(),
  takesAtOnce: (queue) =>
    queue.waiting.size === 0 &&
    queue.owed.length === 0 &&
    queue.ready.size > 0 &&
    queue.ready.size === queue.subscriptions.size,
  dispatch,
  attemptFailed: ({ message }) => {
    message.cutShortCount = 0;
  },
  paused: () => undefined,
  ended,
  resume,
  left,
  takePartlySent,
};

const NOTHING_BEFORE = { attempts: 0, failedAttempts: 0 };

function dispatch(queue: Queue, tools: DeliveryTools): void {
  const { deliveries, settlement } = tools;
  sendAllOwed(queue, tools);
  if (queue.owed.length > 0) return;
  while (queue.ready.size > 0) {
    const message = settlement.nextOffer(queue);
    if (message === undefined) return;
    begin(queue, message, deliveries);
  }
}

/** Members that must wait until an expired message has left the queue stay in `queue.owed`, so that theirs come in order. */
function sendAllOwed(queue: Queue, tools: DeliveryTools): void {
  const delayed: Subscription[] = [];
  for (let member = queue.owed.pop(); member !== undefined; member = queue.owed.pop()) {
    if (!sendOwed(queue, member, tools)) delayed.push(member);
  }
  queue.owed.push(...delayed);
}

/** Sends the copies that a member is owed, as far as it has room. False when the next one is of an expired message. */
function sendOwed(queue: Queue, member: Subscription, { deliveries, settlement }: DeliveryTools): boolean {
  while (member.hasRoom) {
    const fanOut = queue.owedCopies.first(member);
    if (fanOut === undefined) return true;
    const { message } = fanOut;
    if (settlement.isExpired(queue, message)) return false;
    queue.owedCopies.advance(member);
    fanOut.unsentCount -= 1;
    fanOut.openCount += 1;
    if (fanOut.unsentCount === 0) allSent(queue, message);
    deliveries.send(queue, message, member, NOTHING_BEFORE);
  }
  return true;
}

/** Makes everybody present a member and sends the first copies. */
function begin(queue: Queue, message: QueuedMessage, deliveries: Deliveries): void {
  queue.waiting.remove(message);
  const fanOut = new FanOut(message);
  message.fanOut = fanOut;
  for (const member of queue.subscriptions) {
    if (member.ready) {
      fanOut.openCount += 1;
      deliveries.send(queue, message, member, NOTHING_BEFORE);
    } else {
      fanOut.unsentCount += 1;
      queue.owedCopies.owe(member, fanOut);
    }
  }
  if (fanOut.unsentCount === 0) {
    message.move('deliver');
    return;
  }
  queue.owedCopies.append(fanOut);
  queue.partlySent.insert(message);
}

function ended(delivery: Delivery, ending: Ending, { settlement }: DeliveryTools): void {
  const { queue, message } = delivery;
  const fanOut = fanOutOf(message);
  fanOut.openCount -= 1;
  switch (ending.kind) {
    case 'acknowledged':
      fanOut.acknowledged = true;
      break;
    case 'failed':
      fanOut.failure ??= { reason: ending.reason, attempts: delivery.failedAttempts };
      break;
    case 'gone':
      fanOut.cutShort ||= ending.cutShort;
  }
  if (fanOut.hasEnded) settle(queue, message, settlement);
}

/** A retry goes to the member that did not acknowledge, and only to it; while that one takes nothing, it stays due. */
function resume(delivery: Delivery, tools: DeliveryTools): void {
  const { subscription } = delivery;
  if (!subscription.active) {
    tools.deliveries.remove(delivery);
    ended(delivery, { kind: 'gone', cutShort: false }, tools);
  } else if (subscription.connection.writable) tools.deliveries.resend(delivery);
  else subscription.connection.overdue.add(delivery);
}

function left(queue: Queue, member: Subscription, most: number, tools: DeliveryTools): number {
  for (const delivery of [...member.connection.overdue]) {
    if (delivery.subscription === member) resume(delivery, tools);
  }
  queue.owedCopies.end(member);
  let count = 0;
  for (; count < most; count += 1) {
    const fanOut = queue.owedCopies.first(member);
    if (fanOut === undefined) break;
    queue.owedCopies.advance(member);
    copyLost(queue, fanOut, tools.settlement);
  }
  return count;
}

/** A copy that was owed will never be sent. */
function copyLost(queue: Queue, fanOut: FanOut, settlement: Settlement): void {
  const { message } = fanOut;
  fanOut.unsentCount -= 1;
  if (fanOut.unsentCount > 0) return;
  allSent(queue, message);
  if (fanOut.hasEnded) settle(queue, message, settlement);
}

function takePartlySent(
  queue: Queue,
  message: QueuedMessage,
  failure: DeadLetterReason | undefined,
  settlement: Settlement,
): boolean {
  const { fanOut } = message;
  if (fanOut === undefined || fanOut.unsentCount === 0) return false;
  fanOut.unsentCount = 0;
  fanOut.unsentTaken = true;
  if (failure !== undefined) fanOut.failure ??= { reason: failure, attempts: 0 };
  allSent(queue, message);
  if (fanOut.hasEnded) settle(queue, message, settlement);
  return true;
}

/** No copy is owed to anybody any more: the message has stopped waiting. */
function allSent(queue: Queue, message: QueuedMessage): void {
  queue.partlySent.remove(message);
  queue.owedCopies.remove(fanOutOf(message));
  message.move('deliver');
}

/** The last copy has ended; what becomes of the message is decided by how all of them did. */
function settle(queue: Queue, message: QueuedMessage, settlement: Settlement): void {
  const { failure, acknowledged, unsentTaken, cutShort } = fanOutOf(message);
  if (failure !== undefined) settlement.giveUp(queue, message, failure.reason, failure.attempts);
  else if (acknowledged) settlement.acknowledge(queue, message);
  else if (unsentTaken) settlement.dropRest(queue, message);
  else settlement.waitAgain(queue, message, cutShort);
}

function fanOutOf(message: QueuedMessage): FanOut {
  if (message.fanOut === undefined) throw new Error(`Message ${message.id} was never fanned out.`);
  return message.fanOut;
}
