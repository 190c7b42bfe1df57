// The dashboard's API without a port, over a whole broker: what it shows, what it changes, and what it refuses. Proves DASH.

import { describe, expect, it } from 'vitest';
import { shownStatistics as stats } from '../../testing/shown-statistics.ts';
import { subscribe } from '../../testing/tested-broker.ts';
import { dashboardDocument, deadLetter, memory, testedDashboard } from '../../testing/tested-dashboard.ts';

const MIB = 1024 * 1024;

describe('the broker', () => {
  it('says its version [DASH-001, DASH-021, DASH-028]', async () => {
    const { get } = await testedDashboard();
    expect(await get('/api/version')).toEqual({ server_version: '1.2.3', webui_version: '1.2.3' });
  });

  it('serves its document, with its own path prefix', async () => {
    const { get } = await testedDashboard({ pathPrefix: '/mq/' });
    expect(await get('/mq/api/openapi.json')).toEqual({ ...dashboardDocument, servers: [{ url: '/mq/' }] });
  });

  it('shows the health record, with or without a slash at the end [DASH-002, DASH-003, DASH-036]', async () => {
    const { get } = await testedDashboard();
    const record = {
      status: 'healthy',
      is_healthy: true,
      active_connections: stats.activeConnectionCount,
      queue_count: stats.queueCount,
      in_flight_messages: stats.inFlightCount,
      total_messages_published: stats.publishedCount,
      total_messages_delivered: stats.deliveredCount,
      memory_usage_mb: 52,
      timestamp: '2026-02-18T10:30:00.123Z',
    };
    expect(await get('/api/health')).toEqual(record);
    expect(await get('/api/health/')).toEqual(record);
  });

  it('says that it is unhealthy, and answers all the same [DASH-003]', async () => {
    const { get } = await testedDashboard({
      sampleMemory: () => ({ ...memory, residentBytes: 950 * MIB }),
    });
    expect(await get('/api/health')).toMatchObject({ status: 'unhealthy', is_healthy: false });
  });

  it('shows the complete metrics record [DASH-004]', async () => {
    const { get } = await testedDashboard();
    expect(await get('/api/metrics')).toEqual({
      total_messages_published: stats.publishedCount,
      total_messages_delivered: stats.deliveredCount,
      total_messages_acknowledged: stats.acknowledgedCount,
      total_retries: stats.retryCount,
      total_dead_lettered: stats.deadLetteredCount,
      total_errors: stats.errorsCount,
      total_connections_accepted: stats.connectionsAcceptedCount,
      total_connections_rejected: stats.connectionsRejectedCount,
      active_connections: stats.activeConnectionCount,
      active_queues: stats.queueCount,
      in_flight_messages: stats.inFlightCount,
      memory_usage_bytes: 52 * MIB,
      average_delivery_latency_ms: stats.averageDeliveryLatencyMs,
      timestamp: '2026-02-18T10:30:00.123Z',
      uptime: '00:00:11.5244184',
    });
  });
});

describe('queues', () => {
  it('are listed by name [DASH-005]', async () => {
    const { get, publish } = await testedDashboard();
    expect(await get('/api/queues')).toEqual([]);
    await publish('b', ['m1']);
    await publish('Ä.b-1', ['m1']);
    expect(await get('/api/queues')).toEqual(['b', 'Ä.b-1']);
  });

  it('are shown with counts and options, enumerations as numbers [DASH-006, DASH-007, DASH-029, DASH-037]', async () => {
    const { tested, get, createQueue, publish } = await testedDashboard();
    await publish('plain', ['m1']);
    const created_at = new Date(tested.environment.clock.wallNow()).toISOString().replace('.000Z', 'Z');
    const plain = {
      name: 'plain',
      message_count: 1,
      subscriber_count: 0,
      delivery_mode: 0,
      max_size: 10_000,
      created_at,
      enable_dead_letter_queue: false,
      overflow_strategy: 0,
      max_retry_attempts: 3,
    };
    expect(await get('/api/queues/plain')).toEqual(plain);
    await createQueue('Ä.b-1', {
      mode: 3,
      messageTtl: '2.03:00:00',
      enableDeadLetterQueue: true,
      deadLetterQueueName: 'letters',
      overflowStrategy: 3,
    });
    expect(await get('/api/queues/%C3%84.b-1')).toEqual({
      ...plain,
      name: 'Ä.b-1',
      message_count: 0,
      delivery_mode: 3,
      message_ttl: '2.03:00:00',
      enable_dead_letter_queue: true,
      dead_letter_queue_name: 'letters',
      overflow_strategy: 3,
    });
  });

  it('are deleted with their messages [DASH-020, DASH-022]', async () => {
    const { get, status, publish } = await testedDashboard();
    await publish('q', ['m1']);
    await publish('other', ['m1']);
    expect(await status('/api/queues/q', 'DELETE')).toBe(204);
    expect(await get('/api/queues')).toEqual(['other']);
    expect(await status('/api/queues/q', 'DELETE')).toBe(404);
  });
});

