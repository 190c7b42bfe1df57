// What RoundRobin and PriorityBased share: each message is with one subscriber at a time, the subscribers take turns, and
// a retry goes to another one where there is one. Implements DELIVERY (one subscriber) and RETRY (another subscriber).

import type { Delivery } from '../delivery.ts';
import type { Queue } from '../queue.ts';
import type { WaitingMessages } from '../waiting-messages.ts';
import type { DeliveryModeRules, DeliveryTools, Ending } from './delivery-mode.ts';

/** The rules of a mode that gives each message to one subscriber, in the order that the waiting messages have. */
export function oneSubscriber(newWaitingMessages: () => WaitingMessages): DeliveryModeRules {
  return {
    newWaitingMessages,
    takesAtOnce: (queue) => queue.waiting.size === 0 && queue.ready.size > 0,
    dispatch,
    attemptFailed,
    paused: ({ message }) => message.move('pause'),
    ended,
    resume,
    left: () => 0,
    takePartlySent: () => false,
  };
}

function dispatch(queue: Queue, { deliveries, settlement }: DeliveryTools): void {
  for (;;) {
    const subscription = queue.ready.first();
    if (subscription === undefined) return;
    const message = settlement.nextOffer(queue);
    if (message === undefined) return;
    queue.waiting.remove(message);
    message.move('deliver');
    queue.ready.served(subscription);
    deliveries.send(queue, message, subscription, earlierOf(message));
  }
}

function attemptFailed(delivery: Delivery, { settlement }: DeliveryTools): void {
  delivery.message.failedAttempts = delivery.failedAttempts;
  delivery.message.cutShortCount = 0;
  settlement.attemptFailed(delivery.queue, delivery.message);
}

function ended({ queue, message }: Delivery, ending: Ending, { settlement }: DeliveryTools): void {
  switch (ending.kind) {
    case 'acknowledged':
      settlement.acknowledge(queue, message);
      return;
    case 'failed':
      settlement.giveUp(queue, message, ending.reason, message.failedAttempts);
      return;
    case 'gone':
      settlement.waitAgain(queue, message, ending.cutShort);
  }
}

function resume(delivery: Delivery, { deliveries, settlement }: DeliveryTools): void {
  const { queue, message, subscription } = delivery;
  const other = queue.ready.firstOtherThan(subscription);
  if (other !== undefined) {
    queue.ready.served(other);
    deliveries.remove(delivery);
    message.move('resend');
    deliveries.send(queue, message, other, earlierOf(message));
  } else if (subscription.active && subscription.connection.writable) {
    message.move('resend');
    deliveries.resend(delivery);
  } else {
    deliveries.remove(delivery);
    settlement.waitAgain(queue, message, false);
  }
}

function earlierOf(message: { readonly sentCount: number; readonly failedAttempts: number }) {
  return { attempts: message.sentCount, failedAttempts: message.failedAttempts };
}
