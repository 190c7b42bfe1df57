// FanOutWithoutAck: each message to every subscriber that takes it now, no ack asked for, done on sending. A subscriber
// that does not drain its connection misses the message, alone; whether one that was just sent its fill drains it is known when that
// has been written, and until then the message waits. Implements DELIVERY (FanOutWithoutAck).

import type { Queue } from '../queue.ts';
import { PublishOrder } from '../waiting-messages.ts';
import type { DeliveryModeRules, DeliveryTools } from './delivery-mode.ts';

export const fanOutWithoutAck: DeliveryModeRules = {
  newWaitingMessages: () => new PublishOrder(),
  takesAtOnce: (queue) => queue.waiting.size === 0 && queue.ready.size > 0 && !waitsForSaturated(queue),
  dispatch,
  attemptFailed: nothingIsInFlight,
  paused: nothingIsInFlight,
  ended: nothingIsInFlight,
  resume: nothingIsInFlight,
  left: () => 0,
  takePartlySent: () => false,
};

function dispatch(queue: Queue, { deliveries, settlement }: DeliveryTools): void {
  while (queue.ready.size > 0 && !waitsForSaturated(queue)) {
    const message = settlement.nextOffer(queue);
    if (message === undefined) return;
    queue.waiting.remove(message);
    const missedCount = queue.subscriptions.size - queue.ready.size;
    for (const subscription of queue.subscriptions) {
      if (!subscription.ready) continue;
      deliveries.sendUnconfirmed(queue, message, subscription);
      if (!subscription.hasRoom) queue.ready.remove(subscription);
    }
    settlement.sent(queue, message, missedCount);
  }
}

function waitsForSaturated(queue: Queue): boolean {
  if (queue.ready.size === queue.subscriptions.size) return false;
  for (const { connection } of queue.subscriptions) if (connection.isSaturated) return true;
  return false;
}

function nothingIsInFlight(): never {
  throw new Error('A queue without acknowledgments has nothing in flight.');
}