describe('messages', () => {
  it('are listed as they were published, and stay [DASH-008, DASH-009]', async () => {
    const { tested, request, publish, get } = await testedDashboard();
    const payload = '{"n": 12345678901234567890, "a":[1.0, -0]}';
    await publish('q', ['m1'], { payload, headers: [['x', 'é']] });
    await publish('q', ['m2'], { payload: undefined });
    const timestamp = new Date(tested.environment.clock.wallNow()).toISOString().replace('.000Z', 'Z');
    const text = await (await request('/api/queues/q/messages')).text();
    expect(text).toBe(
      `[{"id":"m1","queue_name":"q","payload":${payload},"timestamp":"${timestamp}","headers":{"x":"é"},` +
        `"version":1,"priority":1,"delivery_attempts":0},{"id":"m2","queue_name":"q","timestamp":"${timestamp}",` +
        `"headers":{},"version":1,"priority":1,"delivery_attempts":0}]`,
    );
    expect(await get('/api/queues/q')).toMatchObject({ message_count: 2 });
  });

  it.each([
    ['', 50, 'm1'],
    ['?limit=2', 2, 'm1'],
    ['?limit=2&offset=3', 2, 'm4'],
    ['?offset=119', 1, 'm120'],
    ['?limit=0', 1, 'm1'],
    ['?limit=-5', 1, 'm1'],
    ['?limit=1000', 100, 'm1'],
    ['?offset=-1', 50, 'm1'],
    ['?limit=x&offset=y', 50, 'm1'],
    ['?limit=2.5&offset=1e1', 50, 'm1'],
    ['?limit=&offset=', 50, 'm1'],
  ])(
    'are listed by limit and offset: %s [DASH-010, DASH-011, DASH-012, DASH-013]',
    async (query, count, first) => {
      const { get, publish } = await testedDashboard();
      await publish(
        'q',
        Array.from({ length: 120 }, (_, index) => `m${index + 1}`),
      );
      const list = (await get(`/api/queues/q/messages${query}`)) as readonly { readonly id: string }[];
      expect([list.length, list[0]?.id]).toEqual([count, first]);
    },
  );

  it('are listed up to a size', async () => {
    const { get, publish } = await testedDashboard();
    await publish('q', ['m1', 'm2', 'm3'], { payload: JSON.stringify('x'.repeat(700_000)) });
    expect(await get('/api/queues/q/messages')).toMatchObject([{ id: 'm1' }, { id: 'm2' }]);
    expect(await get('/api/queues/q/messages?offset=2')).toMatchObject([{ id: 'm3' }]);
  });

  it('are shown one by one, waiting and in flight, with their whole payload [DASH-014, DASH-015]', async () => {
    const { client, tested, get, publish } = await testedDashboard();
    const long = 'x'.repeat(1_000_000);
    await publish('q', ['a/b'], { payload: JSON.stringify(long) });
    const message = { id: 'a/b', queue_name: 'q', payload: long, delivery_attempts: 0 };
    expect(await get('/api/queues/q/messages/a%2Fb')).toMatchObject(message);
    client.send(subscribe('q'));
    await tested.settle();
    expect(await get('/api/queues/q/messages/a%2Fb')).toMatchObject({ ...message, delivery_attempts: 1 });
    expect(await get('/api/queues/q/messages')).toEqual([]);
  });

  it('are removed one by one while they wait [DASH-016, DASH-017, DASH-022]', async () => {
    const { client, tested, status, publish, get } = await testedDashboard();
    await publish('q', ['m1', 'm2', 'm3']);
    expect(await status('/api/queues/q/messages/m2', 'DELETE')).toBe(204);
    expect(await status('/api/queues/q/messages/m2', 'DELETE')).toBe(404);
    expect(await get('/api/queues/q/messages')).toMatchObject([{ id: 'm1' }, { id: 'm3' }]);
    client.send(subscribe('q'));
    await tested.settle();
    expect(await status('/api/queues/q/messages/m1', 'DELETE')).toBe(404);
    expect(await get('/api/queues/q/messages/m1')).toMatchObject({ id: 'm1' });
  });

  it('are purged, but those in flight [DASH-018, DASH-019, DASH-022]', async () => {
    const { client, tested, status, publish, get } = await testedDashboard();
    client.send({ ...subscribe('q'), payload: '{"maxInFlight":1}' });
    await publish('q', ['m1']);
    await tested.settle();
    const inFlight = await get('/api/queues/q/messages/m1');
    expect(await status('/api/queues/q/messages', 'DELETE')).toBe(204);
    expect(await get('/api/queues/q')).toMatchObject({ message_count: 0 });
    expect(await get('/api/queues/q/messages/m1')).toEqual(inFlight);
    await publish('other', ['m1', 'm2']);
    expect(await status('/api/queues/other/messages', 'DELETE')).toBe(204);
    expect(await get('/api/queues/other/messages')).toEqual([]);
  });
});

