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

/** What happens in one queue, for whoever watches the broker. Counters never fall while the queue exists, and begin at 0 when the broker starts. */
export type QueueFigures = QueueInfo & {
  /** Never used for another queue while the broker runs. */
  readonly id: number;
  /** Deliveries that are not settled. */
  readonly inFlightCount: number;
  /** Messages that entered it: published, dead-lettered into it, requeued. */
  readonly enteredCount: number;
  /** Deliveries sent, every attempt and every copy. */
  readonly deliveredCount: number;
  /** Acks that ended a delivery. */
  readonly acknowledgedCount: number;
  /** Dead letters among its messages, waiting or in flight. */
  readonly deadLetterCount: number;
  /** When its oldest waiting message was accepted, in milliseconds since 1970 in UTC; undefined: none waits. */
  readonly oldestWallAt: number | undefined;
};

/** One subscription of a queue, for whoever watches the broker. */
export type SubscriberFigures = {
  /** The number of its connection, as in the log. */
  readonly connection: number;
  readonly inFlightCount: number;
  /** The most deliveries that it may have in flight; undefined: no limit. */
  readonly window: number | undefined;
};
