// PriorityBased: each message to one subscriber, the highest priority first, within a priority in the order of publishing.

import { PriorityOrder } from '../waiting-messages.ts';
import { oneSubscriber } from './one-subscriber.ts';

export const priorityBased = oneSubscriber(() => new PriorityOrder());
