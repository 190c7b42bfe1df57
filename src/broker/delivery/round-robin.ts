// RoundRobin: each message to one subscriber, in the order of publishing, the subscribers in turn. Implements DELIVERY-011.

import type { Packer } from '../queue/waiting-list.ts';
import { PublishOrder, type WaitingMessages } from '../queue/waiting-order.ts';
import { OneSubscriber } from './one-subscriber.ts';

export class RoundRobin extends OneSubscriber {
  newWaitingMessages(packer: Packer | undefined): WaitingMessages {
    return new PublishOrder(packer);
  }
}
