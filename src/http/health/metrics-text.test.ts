// The metrics as text, read by a parser of another project, and when a client gets them.

import parsePrometheusText from 'parse-prometheus-text-format';
import { describe, expect, it } from 'vitest';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { shownStatistics } from '../../testing/shown-statistics.ts';
import { metricsFormatFor } from './metrics-format.ts';
import { metricsTextResponse, type ShownMetrics } from './metrics-text.ts';
import type { Moment } from './records.ts';

const moment: Moment = {
  stats: shownStatistics,
  memory: { residentBytes: 1000, residentLimitBytes: 2000, heapUsedBytes: 1, heapLimitBytes: 2 },
  wallNow: 0,
  uptimeMs: 1500,
};
const queueOf = (name: string, messageCount: number, subscriberCount: number) => ({
  name,
  messageCount,
  subscriberCount,
  createdWallAt: 0,
  options: defaultQueueOptions,
});
const largest = { queues: [queueOf('ä"b', 7, 2), queueOf('c', 1, 0)], waitingCount: 9 };
const shown = { moment, largest };

type Parsed = ReturnType<typeof parsePrometheusText>;

async function parsed(metrics: ShownMetrics): Promise<Parsed> {
  return parsePrometheusText(await (await metricsTextResponse(metrics, 'text')).text());
}

describe('the text', () => {
  it('has every counter and gauge of the record [METRICS-021]', async () => {
    const response = await metricsTextResponse({ moment, largest: undefined }, 'text');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const metrics = parsePrometheusText(await response.text()).filter(
      ({ type, metrics: [first] }) => type !== 'HISTOGRAM' && first?.labels === undefined,
    );
    const values = metrics.map(({ name, type, metrics: [first] }) => [name, type, Number(first?.value)]);
    expect(values).toEqual([
      ['truemq_messages_published_total', 'COUNTER', 11],
      ['truemq_messages_delivered_total', 'COUNTER', 12],
      ['truemq_messages_acknowledged_total', 'COUNTER', 13],
      ['truemq_delivery_retries_total', 'COUNTER', 14],
      ['truemq_messages_dead_lettered_total', 'COUNTER', 15],
      ['truemq_errors_total', 'COUNTER', 16],
      ['truemq_connections_accepted_total', 'COUNTER', 17],
      ['truemq_connections_rejected_total', 'COUNTER', 18],
      ['truemq_connections', 'GAUGE', 19],
      ['truemq_queues', 'GAUGE', 20],
      ['truemq_messages_in_flight', 'GAUGE', 21],
      ['truemq_memory_resident_bytes', 'GAUGE', 1000],
      ['truemq_memory_limit_bytes', 'GAUGE', 2000],
      ['truemq_delivery_latency_average_seconds', 'GAUGE', 0.0006986],
      ['truemq_uptime_seconds', 'GAUGE', 1.5],
    ]);
    for (const { name, type, help } of metrics) {
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'COUNTER']);
      expect(help).toMatch(/\.$/);
    }
  });

  it('has how often each limit was reached, also of those that never were', async () => {
    const limits = (await parsed(shown)).find(({ name }) => name === 'truemq_limit_reached_total');
    expect(limits).toMatchObject({ type: 'COUNTER', help: 'How often clients reached each limit.' });
    expect(limits?.metrics).toEqual(
      Object.entries(shownStatistics.limitCounts).map(([limit, count]) => ({
        labels: { limit },
        value: String(count),
      })),
    );
    expect(limits?.metrics[0]).toEqual({ labels: { limit: 'messageSize' }, value: '0' });
  });

  it('has the times of deliveries in a histogram, whose buckets are cumulative [METRICS-021]', async () => {
    const histogram = (await parsed(shown)).find(({ type }) => type === 'HISTOGRAM');
    expect(histogram).toMatchObject({
      name: 'truemq_delivery_latency_seconds',
      metrics: [{ buckets: { '0.001': '5', '0.01': '9', '+Inf': '12' }, sum: '0.06', count: '12' }],
    });
  });

  it('has the waiting messages of all queues, and the figures of the largest', async () => {
    const metrics = await parsed(shown);
    const figures = (name: string) => metrics.find((metric) => metric.name === name)?.metrics;
    expect(figures('truemq_messages_waiting')).toEqual([{ value: '9' }]);
    expect(figures('truemq_queue_messages_waiting')).toEqual([
      { labels: { queue: 'ä"b' }, value: '7' },
      { labels: { queue: 'c' }, value: '1' },
    ]);
    expect(figures('truemq_queue_subscribers')).toEqual([
      { labels: { queue: 'ä"b' }, value: '2' },
      { labels: { queue: 'c' }, value: '0' },
    ]);
  });

  it('is OpenMetrics for those who ask for it [METRICS-021]', async () => {
    const response = await metricsTextResponse(shown, 'openmetrics');
    expect(response.headers.get('content-type')).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
    const text = await response.text();
    expect(text).toContain('# TYPE truemq_messages_published counter\ntruemq_messages_published_total 11\n');
    expect(text).toContain(
      '# TYPE truemq_limit_reached counter\ntruemq_limit_reached_total{limit="messageSize"} 0\n',
    );
    expect(text.endsWith('# EOF\n')).toBe(true);
  });

  it('has bounds of buckets with a point in OpenMetrics, which asks for it, and as they were in the other text', async () => {
    const deliveryLatency = { boundsMs: [1, 25, 1_000, 2_500, 60_000], counts: [1, 1, 1, 1, 1, 1], sumMs: 6 };
    const stats = { ...shownStatistics, deliveryLatency };
    const boundsIn = async (format: 'text' | 'openmetrics') => {
      const response = await metricsTextResponse({ ...shown, moment: { ...moment, stats } }, format);
      return [...(await response.text()).matchAll(/_bucket\{le="(.*?)"\}/g)].map(([, le]) => le);
    };
    expect(await boundsIn('openmetrics')).toEqual(['0.001', '0.025', '1.0', '2.5', '60.0', '+Inf']);
    expect(await boundsIn('text')).toEqual(['0.001', '0.025', '1', '2.5', '60', '+Inf']);
  });
});

describe('the format', () => {
  const prometheus =
    'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1';

  it.each([
    [null, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'json'],
    ['application/json, text/plain, */*', 'json'],
    ['text/plain;q=0.1, */*', 'json'],
    ['text/plain;q=0', 'json'],
    ['text/plain;q=none', 'json'],
    ['text/plain', 'text'],
    ['TEXT/PLAIN ; version=0.0.4', 'text'],
    ['text/plain, */*', 'text'],
    ['text/plain, application/json;q=0.9', 'text'],
    ['application/openmetrics-text', 'openmetrics'],
    [prometheus, 'openmetrics'],
    ['application/openmetrics-text;q=0.2, text/plain;q=0.3', 'text'],
  ] as const)('for Accept %j is %s [METRICS-021]', (accept, format) => {
    expect(metricsFormatFor(accept)).toBe(format);
  });
});
