// What a broker shows, for tests of the HTTP servers: statistics, each with another value, so that a test sees which one is shown; and no queues.

import type { BrokerView, ShownStatistics } from '../http/broker-view.ts';

export const shownStatistics: ShownStatistics = {
  publishedCount: 11,
  deliveredCount: 12,
  acknowledgedCount: 13,
  retryCount: 14,
  deadLetteredCount: 15,
  errorsCount: 16,
  connectionsAcceptedCount: 17,
  connectionsRejectedCount: 18,
  activeConnectionCount: 19,
  queueCount: 20,
  inFlightCount: 21,
  averageDeliveryLatencyMs: 0.6986,
  deliveryLatency: { boundsMs: [1, 10], counts: [5, 4, 3], sumMs: 60 },
};

/** What is shown of the queues while the broker does not serve. */
export const noQueues: Pick<BrokerView, 'largestQueues' | 'queueFigures' | 'subscriberFigures'> = {
  largestQueues: () => undefined,
  queueFigures: () => undefined,
  subscriberFigures: () => undefined,
};
