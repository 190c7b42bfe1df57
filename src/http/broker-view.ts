// What the HTTP servers may see of the broker: its statistics, and whether it serves. Read only. The gateway implements it.
// Implements METRICS and HEALTH where they say what is shown.

import type { BrokerStatistics, Readiness } from '../gateway/gateway.ts';

/** The statistics that are shown; what each counts is said where it is counted. */
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
  /** The statistics now. Cheap: it is called for every HTTP request. */
  stats(): ShownStatistics;
  /** Whether clients are served now (HEALTH-011). */
  readiness(): Readiness;
};
