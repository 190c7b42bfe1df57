// RoundRobin: each message to one subscriber, in the order of publishing, the subscribers in turn.

import { PublishOrder } from '../waiting-messages.ts';
import { oneSubscriber } from './one-subscriber.ts';

export const roundRobin = oneSubscriber(() => new PublishOrder());
