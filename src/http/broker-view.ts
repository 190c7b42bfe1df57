// What the HTTP servers may see of the broker: figures and whether it serves, read only. The engine implements it; nothing here knows how. Counters
// never fall while the broker runs (METRICS-007); what each figure counts is said at its field. Area METRICS.

/** The figures of one moment. */
export type BrokerStats = {
  /** PublishAcks for new messages (METRICS-008). */
  readonly publishedCount: number;
  /** Deliver frames (METRICS-009). */
  readonly deliveredCount: number;
  /** Acks that ended a delivery (METRICS-010). */
  readonly acknowledgedCount: number;
  /** Deliver frames after the first of a copy (METRICS-011). */
  readonly retryCount: number;
  /** Moves into a dead letter queue (METRICS-012). */
  readonly deadLetteredCount: number;
  /** Error frames sent, and messages discarded or pushed out (METRICS-013). */
  readonly errorsCount: number;
  readonly connectionsAcceptedCount: number;
  readonly connectionsRejectedCount: number;

  /** Client connections open now. */
  readonly activeConnectionCount: number;
  readonly queueCount: number;
  /** Deliveries that are not settled (METRICS-014). */
  readonly inFlightCount: number;

  /** Mean time from acceptance to first Deliver, in fractional milliseconds; 0 before the first (METRICS-015). */
  readonly averageDeliveryLatencyMs: number;
};

export type Readiness =
  | { readonly ready: true }
  /** `reason` is for people. */
  | { readonly ready: false; readonly reason: string };

export type BrokerView = {
  /** The figures now. Cheap: it is called for every HTTP request. */
  stats(): BrokerStats;
  /** Whether clients are served now (HEALTH-011). */
  readiness(): Readiness;
};
