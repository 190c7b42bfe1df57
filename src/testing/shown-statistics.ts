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
  limitCounts: {
    messageSize: 0,
    malformedMessages: 21,
    messageRate: 22,
    passwordChecks: 23,
    refusals: 24,
    queuesAndSubscriptions: 25,
    fullQueues: 26,
    memory: 27,
    connections: 28,
    connectionsPerAddress: 29,
    handshakeTimeout: 30,
    frameTimeout: 31,
    idleTimeout: 32,
    pendingInput: 33,
    unsentOutput: 34,
    bufferedBytes: 35,
    usersAndPermissions: 36,
  },
  deliveryLatency: { boundsMs: [1, 10], counts: [5, 4, 3], sumMs: 60 },
};

/** What is shown of the queues while the broker does not serve. */
export const noQueues: Pick<BrokerView, 'largestQueues' | 'queueFigures' | 'subscriberFigures'> = {
  largestQueues: () => undefined,
  queueFigures: () => undefined,
  subscriberFigures: () => undefined,
};
