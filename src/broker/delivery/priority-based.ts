// PriorityBased: each message to one subscriber, the highest priority first, within a priority in the order of publishing.
// Implements DELIVERY-031 and DELIVERY-033.

import { PriorityOrder, type WaitingMessages } from '../queue/waiting-order.ts';
import { OneSubscriber } from './one-subscriber.ts';

export class PriorityBased extends OneSubscriber {
  newWaitingMessages(): WaitingMessages {
    return new PriorityOrder();
  }
}
