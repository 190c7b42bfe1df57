// What the core counts. Counters never fall; gauges say what is. Implements METRICS (their meaning).

export type BrokerStats = {
  /** Publishes answered positively for new messages (METRICS-008). */
  publishedCount: number;
  /** Deliveries sent, every attempt and every copy (METRICS-009). */
  deliveredCount: number;
  /** Acks that ended a delivery (METRICS-010). */
  acknowledgedCount: number;
  /** Deliveries sent after the first one of a copy (METRICS-011). */
  retryCount: number;
  /** Moves into a dead letter queue (METRICS-012). */
  deadLetteredCount: number;
  /** Messages thrown away: pushed out, expired or out of attempts without a dead letter queue, missed by a subscriber. */
  discardedCount: number;
  /** Messages taken out of their queue by an operator: by a purge, or one by one. */
  purgedCount: number;
  /** Dead letters moved back to their source queue by an operator. */
  requeuedCount: number;
  /** Messages that were delivered at least once. */
  firstDeliveryCount: number;
  /** Deliveries that are not settled now (METRICS-014). */
  inFlightCount: number;
  /** What all held messages weigh now. */
  queuedBytes: number;
  /** What queues, subscriptions, deliveries in flight and repeats of blocked publishes weigh now. */
  structureBytes: number;
};

export function emptyStats(): BrokerStats {
  return {
    publishedCount: 0,
    deliveredCount: 0,
    acknowledgedCount: 0,
    retryCount: 0,
    deadLetteredCount: 0,
    discardedCount: 0,
    purgedCount: 0,
    requeuedCount: 0,
    firstDeliveryCount: 0,
    inFlightCount: 0,
    queuedBytes: 0,
    structureBytes: 0,
  };
}
