// Checks of the dashboard's API: the records of the broker and of its queues, deletion, and the statuses of refusals. What the API shows is
// compared with what the broker says over TCP. Area: DASH.
import type { CheckContext, CheckModule } from '../check.ts';
import { additionalMetrics, shorterMetrics, timestamp } from '../record-forms.ts';
import { fieldOf, queuePath, readList, readRecord, readValue, remove } from './shared/dashboard-api.ts';
import { recordAt } from './shared/http-records.ts';
import { eventually, newQueue } from './shared/queue-state.ts';
import { expectFields, type JsonRecord, requiredField } from './shared/required-fields.ts';
import { publishSeries, takeAndAck } from './shared/subscribers.ts';

const dashboard = { profile: 'dashboard' } as const;

const broker: CheckModule = [
  // DASH-001 (MUST): GET /api/version answers with server_version and webui_version.
  {
    id: 'DASH-001a',
    title: 'answers GET /api/version with the versions of the server and of the page',
    clauses: ['DASH-001', 'DASH-021'],
    ...dashboard,
    evidence: { responses: 1, assertions: 3 },
    run: async (ctx) => {
      const record = await readRecord(ctx, '/api/version', 'DASH-001');
      const place = fieldOf('/api/version', 'DASH-001');
      expectFields(ctx, record, { server_version: 'string', webui_version: 'string' }, place);
    },
  },
  // DASH-002 (MUST): GET /api/health answers with an object that has active_connections, queue_count,
  // in_flight_messages, memory_usage_mb and timestamp.
  {
    id: 'DASH-002a',
    title: 'answers GET /api/health with connections, queues, messages in flight, memory and timestamp',
    clauses: ['DASH-002'],
    ...dashboard,
    evidence: { responses: 1, assertions: 6 },
    run: async (ctx) => {
      const record = await readRecord(ctx, '/api/health', 'DASH-002');
      const names = ['active_connections', 'queue_count', 'in_flight_messages', 'memory_usage_mb'];
      const place = fieldOf('/api/health', 'DASH-002');
      expectFields(ctx, record, { ...numbers(names), timestamp: 'string' }, place);
      ctx.assert.matches(record['timestamp'], timestamp, 'timestamp');
    },
  },
  // DASH-003 (SHOULD): status in the answer to GET /api/health is healthy or unhealthy, by the rules of HEALTH-004 and
  // HEALTH-005.
  {
    id: 'DASH-003a',
    title: 'says healthy, unhealthy or ok as the status in the answer to GET /api/health',
    clauses: ['DASH-003'],
    ...dashboard,
    accepts: ['healthy or unhealthy', 'ok'],
    evidence: { responses: 1, assertions: 2 },
    run: async (ctx) => {
      const record = await readRecord(ctx, '/api/health', 'DASH-002');
      ctx.assert.oneOf(record['status'], ['healthy', 'unhealthy', 'ok'], 'status in /api/health');
    },
  },
  // DASH-036 (SHOULD): GET /api/health answers with all fields of HEALTH-002 and HEALTH-003.
  {
    id: 'DASH-036a',
    title: 'sends all fields of the health record in the answer to GET /api/health',
    clauses: ['DASH-036'],
    ...dashboard,
    evidence: { responses: 1, assertions: 5 },
    run: async (ctx) => {
      const record = await readRecord(ctx, '/api/health', 'DASH-002');
      const names = ['total_messages_published', 'total_messages_delivered'];
      const types = { status: 'string', is_healthy: 'boolean', ...numbers(names) } as const;
      expectFields(ctx, record, types, fieldOf('/api/health', 'DASH-036'));
    },
  },
  // DASH-004 (MUST): GET /api/metrics answers with the complete form of the metrics record: the fields of METRICS-002
  // and METRICS-003, and uptime.
  {
    id: 'DASH-004a',
    title: 'answers GET /api/metrics with the complete metrics record and uptime',
    clauses: ['DASH-004'],
    ...dashboard,
    evidence: { responses: 1, assertions: 16 },
    run: async (ctx) => {
      const record = await readRecord(ctx, '/api/metrics', 'DASH-004');
      const place = fieldOf('/api/metrics', 'DASH-004');
      expectFields(ctx, record, numbers([...shorterMetrics, ...additionalMetrics]), place);
      expectFields(ctx, record, { timestamp: 'string', uptime: 'string' }, place);
    },
  },
  // DASH-004 (MUST): GET /api/metrics answers with the complete form of the metrics record: the fields of METRICS-002
  // and METRICS-003, and uptime.
  {
    id: 'DASH-004b',
    title: 'shows the counters of GET /metrics/ in the answer to GET /api/metrics, and both what TCP saw',
    clauses: ['DASH-004'],
    ...dashboard,
    isolation: 'fresh',
    evidence: { responses: 3, frames: 8, messages: 2, assertions: 4 },
    run: async (ctx) => {
      const fields = ['total_messages_published', 'total_messages_delivered', 'total_messages_acknowledged'];
      const countsAt = async (surface: 'metrics' | 'dashboard'): Promise<readonly number[]> => {
        const record =
          surface === 'metrics'
            ? await recordAt(ctx, '/metrics/', [200])
            : await readRecord(ctx, '/api/metrics', 'DASH-004');
        return fields.map((field) => Number(record[field]));
      };
      const before = await countsAt('dashboard');
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'counted');
      await publishSeries(ctx, client, queue, 3);
      const limited = await newQueue(ctx, client, 'taken');
      await client.subscribe(limited);
      await publishSeries(ctx, client, limited, 2);
      await takeAndAck(client, limited, 2);
      const wanted = [5, 2, 2].map((added, index) => (before[index] ?? 0) + added);
      const isWanted = (seen: readonly number[]): boolean => String(seen) === String(wanted);
      for (const surface of ['dashboard', 'metrics'] as const) {
        await eventually(ctx, () => countsAt(surface), isWanted, {
          text: `${surface === 'metrics' ? '/metrics/' : '/api/metrics'} counts 5 published, 2 delivered, 2 acknowledged`,
          causesOf: () => ['METRICS-008', 'METRICS-009', 'METRICS-010'],
        });
      }
    },
  },
];

