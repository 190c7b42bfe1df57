// The health app without a port: records, statuses, Host check and errors, judged by the published OpenAPI document too.

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { noQueues, shownStatistics as stats } from '../../testing/shown-statistics.ts';
import { createHealthApp, type HealthAppOptions } from './health-app.ts';
import type { MemorySample } from './memory.ts';

const MIB = 1024 * 1024;

const calm: MemorySample = {
  residentBytes: 52 * MIB,
  residentLimitBytes: 1000 * MIB,
  heapUsedBytes: 10 * MIB,
  heapLimitBytes: 1000 * MIB,
};

function createApp(options: Partial<HealthAppOptions> = {}) {
  return createHealthApp({
    view: {
      stats: () => stats,
      readiness: () => ({ ready: true }),
      ...noQueues,
    },
    sampleMemory: () => calm,
    wallNow: () => Date.UTC(2026, 1, 18, 10, 30, 0, 123),
    uptimeMs: () => 11_524.4184,
    allowedHosts: ['broker.example'],
    onFault: (fault) => {
      throw fault;
    },
    ...options,
  });
}

const document = parse(readFileSync(new URL('../../../spec/openapi/health.yaml', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false });
ajv.addSchema(document, 'health.yaml');

function schemaErrors(name: 'Health' | 'Metrics' | 'Live' | 'Ready' | 'Problem', value: unknown): unknown {
  ajv.validate(`health.yaml#/components/schemas/${name}`, value);
  return ajv.errors;
}

describe('liveness', () => {
  it.each(['/live', '/live/'])(
    'is said at %s, also while clients are not served [HEALTH-016]',
    async (path) => {
      const readiness = () => ({ ready: false, reason: 'recovering' }) as const;
      const view = {
        stats: () => stats,
        readiness,
        ...noQueues,
      };
      const response = await createApp({ view }).request(path);
      expect(response.status).toBe(200);
      const record: unknown = await response.json();
      expect(record).toEqual({ live: true });
      expect(schemaErrors('Live', record)).toBeNull();
    },
  );
});

describe('readiness', () => {
  it.each(['/ready', '/ready/'])('is said at %s while clients are served [HEALTH-011]', async (path) => {
    const response = await createApp().request(path);
    expect(response.status).toBe(200);
    const record: unknown = await response.json();
    expect(record).toEqual({ ready: true });
    expect(schemaErrors('Ready', record)).toBeNull();
  });

  it('is a 503 with the reason while they are not [HEALTH-011]', async () => {
    const readiness = () => ({ ready: false, reason: 'recovering' }) as const;
    const view = {
      stats: () => stats,
      readiness,
      ...noQueues,
    };
    const response = await createApp({ view }).request('/ready');
    expect(response.status).toBe(503);
    const problem: unknown = await response.json();
    expect(problem).toMatchObject({ status: 503, detail: 'recovering' });
    expect(schemaErrors('Problem', problem)).toBeNull();
  });
});

describe('health', () => {
  it('answers with the record of the specification and more [HEALTH-001, HEALTH-002, HEALTH-003, HEALTH-006]', async () => {
    const response = await createApp().request('/health/');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    const record: unknown = await response.json();
    expect(record).toEqual({
      status: 'healthy',
      is_healthy: true,
      active_connections: 19,
      queue_count: 20,
      in_flight_messages: 21,
      total_messages_published: 11,
      total_messages_delivered: 12,
      memory_usage_mb: 52,
      timestamp: '2026-02-18T10:30:00.123Z',
    });
    expect(schemaErrors('Health', record)).toBeNull();
  });

  it.each([
    ['resident memory', { residentBytes: 899.9 * MIB }, 200, 'healthy', 'HEALTH-004'],
    ['resident memory', { residentBytes: 900 * MIB }, 503, 'unhealthy', 'HEALTH-005'],
    ['the heap', { heapUsedBytes: 899.9 * MIB }, 200, 'healthy', 'HEALTH-004'],
    ['the heap', { heapUsedBytes: 900 * MIB }, 503, 'unhealthy', 'HEALTH-005'],
    ['resident memory, not whole MiB', { residentBytes: 900.6 * MIB }, 503, 'unhealthy', 'HEALTH-006'],
  ])('goes by %s: %j is %d %s [HEALTH-009, %s]', async (_of, usage, status, word, _requirement) => {
    const response = await createApp({ sampleMemory: () => ({ ...calm, ...usage }) }).request('/health/');
    expect(response.status).toBe(status);
    const record: unknown = await response.json();
    expect(record).toMatchObject({ status: word, is_healthy: word === 'healthy' });
    expect(schemaErrors('Health', record)).toBeNull();
  });
});

describe('metrics', () => {
  it('answers with the complete form [METRICS-001, METRICS-002, METRICS-003, METRICS-004, METRICS-005, METRICS-006, METRICS-022]', async () => {
    const response = await createApp().request('/metrics/');
    expect(response.status).toBe(200);
    const record: unknown = await response.json();
    expect(record).toEqual({
      total_messages_published: 11,
      total_messages_delivered: 12,
      total_messages_acknowledged: 13,
      total_retries: 14,
      total_dead_lettered: 15,
      total_errors: 16,
      total_connections_accepted: 17,
      total_connections_rejected: 18,
      active_connections: 19,
      active_queues: 20,
      in_flight_messages: 21,
      memory_usage_bytes: 52 * MIB,
      average_delivery_latency_ms: 0.6986,
      timestamp: '2026-02-18T10:30:00.123Z',
      uptime: '00:00:11.5244184',
    });
    expect(schemaErrors('Metrics', record)).toBeNull();
  });

  it('may have the shorter form by the published document, and nothing between the two forms', async () => {
    const record = (await (await createApp().request('/metrics/')).json()) as Record<string, unknown>;
    const { total_retries, total_dead_lettered, total_errors, ...others } = record;
    const { total_connections_accepted, total_connections_rejected, in_flight_messages, ...shorter } = others;
    expect(schemaErrors('Metrics', shorter)).toBeNull();
    expect(schemaErrors('Metrics', others)).not.toBeNull();
    const { timestamp, ...untimed } = shorter;
    expect(schemaErrors('Metrics', untimed)).not.toBeNull();
  });

  it('answers as text to who asks for it, with one path for both [METRICS-021]', async () => {
    const ask = (accept: string) => createApp().request('/metrics/', { headers: { accept } });
    const text = await ask('text/plain');
    expect(text.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await text.text()).toContain('\ntruemq_messages_published_total 11\n');
    for (const response of [text, await ask('*/*')]) {
      expect([response.status, response.headers.get('vary')]).toEqual([200, 'accept']);
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
  });

  it.each([
    [0, '00:00:00.0000000'],
    [3_599_999.9999, '00:59:59.9999999'],
    [86_399_000, '23:59:59.0000000'],
    [86_400_000, '1.00:00:00.0000000'],
    [10 * 86_400_000 + 3_661_001, '10.01:01:01.0010000'],
  ])('writes an uptime of %d ms as %s [METRICS-006]', async (uptimeMs, text) => {
    const response = await createApp({ uptimeMs: () => uptimeMs }).request('/metrics/');
    expect(await response.json()).toMatchObject({ uptime: text });
  });
});

describe('paths and methods', () => {
  it.each([
    ['/health', '/health/', 'HEALTH-012'],
    ['/metrics', '/metrics/', 'METRICS-020'],
    ['/health/?x=1', '/health/', 'HEALTH-013'],
  ])('answers %s as %s [%s]', async (path, same) => {
    const [one, other] = [await createApp().request(path), await createApp().request(same)];
    expect([one.status, await one.json()]).toEqual([200, await other.json()]);
  });

  it('are those of the OpenAPI document, none of which contains a version [HTTP-009]', async () => {
    const paths = Object.keys(document.paths);
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths) {
      expect(path).not.toMatch(/\/v?\d/);
      expect([path, (await createApp().request(path)).status]).toEqual([path, 200]);
      expect([path, (await createApp().request(`/v1${path}`)).status]).toEqual([path, 404]);
    }
  });

  it.each(['/health/', '/metrics'])('answers HEAD %s without a body [HTTP-008]', async (path) => {
    const response = await createApp().request(path, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    'refuses %s with 405 [HTTP-008, HTTP-001]',
    async (method) => {
      const response = await createApp().request('/health/', { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      await expectProblem(response, 405);
    },
  );

  it.each(['/', '/healthy', '/health/x', '/api/health', '/health//', '/%zz', '//health'])(
    'has no %s [HTTP-007, HTTP-001]',
    async (path) => {
      const response = await createApp().request(`http://localhost${path}`);
      expect([400, 404]).toContain(response.status);
      await expectProblem(response, response.status);
    },
  );

  it('answers 404 where nothing is [HTTP-007]', async () => {
    expect((await createApp().request('/nowhere')).status).toBe(404);
  });
});

describe('every answer', () => {
  it.each(['/health/', '/metrics/', '/nowhere'])(
    '%s may not be stored and allows no other origin [HTTP-003]',
    async (path) => {
      const response = await createApp().request(path, { headers: { origin: 'http://evil.example' } });
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );

  it.each([
    '127.0.0.1',
    '127.0.0.1:2926',
    'localhost',
    'LOCALHOST:80',
    '[::1]:2926',
    'broker.example',
    'Broker.Example.:99',
  ])('is given to Host %s [HTTP-002]', async (host) => {
    expect((await createApp().request('/health/', { headers: { host } })).status).toBe(200);
  });

  it.each(['evil.example', 'localhost.evil.example', 'xbroker.example', 'evil@127.0.0.1', 'a/127.0.0.1', ''])(
    'is refused to Host %j [HTTP-002, HTTP-001]',
    async (host) => {
      await expectProblem(await createApp().request('/health/', { headers: { host } }), 421);
    },
  );
});

describe('a fault of ours', () => {
  it('is logged and not sent to the client [HTTP-001]', async () => {
    const faults: unknown[] = [];
    const view = {
      stats: () => {
        throw new Error('secret detail');
      },
      readiness: () => ({ ready: true }) as const,
      ...noQueues,
    };
    const response = await createApp({ view, onFault: (fault) => faults.push(fault) }).request('/metrics/');
    expect(await response.clone().text()).not.toContain('secret');
    await expectProblem(response, 500);
    expect(faults).toHaveLength(1);
  });
});

async function expectProblem(response: Response, status: number): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const body: unknown = await response.json();
  expect(schemaErrors('Problem', body)).toBeNull();
  expect(body).toMatchObject({ status });
}