describe('a dead letter', () => {
  it('is shown with its reason and source, and goes back to its queue without them [DASH-009, DASH-032, DASH-033]', async () => {
    const dashboard = await testedDashboard();
    await deadLetter(dashboard, 'm1');
    const [letter] = (await dashboard.get('/api/queues/q.dlq/messages')) as readonly { headers: object }[];
    expect(letter?.headers).toMatchObject({ deadLetterReason: 'MaxRetriesExceeded', deadLetterSource: 'q' });
    expect(letter).toMatchObject({ id: 'm1', queue_name: 'q.dlq', version: 1, priority: 1 });
    expect(await dashboard.status('/api/queues/q.dlq/messages/m1/requeue', 'POST')).toBe(204);
    expect(await dashboard.get('/api/queues/q.dlq/messages')).toEqual([]);
    expect(await dashboard.get('/api/queues/q/messages')).toMatchObject([
      { id: 'm1', queue_name: 'q', headers: {}, delivery_attempts: 0 },
    ]);
  });

  it('is requeued by its source too, where several queues have one of its id [DASH-032]', async () => {
    const dashboard = await testedDashboard();
    for (const queue of ['q', 'Ä.b']) await deadLetter(dashboard, 'm1', queue);
    const requeue = (source: string): Promise<Response> => {
      const query = `source=${encodeURIComponent(source)}`;
      return dashboard.request(`/api/queues/q.dlq/messages/m1/requeue?${query}`, { method: 'POST' });
    };
    expect((await requeue('Ä.b')).status).toBe(204);
    expect(await dashboard.get('/api/queues/q.dlq/messages')).toMatchObject([
      { id: 'm1', headers: { deadLetterSource: 'q' } },
    ]);
    expect(await dashboard.get('/api/queues/%C3%84.b')).toMatchObject({ message_count: 1 });
    const refused = await requeue('Ä.b');
    expect([refused.status, await refused.json()]).toMatchObject([
      404,
      { detail: 'The queue has no message with this id that comes from queue Ä.b.' },
    ]);
    expect((await requeue('')).status).toBe(404);
    expect((await requeue('q')).status).toBe(204);
  });

  it('is not requeued where it cannot be, with the reason [DASH-034]', async () => {
    const dashboard = await testedDashboard();
    await deadLetter(dashboard, 'm1');
    const requeue = async (queue: string, id: string): Promise<unknown> => {
      const path = `/api/queues/${queue}/messages/${id}/requeue`;
      const response = await dashboard.request(path, { method: 'POST' });
      const problem: unknown = await response.json();
      return [response.status, problem];
    };
    await dashboard.publish('q', ['m2', 'm3']);
    expect(await requeue('q.dlq', 'm1')).toMatchObject([409, { detail: expect.stringContaining('is full') }]);
    expect(await requeue('q', 'm2')).toMatchObject([
      409,
      { detail: expect.stringContaining('no dead letter') },
    ]);
    expect(await requeue('q.dlq', 'm9')).toMatchObject([404, {}]);
    await dashboard.status('/api/queues/q', 'DELETE');
    expect(await requeue('q.dlq', 'm1')).toMatchObject([409, { detail: expect.stringContaining('exist') }]);
  });
});

