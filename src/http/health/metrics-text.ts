// The metrics as text for Prometheus and what reads the same format. The names follow the conventions of Prometheus: base units, counters that
// end in `_total`. Loaded by the first request for it, because the package below would delay each start of a broker. Implements METRICS-021.

import { Counter, Gauge, type Metric, type OpenMetricsContentType, Registry } from 'prom-client';
import type { LargestQueues } from '../../model/queue-info.ts';
import type { ShownStatistics } from '../broker-view.ts';
import { MAX_SHOWN_QUEUES, type MetricsFormat } from './metrics-format.ts';
import type { Moment } from './records.ts';

export type ShownMetrics = {
  readonly moment: Moment;
  /** Undefined while the broker does not serve. */
  readonly largest: LargestQueues | undefined;
};

/** The answer of GET /metrics/ in one of the text formats. */
export async function metricsTextResponse(
  { moment, largest }: ShownMetrics,
  format: Exclude<MetricsFormat, 'json'>,
): Promise<Response> {
  const registry = registryOf(moment, format);
  if (largest !== undefined) addQueues(registry, largest);
  const headers = { 'content-type': registry.contentType, 'cache-control': 'no-store', vary: 'accept' };
  return new Response(await registry.metrics(), { headers });
}

type AnyRegistry = Registry | Registry<OpenMetricsContentType>;

/** All metrics with their values at this moment. */
function registryOf(
  { stats, memory, uptimeMs }: Moment,
  format: Exclude<MetricsFormat, 'json'>,
): AnyRegistry {
  const registry = format === 'text' ? new Registry() : new Registry<OpenMetricsContentType>();
  if (format === 'openmetrics')
    (registry as Registry<OpenMetricsContentType>).setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const registers = [registry];
  const counter = (name: string, help: string, value: number): void => {
    new Counter({ name: `truemq_${name}_total`, help, registers }).inc(value);
  };
  const gauge = (name: string, help: string, value: number): void => {
    new Gauge({ name: `truemq_${name}`, help, registers }).set(value);
  };
  counter('messages_published', 'Publishes that were accepted as new messages.', stats.publishedCount);
  counter('messages_delivered', 'Deliver frames that were sent.', stats.deliveredCount);
  counter('messages_acknowledged', 'Acks that ended a delivery.', stats.acknowledgedCount);
  counter('delivery_retries', 'Deliver frames after the first attempt of a delivery.', stats.retryCount);
  counter(
    'messages_dead_lettered',
    'Messages that were moved to a dead letter queue.',
    stats.deadLetteredCount,
  );
  counter('errors', 'Error frames that were sent, and messages that were discarded.', stats.errorsCount);
  counter('connections_accepted', 'Client connections that were accepted.', stats.connectionsAcceptedCount);
  counter('connections_rejected', 'Client connections that were rejected.', stats.connectionsRejectedCount);
  gauge('connections', 'Client connections that are open.', stats.activeConnectionCount);
  gauge('queues', 'Queues that exist.', stats.queueCount);
  gauge('messages_in_flight', 'Deliveries that are not settled.', stats.inFlightCount);
  gauge('memory_resident_bytes', 'Resident memory of the process.', memory.residentBytes);
  gauge('memory_limit_bytes', 'Limit of the resident memory.', memory.residentLimitBytes);
  gauge(
    'delivery_latency_average_seconds',
    'Mean time from the acceptance of a message to its first Deliver.',
    stats.averageDeliveryLatencyMs / 1000,
  );
  gauge('uptime_seconds', 'Time since the start of the broker.', uptimeMs / 1000);
  addLimits(registry, stats.limitCounts);
  registry.registerMetric(latencyHistogram(stats.deliveryLatency, format));
  return registry;
}

/** Every limit has a series from the start: a rate over one that first appears with its first event would not see that event. */
function addLimits(registry: AnyRegistry, counts: ShownStatistics['limitCounts']): void {
  const name = 'truemq_limit_reached_total';
  const help = 'How often clients reached each limit.';
  const counter = new Counter({ name, help, labelNames: ['limit'], registers: [registry] });
  for (const [limit, count] of Object.entries(counts)) counter.inc({ limit }, count);
}

function addQueues(registry: AnyRegistry, { queues, waitingCount }: LargestQueues): void {
  const registers = [registry];
  const help = 'Messages that wait in all queues together.';
  new Gauge({ name: 'truemq_messages_waiting', help, registers }).set(waitingCount);
  const gaugeOf = (name: string, what: string): Gauge<'queue'> => {
    const text = `${what}, for the ${MAX_SHOWN_QUEUES} queues with the most waiting messages.`;
    return new Gauge({ name: `truemq_queue_${name}`, help: text, labelNames: ['queue'], registers });
  };
  const messages = gaugeOf('messages_waiting', 'Messages that wait in a queue');
  const subscribers = gaugeOf('subscribers', 'Subscribers of a queue');
  for (const { name, messageCount, subscriberCount } of queues) {
    messages.set({ queue: name }, messageCount);
    subscribers.set({ queue: name }, subscriberCount);
  }
}

/** A histogram of times that were counted elsewhere: the package has no other way to give it counts than one time after the other. */
function latencyHistogram(
  { boundsMs, counts, sumMs }: ShownStatistics['deliveryLatency'],
  format: Exclude<MetricsFormat, 'json'>,
): Metric {
  const name = 'truemq_delivery_latency_seconds';
  let count = 0;
  const buckets = counts.map((inBucket, index) => {
    const boundMs = boundsMs[index];
    count += inBucket;
    const le = boundMs === undefined ? '+Inf' : boundText(boundMs / 1000, format);
    return { metricName: `${name}_bucket`, labels: { le }, value: count };
  });
  const sums = [
    { metricName: `${name}_sum`, labels: {}, value: sumMs / 1000 },
    { metricName: `${name}_count`, labels: {}, value: count },
  ];
  const help = 'Time from the acceptance of a message to its first Deliver.';
  const shown = { name, help, type: 'histogram', values: [...buckets, ...sums] };
  return { name, get: async () => shown } as unknown as Metric;
}

/** OpenMetrics has one form for each number in a label, with a point: `1.0`. Ours, from half a millisecond to an hour, have no exponent. */
function boundText(seconds: number, format: Exclude<MetricsFormat, 'json'>): string {
  return format === 'openmetrics' && Number.isInteger(seconds) ? seconds.toFixed(1) : String(seconds);
}
