// RoundRobin: each message to one subscriber, in the order of publishing, the subscribers in turn. Implements DELIVERY-011.

import { PublishOrder, type WaitingMessages } from '../queue/waiting-order.ts';
import { OneSubscriber } from './one-subscriber.ts';

export class RoundRobin extends OneSubscriber {
  newWaitingMessages(): WaitingMessages {
    return new PublishOrder();
  }
}
