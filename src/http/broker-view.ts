// The part of the broker that the HTTP servers may use: its statistics, whether it serves, and, for the dashboard, what an operator may ask.
// The gateway implements it.
// Implements METRICS-002 to METRICS-006 and HEALTH-011 on the broker's side.

import type { BrokerStatistics, Readiness } from '../gateway/gateway.ts';
import type { Operator } from '../gateway/operator.ts';
import type { LargestQueues, QueueFigures, SubscriberFigures } from '../model/queue-info.ts';

/** The published statistics; each is described where it is counted. */
export type ShownStatistics = Pick<
  BrokerStatistics,
  | 'publishedCount'
  | 'deliveredCount'
  | 'acknowledgedCount'
  | 'retryCount'
  | 'deadLetteredCount'
  | 'errorsCount'
  | 'connectionsAcceptedCount'
  | 'connectionsRejectedCount'
  | 'activeConnectionCount'
  | 'queueCount'
  | 'inFlightCount'
  | 'averageDeliveryLatencyMs'
  | 'deliveryLatency'
  | 'limitCounts'
>;

export type BrokerView = {
  /** The current statistics. Cheap: called for every HTTP request. */
  stats(): ShownStatistics;
  /** At most `limit` queues, those with the most waiting messages; undefined while the broker does not serve. */
  largestQueues(limit: number): LargestQueues | undefined;
  /** All queues, in the order of their creation; undefined while the broker does not serve. Milliseconds with ten thousand queues. */
  queueFigures(): readonly QueueFigures[] | undefined;
  /**
   * At most `limit` subscriptions of the queue, in the order in which they were made: none if no queue has that name; undefined while the
   * broker does not serve.
   */
  subscriberFigures(queue: string, limit: number): readonly SubscriberFigures[] | undefined;
  /** Whether clients are served now (HEALTH-011). */
  readiness(): Readiness;
};

/** What the live streams of the dashboard look at. */
export type LiveView = Pick<BrokerView, 'stats' | 'readiness' | 'queueFigures' | 'subscriberFigures'>;

/** What the dashboard may ask; each method says what it answers. */
export type OperatorView = Pick<
  Operator,
  | 'listQueues'
  | 'queueInfo'
  | 'listMessages'
  | 'readMessage'
  | 'removeMessage'
  | 'requeueMessage'
  | 'purgeQueue'
  | 'deleteQueue'
>;
