// What is judged of HTTP answers in every check: each rule is shown broken and kept, and other answers are left alone.
import { describe, expect, it } from 'vitest';
import type { HttpExchange } from './watched-http.ts';
import { WatchedHttp } from './watched-http.ts';

const json = { 'content-type': 'application/json; charset=utf-8' };
const at = '2026-11-29T12:00:00Z';
const shortMetrics = {
  ...{ total_messages_published: 5, total_messages_delivered: 4, total_messages_acknowledged: 3 },
  ...{ active_connections: 1, active_queues: 1, memory_usage_bytes: 1, average_delivery_latency_ms: 0.5 },
  timestamp: at,
};
const metrics = {
  ...shortMetrics,
  ...{ total_retries: 0, total_dead_lettered: 0, total_errors: 0, in_flight_messages: 0 },
  ...{ total_connections_accepted: 1, total_connections_rejected: 0, uptime: '00:00:01' },
};
const health = { status: 'healthy', active_connections: 0, queue_count: 0, memory_usage_mb: 50 };
const dashboardHealth = {
  ...{ active_connections: 0, queue_count: 0, in_flight_messages: 0, memory_usage_mb: 1.5 },
  timestamp: at,
};
const queue = {
  ...{ name: 'q', message_count: 0, subscriber_count: 0, delivery_mode: 0, max_size: 10 },
  ...{
    created_at: at,
    enable_dead_letter_queue: false,
    overflow_strategy: 'DropOldest',
    max_retry_attempts: 3,
  },
};
const message = {
  ...{ id: 'm', queue_name: 'q', timestamp: at, headers: {}, version: 1, priority: 'Normal' },
  delivery_attempts: 0,
};

function exchange(path: string, value: unknown, more: Partial<HttpExchange> = {}): HttpExchange {
  const answer = { status: 200, headers: json, body: JSON.stringify(value) };
  return { method: 'GET', path, answer, askedAtMs: 0, answeredAtMs: 1, ...more };
}

const healthClause = (path: string, value: unknown, more?: Partial<HttpExchange>): string | undefined =>
  new WatchedHttp().breach('health', exchange(path, value, more))?.clause;
const dashboardClause = (path: string, value: unknown): string | undefined =>
  new WatchedHttp().breach('dashboard', exchange(path, value))?.clause;

const without = (record: object, name: string): object =>
  Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));

describe('the health server', () => {
  it.each([
    ['the health record', '/health/', health, undefined],
    ['no queue_count', '/health/', without(health, 'queue_count'), 'HEALTH-002'],
    ['another status', '/health/', { status: 503 }, undefined],
    ['a fraction', '/health/', { ...health, memory_usage_mb: 1.5 }, 'HEALTH-006'],
    ['the short metrics record', '/metrics/', shortMetrics, undefined],
    ['the whole metrics record', '/metrics/', metrics, undefined],
    ['no timestamp', '/metrics/', without(metrics, 'timestamp'), 'METRICS-002'],
    ['a part of the additional fields', '/metrics/', without(metrics, 'total_errors'), 'METRICS-003'],
    ['a number as text', '/metrics/', { ...metrics, active_queues: '1' }, 'METRICS-004'],
    ['an additional number as text', '/metrics/', { ...metrics, total_errors: '1' }, 'METRICS-004'],
    ['a local time', '/metrics/', { ...metrics, timestamp: '2026-11-29T12:00:00' }, 'METRICS-005'],
    ['an uptime in seconds', '/metrics/', { ...metrics, uptime: 1 }, 'METRICS-006'],
    ['another path', '/version/', { status: 1 }, undefined],
    ['no object', '/metrics/', [1], undefined],
  ])('%s', (_, path, value, clause) => {
    expect(healthClause(path, value)).toBe(clause);
  });

  it('is not judged by what is no answer to GET, or of another kind', () => {
    const wrong = { ...metrics, timestamp: 1 };
    const body = JSON.stringify(wrong);
    expect(healthClause('/metrics/', wrong)).toBe('METRICS-005');
    expect(healthClause('/metrics/', wrong, { method: 'POST' })).toBeUndefined();
    const text = { status: 200, headers: { 'content-type': 'text/plain' }, body };
    expect(healthClause('/metrics/', wrong, { answer: text })).toBeUndefined();
    const failed = { status: 500, headers: json, body };
    expect(healthClause('/metrics/', wrong, { answer: failed })).toBeUndefined();
  });
});

it('an odd field is named with the form that it must have', () => {
  const odd = exchange('/health/', { ...health, queue_count: -1 });
  expect(new WatchedHttp().breach('health', odd)?.expected).toBe('queue_count: a whole number from 0 up');
});

describe('a counter', () => {
  const reading = (published: number, askedAtMs: number): HttpExchange =>
    exchange(
      '/metrics/',
      { ...metrics, total_messages_published: published },
      { askedAtMs, answeredAtMs: askedAtMs + 5 },
    );

  it('never falls', () => {
    const watched = new WatchedHttp();
    for (const [published, askedAtMs] of [
      [5, 0],
      [5, 10],
      [9, 20],
    ] as const)
      expect(watched.breach('health', reading(published, askedAtMs))).toBeUndefined();
    expect(watched.breach('health', reading(8, 30))).toMatchObject({ clause: 'METRICS-007', actual: '8' });
  });

  it('falls neither on the other server', () => {
    const watched = new WatchedHttp();
    watched.breach('health', reading(9, 0));
    const shown = exchange('/api/metrics', metrics, { askedAtMs: 10, answeredAtMs: 11 });
    expect(watched.breach('dashboard', shown)?.clause).toBe('METRICS-007');
  });

  it('may be less in an answer that was asked for before the other came, and after a restart', () => {
    const watched = new WatchedHttp();
    watched.breach('health', reading(9, 0));
    expect(watched.breach('health', reading(8, 3))).toBeUndefined();
    watched.restarted();
    expect(watched.breach('health', reading(1, 20))).toBeUndefined();
  });
});

describe('the dashboard', () => {
  it.each([
    ['/api/health', dashboardHealth, undefined],
    ['/api/health', without(dashboardHealth, 'in_flight_messages'), 'DASH-002'],
    ['/api/metrics', metrics, undefined],
    ['/api/metrics', shortMetrics, 'DASH-004'],
    ['/api/queues', ['a', 'b'], undefined],
    ['/api/queues', ['a', 'a'], 'DASH-005'],
    ['/api/queues', [{ name: 'a' }], 'DASH-005'],
    ['/api/queues/q', queue, undefined],
    ['/api/queues/q', without(queue, 'created_at'), 'DASH-006'],
    ['/api/queues/q', { ...queue, message_ttl: 60 }, 'DASH-007'],
    ['/api/queues/q', { ...queue, isOpen: true }, 'DASH-028'],
    ['/api/queues/q/messages?limit=1', [message], undefined],
    ['/api/queues/q/messages?limit=1', [message, without(message, 'headers')], 'DASH-009'],
    ['/api/queues/q/messages/m', { ...message, payload: 1 }, undefined],
    ['/api/queues/q/messages/m', without(message, 'priority'), 'DASH-014'],
    ['/api/other', { isOpen: true }, undefined],
    ['/', {}, undefined],
  ])('%s', (path, value, clause) => {
    expect(dashboardClause(path, value)).toBe(clause);
  });
});
