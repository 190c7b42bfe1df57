// The part of the broker that the HTTP servers may use: its statistics, and whether it serves. Read only. The gateway implements it.
// Implements METRICS-002 to METRICS-006 and HEALTH-011 on the broker's side.

import type { BrokerStatistics, Readiness } from '../gateway/gateway.ts';

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
>;

export type BrokerView = {
  /** The current statistics. Cheap: called for every HTTP request. */
  stats(): ShownStatistics;
  /** Whether clients are served now (HEALTH-011). */
  readiness(): Readiness;
};