describe('a request', () => {
  it.each(['/api/queues/q/messages/', '/api/queues/q/'])(
    'to delete %s, as a message with the id . or .. makes some clients ask, changes nothing [DASH-038]',
    async (path) => {
      const { publish, status, get } = await testedDashboard();
      await publish('q', ['m1']);
      expect(await status(path, 'DELETE')).toBe(400);
      expect(await get('/api/queues/q/')).toMatchObject({ message_count: 1 });
    },
  );

  it.each([
    ['GET', '/api/queues/nope', 404],
    ['GET', '/api/queues/nope/messages', 404],
    ['GET', '/api/queues/nope/messages/m1', 404],
    ['DELETE', '/api/queues/nope', 404],
    ['DELETE', '/api/queues/nope/messages', 404],
    ['DELETE', '/api/queues/nope/messages/m1', 404],
    ['GET', '/api/nope', 404],
    ['GET', '/nope', 404],
    ['GET', '/api/queues//messages', 400],
    ['DELETE', '/api/queues//', 400],
    ['POST', '/api/queues/q/messages/m1/requeue/', 400],
    ['GET', '/api/queues/%zz', 400],
    ['GET', '/api/queues/%ff', 400],
    ['POST', '/api/queues', 405],
    ['DELETE', '/api/health', 405],
    ['PUT', '/api/queues/nope', 405],
    ['GET', '/api/queues/q/messages/m1/requeue', 405],
    ['GET', `/api/queues/${'x'.repeat(9000)}`, 414],
  ])(
    '%s %s is answered by a problem with status %i [DASH-023, DASH-024, DASH-025, DASH-038]',
    async (method, path, status) => {
      const { request } = await testedDashboard();
      const response = await request(path, { method });
      const problem: unknown = await response.json();
      expect([response.status, response.headers.get('content-type'), problem]).toEqual([
        status,
        'application/problem+json',
        expect.objectContaining({ status, detail: expect.stringMatching(/\.$/) }),
      ]);
    },
  );

  it('with HEAD is answered as GET without a body', async () => {
    const { request } = await testedDashboard();
    const response = await request('/api/queues', { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('names the methods of its path in Allow', async () => {
    const { request } = await testedDashboard();
    const response = await request('/api/queues/q', { method: 'PATCH' });
    expect(response.headers.get('allow')).toBe('GET, HEAD, DELETE');
  });

  it('is served below the prefix only [DASH-026]', async () => {
    const { get, status } = await testedDashboard({ pathPrefix: '/mq/' });
    expect(await get('/mq/api/queues')).toEqual([]);
    expect(await status('/api/queues')).toBe(404);
  });

  it.each([
    [{ host: 'evil.example' }, 'GET', 421],
    [{ host: 'broker.example:12925' }, 'GET', 200],
    [{ host: 'broker.example', origin: 'http://broker.example' }, 'POST', 404],
    [{ host: 'broker.example', origin: 'http://evil.example' }, 'POST', 403],
    [{ host: 'broker.example:80', origin: 'http://broker.example:8080' }, 'POST', 403],
    [{ host: 'broker.example', origin: 'null' }, 'POST', 403],
    [{ host: 'broker.example', origin: 'http://evil.example' }, 'GET', 200],
    [{ 'content-length': '16384' }, 'POST', 404],
    [{ 'content-length': '16385' }, 'POST', 413],
    [{ 'transfer-encoding': 'chunked' }, 'POST', 413],
  ])(
    'with headers %j and method %s has status %i, and never an answer for other origins [HTTP-002, HTTP-003, DASH-040]',
    async (headers, method, status) => {
      const { request } = await testedDashboard();
      const path = method === 'GET' ? '/api/queues' : '/api/queues/q/messages/m1/requeue';
      const response = await request(path, { method, headers: headers as Record<string, string> });
      expect(response.status).toBe(status);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  it.each([
    ['allowed', 200, null],
    ['missing', 401, 'Basic realm="TrueMQ", charset="UTF-8"'],
    ['wrong', 401, 'Basic realm="TrueMQ", charset="UTF-8"'],
    ['forbidden', 403, null],
    ['busy', 429, null],
    ['failed', 503, null],
  ] as const)('is answered for superusers only, if it is to be: %s', async (verdict, status, challenge) => {
    const judged: unknown[] = [];
    const judge = async (authorization: string | null) => {
      judged.push(authorization);
      return verdict;
    };
    const { request } = await testedDashboard({ access: { judge } });
    const response = await request('/api/queues', { headers: { authorization: 'Basic YTpi' } });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([status, challenge]);
    expect(judged).toEqual(['Basic YTpi']);
  });

  it('has live streams that know whose they are', async () => {
    const opened: unknown[] = [];
    const live = {
      open: (...parameters: unknown[]) => {
        opened.push(parameters);
        return new Response(null);
      },
    };
    const { request } = await testedDashboard({ live });
    await request('/api/events?queue=q', { headers: { authorization: 'Basic YTpi' } });
    await request('/api/events');
    expect(opened).toEqual([
      ['q', 'Basic YTpi'],
      [undefined, null],
    ]);
  });

  it('is answered by 503 with the reason while the broker does not serve', async () => {
    const { tested, status, request, publish } = await testedDashboard();
    await publish('q', ['m1']);
    const drained = tested.broker.drain();
    await tested.settle();
    await drained;
    expect(await status('/api/queues/q/messages', 'DELETE')).toBe(503);
    const response = await request('/api/queues');
    expect(await response.json()).toMatchObject({ detail: 'The broker has ended.' });
  });
});
