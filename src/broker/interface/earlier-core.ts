// What a new core takes over from the one before it in the same process, so that what whoever watches the broker sees goes on. Types only.

import type { QueueFigures } from '../../model/queue-info.ts';
import type { BrokerStats } from './stats.ts';
import type { Generation } from './store-record.ts';

export type QueueCounts = Pick<QueueFigures, 'id' | 'enteredCount' | 'deliveredCount' | 'acknowledgedCount'>;

export type EarlierCore = {
  /** Its counters, and gauges of 0. */
  readonly stats: BrokerStats;
  /** Those of its queues, which go on in the queues that are recovered. */
  readonly queues: readonly QueueCounts[];
  /** The highest that it has given, also to a queue that the store does not know: a new queue gets a higher one. */
  readonly lastGeneration: Generation;
};
