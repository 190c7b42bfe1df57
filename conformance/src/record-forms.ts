// What the records that a broker writes have in common: the form of a time, and the fields of the metrics record. Data only. Areas: BODY,
// METRICS.

/** ISO 8601 in UTC (BODY-041). */
export const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?(Z|\+00:00)$/;

/** The numbers of the shorter form of the metrics record. */
export const shorterMetrics: readonly string[] = [
  'total_messages_published',
  'total_messages_delivered',
  'total_messages_acknowledged',
  'active_connections',
  'active_queues',
  'memory_usage_bytes',
  'average_delivery_latency_ms',
];

/** The fields that only the complete form of the metrics record has. */
export const additionalMetrics: readonly string[] = [
  'total_retries',
  'total_dead_lettered',
  'total_errors',
  'total_connections_accepted',
  'total_connections_rejected',
  'in_flight_messages',
];
