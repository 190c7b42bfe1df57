// Snapshots of queues: what QueueInfo answers and the HTTP servers show. Types only.

import type { QueueOptions } from './queue-options.ts';

export type QueueInfo = {
  readonly name: string;
  /** Messages that wait; those in flight do not count (QUEUE-008). */
  readonly messageCount: number;
  readonly subscriberCount: number;
  /** When it was created, in milliseconds since 1970 in UTC. */
  readonly createdWallAt: number;
  readonly options: QueueOptions;
};

/** The queues with the most waiting messages, the largest first; of equal ones, those that were created first. */
export type LargestQueues = {
  readonly queues: readonly QueueInfo[];
  /** Messages that wait in all queues together. */
  readonly waitingCount: number;
};
