// Snapshot of a queue: what QueueInfo answers and the HTTP servers show. Type only.

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