const queues: CheckModule = [
  // DASH-005 (MUST): GET /api/queues answers with an array of the names of all queues.
  {
    id: 'DASH-005a',
    title: 'lists the names of the queues that exist, and of no others',
    clauses: ['DASH-005'],
    ...dashboard,
    evidence: { responses: 2, assertions: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const first = await newQueue(ctx, client, 'Ä-first');
      const second = await newQueue(ctx, client, 'second');
      const names = await readList(ctx, '/api/queues', 'DASH-005');
      for (const queue of [first, second])
        ctx.assert.ok(names.includes(queue), `${queue} is listed`, { actual: names });
      await client.deleteQueue(first);
      const fewer = await readList(ctx, '/api/queues', 'DASH-005');
      ctx.assert.ok(!fewer.includes(first), `${first}, which was deleted, is not listed`, { actual: fewer });
    },
  },
  // DASH-006 (MUST): GET /api/queues/{name} answers with name, message_count, subscriber_count, delivery_mode,
  // max_size, created_at, enable_dead_letter_queue, overflow_strategy and max_retry_attempts.
  {
    id: 'DASH-006a',
    title: 'shows a queue with the counts and options that QueueInfo shows',
    clauses: ['DASH-006', 'DASH-007', 'DASH-029'],
    ...dashboard,
    accepts: ['enumerations as numbers', 'enumerations as names, with a warning'],
    evidence: { responses: 1, frames: 5, assertions: 12 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters');
      const queue = await newQueue(ctx, client, 'shown', {
        mode: 3,
        maxQueueSize: 70_000,
        messageTtl: '2.03:00:00.05',
        enableDeadLetterQueue: true,
        deadLetterQueueName: letters,
        overflowStrategy: 1,
        maxRetryAttempts: 5,
      });
      await publishSeries(ctx, client, queue, 2);
      const record = await readRecord(ctx, queuePath(queue), 'DASH-006');
      const field = (name: string, clause = 'DASH-006'): unknown =>
        requiredField(record, name, fieldOf(queuePath(queue), clause));
      ctx.assert.equal(field('name'), queue, 'name');
      ctx.assert.equal(field('message_count'), 2, 'message_count with two waiting messages');
      ctx.assert.equal(field('subscriber_count'), 0, 'subscriber_count without subscribers');
      ctx.assert.equal(field('max_size'), 70_000, 'max_size');
      ctx.assert.equal(field('enable_dead_letter_queue'), true, 'enable_dead_letter_queue');
      ctx.assert.equal(field('max_retry_attempts'), 5, 'max_retry_attempts');
      ctx.assert.matches(field('created_at'), timestamp, 'created_at');
      expectEnumeration(ctx, field('delivery_mode'), [3, 'PriorityBased'], 'delivery_mode');
      expectEnumeration(ctx, field('overflow_strategy'), [1, 'DropNewest'], 'overflow_strategy');
      const ttl = field('message_ttl', 'DASH-007');
      ctx.assert.matches(ttl, /^2\.03:00:00\.050{0,5}$/, 'message_ttl', 'DASH-007');
      const name = field('dead_letter_queue_name', 'DASH-007');
      ctx.assert.equal(name, letters, 'dead_letter_queue_name', 'DASH-007');
    },
  },
  // DASH-007 (MUST): The answer to GET /api/queues/{name} contains message_ttl and dead_letter_queue_name when the
  // queue has them; otherwise they are absent or null.
  {
    id: 'DASH-007a',
    title: 'shows no message_ttl and no dead_letter_queue_name of a queue that has none',
    clauses: ['DASH-007', 'DASH-037'],
    ...dashboard,
    accepts: ['absent', 'null'],
    evidence: { responses: 1, assertions: 4 },
    run: async (ctx) => {
      const queue = await newQueue(ctx, await ctx.connect(), 'plain');
      const record = await readRecord(ctx, queuePath(queue), 'DASH-006');
      ctx.assert.equal(record['name'], queue, 'name', 'DASH-006');
      for (const field of ['message_ttl', 'dead_letter_queue_name'])
        ctx.assert.equal(record[field] ?? null, null, field);
    },
  },
  // DASH-020 (MUST): DELETE /api/queues/{name} deletes the queue and all its messages.
  {
    id: 'DASH-020a',
    title: 'deletes a queue with its messages on DELETE',
    clauses: ['DASH-020', 'DASH-022'],
    ...dashboard,
    evidence: { responses: 1, frames: 6, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'deleted');
      const kept = await newQueue(ctx, client, 'kept');
      await publishSeries(ctx, client, queue, 2);
      await remove(ctx, queuePath(queue), 'DASH-020');
      ctx.assert.equal(await client.queueInfo(queue), undefined, 'QueueInfo of the deleted queue');
      const info = await client.queueInfo(kept);
      ctx.assert.equal(info?.['name'], kept, 'the name of another queue, which exists still');
      await client.createQueue(queue);
      const anew = await readRecord(ctx, queuePath(queue), 'DASH-006');
      ctx.assert.equal(anew['message_count'], 0, 'number of messages in a new queue of that name');
    },
  },
];

const refusals: CheckModule = [
  // DASH-023 (SHOULD): The dashboard answers a request for an unknown queue, message or path by 404.
  {
    id: 'DASH-023a',
    title: 'answers 404 for a queue, a message and a path that do not exist',
    clauses: ['DASH-023'],
    ...dashboard,
    accepts: ['404', '204 for DELETE of an unknown queue', '200 with an empty array for its messages'],
    evidence: { responses: 7, assertions: 7 },
    run: async (ctx) => {
      const queue = await newQueue(ctx, await ctx.connect(), 'there');
      const nowhere = queuePath(ctx.queue('nowhere'));
      await readRecord(ctx, queuePath(queue), 'DASH-006');
      for (const [method, path, also] of [
        ['GET', nowhere, []],
        ['DELETE', nowhere, [204]],
        ['GET', `${nowhere}/messages`, [200]],
        ['GET', `${nowhere}/messages/m`, []],
        ['GET', `${queuePath(queue)}/messages/m`, []],
        ['GET', '/api/no-such-path', []],
      ] as const) {
        const { status } = await ctx.dashboard.request(path, { method });
        ctx.assert.oneOf(status, [404, ...also], `the status of ${method} ${path}`);
      }
    },
  },
  // DASH-024 (SHOULD): The dashboard answers a request with a method that the path does not support by 405.
  {
    id: 'DASH-024a',
    title: 'answers 405 for a method that a path does not support',
    clauses: ['DASH-024'],
    ...dashboard,
    accepts: ['405', '200 for such a method on a list'],
    evidence: { responses: 3, assertions: 3 },
    run: async (ctx) => {
      await readList(ctx, '/api/queues', 'DASH-005');
      for (const [path, also] of [
        ['/api/queues', [200]],
        ['/api/version', []],
      ] as const) {
        const { status } = await ctx.dashboard.request(path, { method: 'PUT' });
        ctx.assert.oneOf(status, [405, ...also], `the status of PUT ${path}`);
      }
    },
  },
  // DASH-025 (SHOULD): The dashboard answers a request with an empty name by 400.
  {
    id: 'DASH-025a',
    title: 'answers 400 for an empty name',
    clauses: ['DASH-025'],
    ...dashboard,
    evidence: { responses: 2, assertions: 2 },
    run: async (ctx) => {
      await readList(ctx, '/api/queues', 'DASH-005');
      const { status } = await ctx.dashboard.get('/api/queues//messages');
      ctx.assert.equal(status, 400, 'the status of GET /api/queues//messages');
    },
  },
  // DASH-028 (MUST): All answers of the API are JSON with snake_case property names.
  {
    id: 'DASH-028a',
    title: 'answers in JSON whose properties have names in snake_case',
    clauses: ['DASH-028'],
    ...dashboard,
    evidence: { responses: 4, assertions: 8 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'named');
      const paths = ['/api/version', '/api/health', '/api/metrics', queuePath(queue)];
      for (const path of paths) {
        const answer = await ctx.dashboard.get(path);
        ctx.assert.matches(answer.headers['content-type'], /^application\/json\b/, `the type of GET ${path}`);
        const names = Object.keys((await readValue(ctx, path, 'DASH-028')) as JsonRecord);
        const wrong = names.filter((name) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name));
        ctx.assert.deepEqual(wrong, [], `the property names of ${path} that are not in snake_case`);
      }
    },
  },
];

export const dashboardChecks: CheckModule = [...broker, ...queues, ...refusals];

function numbers(names: readonly string[]): Readonly<Record<string, 'number'>> {
  return Object.fromEntries(names.map((name) => [name, 'number'] as const));
}

/** Existing brokers write enumerations as numbers. */
function expectEnumeration(
  ctx: CheckContext,
  actual: unknown,
  [value, name]: readonly [number, string],
  field: string,
): void {
  ctx.assert.oneOf(actual, [value, name], field, 'DASH-006');
  ctx.should(actual === value, 'DASH-029', `${field} is written as a number`, { actual });
}
