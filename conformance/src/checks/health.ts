// Checks of the health server: the health record, paths, methods, and rules for all HTTP answers. Areas: HEALTH, HTTP.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import { ExpectationFailure } from '../expectation.ts';
import { timestamp } from '../record-forms.ts';
import { expectNothingAskedFor, placeOf, recordAt, recordIn, waitForRecord } from './shared/http-records.ts';
import { newQueue } from './shared/queue-state.ts';
import { expectFields, requiredField } from './shared/required-fields.ts';

const foreignHosts = [
  'rebound.example',
  'rebound.example:80',
  'localhost.rebound.example',
  '127.0.0.1.rebound.example',
];

/** Hosts and paths of which no URL can be made, or another one than was sent. */
const oddRequests = [
  { host: '127.0.0.1:99999', path: '/health/\\\\a' },
  { host: '256.1.1.1', path: '/health/\\a' },
  { host: '[::1', path: '//' },
  { host: 'a b', path: '/a/..//' },
  { host: undefined, path: '/%' },
  { host: undefined, path: '/%c3%28' },
  { host: undefined, path: '*' },
] as const;

export const healthChecks: CheckModule = [
  // HEALTH-001 (MUST): GET /health/ answers with a JSON object.
  {
    id: 'HEALTH-001a',
    title: 'answers GET /health/ with a JSON object that has the fields of the health record',
    clauses: ['HEALTH-001', 'HEALTH-002', 'HEALTH-006', 'HEALTH-013'],
    profile: 'observability',
    evidence: { responses: 1, assertions: 6 },
    run: async (ctx) => {
      const record = await recordAt(ctx, '/health/', [200, 503]);
      const status = requiredField(record, 'status', placeOf('/health/', 'status'));
      ctx.assert.oneOf(status, ['healthy', 'unhealthy'], 'status', 'HEALTH-004');
      for (const field of ['active_connections', 'queue_count', 'memory_usage_mb']) {
        const value = requiredField(record, field, placeOf('/health/', field));
        ctx.assert.ok(Number.isInteger(value) && Number(value) >= 0, `${field} is an integer`, {
          actual: value,
          clause: 'HEALTH-006',
        });
      }
    },
  },
  // HEALTH-001 (MUST): GET /health/ answers with a JSON object.
  {
    id: 'HEALTH-001b',
    title: 'answers GET /health/ also after requests whose Host and path are no part of a URL',
    clauses: ['HEALTH-001'],
    profile: 'observability',
    evidence: { responses: 7, assertions: 7 },
    run: async (ctx) => {
      for (const { host, path } of oddRequests) {
        await askWithoutJudging(ctx, path, host === undefined ? {} : { host });
        const record = await recordAt(ctx, '/health/', [200, 503]);
        requiredField(record, 'status', placeOf('/health/', 'status'));
      }
    },
  },
  // HEALTH-003 (SHOULD): The health record also has is_healthy, in_flight_messages, total_messages_published,
  // total_messages_delivered and timestamp.
  {
    id: 'HEALTH-003a',
    title: 'sends the additional fields of the health record',
    clauses: ['HEALTH-003'],
    profile: 'observability',
    evidence: { responses: 1, assertions: 5 },
    run: async (ctx) => {
      const record = await recordAt(ctx, '/health/', [200, 503]);
      const numbers = ['in_flight_messages', 'total_messages_published', 'total_messages_delivered'];
      expectFields(ctx, record, { is_healthy: 'boolean', timestamp: 'string' });
      expectFields(ctx, record, Object.fromEntries(numbers.map((name) => [name, 'number'])));
      ctx.assert.equal(
        record['is_healthy'],
        record['status'] === 'healthy',
        'is_healthy is true exactly when status is healthy',
      );
      ctx.assert.matches(record['timestamp'], timestamp, 'timestamp');
    },
  },
  // HEALTH-004 (MUST): GET /health/ answers 200 with status healthy, when memory usage is below 90 percent.
  {
    id: 'HEALTH-004a',
    title: 'answers status healthy with 200, or unhealthy with 503',
    clauses: ['HEALTH-004'],
    profile: 'observability',
    accepts: [
      '200 and healthy, below 90 percent of memory',
      '503 and unhealthy, at 90 percent of memory or more',
    ],
    evidence: { responses: 1, assertions: 1 },
    run: async (ctx) => {
      const answer = await ctx.http.get('/health/');
      expectNothingAskedFor(ctx, answer, '/health/');
      const { status } = recordIn(ctx, answer, '/health/');
      ctx.acceptable(
        { code: answer.status, status },
        [
          { title: '200 and healthy', when: (actual) => actual.code === 200 && actual.status === 'healthy' },
          {
            title: '503 and unhealthy',
            when: (actual) => actual.code === 503 && actual.status === 'unhealthy',
          },
        ],
        'the status code and field status',
      );
    },
  },
  // HEALTH-007 (MUST): active_connections is the number of open client connections.
  {
    id: 'HEALTH-007a',
    title: 'sends the numbers of open connections and existing queues in the health record',
    clauses: ['HEALTH-007', 'HEALTH-008'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: { responses: 3, frames: 5, assertions: 4 },
    run: async (ctx) => {
      const before = await recordAt(ctx, '/health/', [200, 503]);
      const staying = await ctx.connect({ own: true });
      const leaving = await ctx.connect({ own: true });
      await newQueue(ctx, staying, 'one');
      await newQueue(ctx, staying, 'two');
      const more = (field: string, count: number) => Number(before[field]) + count;
      await waitForRecord(ctx, '/health/', {
        active_connections: more('active_connections', 2),
      });
      await waitForRecord(ctx, '/health/', { queue_count: more('queue_count', 2) }, 'HEALTH-008');
      await leaving.abort();
      await staying.deleteQueue(ctx.queue('one'));
      await waitForRecord(ctx, '/health/', {
        active_connections: more('active_connections', 1),
      });
      await waitForRecord(ctx, '/health/', { queue_count: more('queue_count', 1) }, 'HEALTH-008');
    },
  },
  // HEALTH-012 (SHOULD): GET /health answers in the same way as GET /health/.
  {
    id: 'HEALTH-012a',
    title: 'answers GET /health like GET /health/',
    clauses: ['HEALTH-012'],
    profile: 'observability',
    evidence: { responses: 2, assertions: 1 },
    run: (ctx) => expectSameFields(ctx, '/health', '/health/'),
  },
  // METRICS-020 (SHOULD): GET /metrics answers in the same way as GET /metrics/.
  {
    id: 'METRICS-020a',
    title: 'answers GET /metrics like GET /metrics/',
    clauses: ['METRICS-020'],
    profile: 'observability',
    evidence: { responses: 2, assertions: 1 },
    run: (ctx) => expectSameFields(ctx, '/metrics', '/metrics/'),
  },
  // HTTP-001 (SHOULD): The HTTP servers send the body of an error as type application/problem+json.
  {
    id: 'HTTP-001a',
    title: 'answers an HTTP error with content type application/problem+json',
    clauses: ['HTTP-001'],
    profile: 'observability',
    evidence: { responses: 1, assertions: 2 },
    run: async (ctx) => {
      const answer = await ctx.http.get('/no/such/path');
      ctx.assert.between(answer.status, 400, 499, 'the status of an unknown path');
      ctx.assert.matches(answer.headers['content-type'], /^application\/problem\+json/, 'content-type');
    },
  },
  // HTTP-002 (SHOULD): A request is refused with 4xx unless its Host is an IP literal, localhost or a configured name.
  {
    id: 'HTTP-002a',
    title: 'refuses a request with an unknown Host header, also if it has a port, or begins as a known one',
    clauses: ['HTTP-002'],
    profile: 'observability',
    evidence: { responses: 5, assertions: 5 },
    run: async (ctx) => {
      await recordAt(ctx, '/metrics/', [200]);
      for (const host of foreignHosts) {
        const { status } = await ctx.http.get('/metrics/', { headers: { host } });
        ctx.assert.between(status, 400, 499, `the status for Host ${host}`);
      }
    },
  },
  // HTTP-003 (SHOULD): No answer of the HTTP servers has header Access-Control-Allow-Origin.
  {
    id: 'HTTP-003a',
    title: 'allows no cross-origin request',
    clauses: ['HTTP-003'],
    profile: 'observability',
    accepts: ['the record', 'a refusal of the request with an Origin'],
    evidence: { responses: 4, assertions: 6 },
    run: async (ctx) => {
      const headers = { origin: 'http://elsewhere.example' };
      for (const path of ['/health/', '/metrics/']) {
        const record = await recordAt(ctx, path, [200]);
        const isRecord = 'status' in record || 'total_messages_published' in record;
        ctx.assert.ok(isRecord, 'the answer is the record', { actual: JSON.stringify(record) });
        const answer = await ctx.http.get(path, { headers });
        const allows = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
        ctx.assert.deepEqual(allows, [], 'names of headers that allow other origins');
      }
    },
  },
  // HTTP-007 (SHOULD): The health server answers 404 for an unknown path.
  {
    id: 'HTTP-007a',
    title: 'answers an unknown path with 404',
    clauses: ['HTTP-007'],
    profile: 'observability',
    evidence: { responses: 2, assertions: 2 },
    run: async (ctx) => {
      for (const path of ['/', '/nowhere/']) {
        ctx.assert.equal((await ctx.http.get(path)).status, 404, `the status of ${path}`);
      }
    },
  },
  // HTTP-009 (MUST): The broker serves its HTTP endpoints at paths without a version, such as /health/ and /metrics/.
  {
    id: 'HTTP-009a',
    title: 'serves no record at a path with a version',
    clauses: ['HTTP-009'],
    profile: 'observability',
    evidence: { responses: 7, assertions: 6 },
    run: async (ctx) => {
      await recordAt(ctx, '/metrics/', [200]);
      for (const prefix of ['/v1', '/v2', '/api/v1'])
        for (const path of [`${prefix}/health/`, `${prefix}/metrics/`]) {
          const { status } = await ctx.http.get(path);
          ctx.assert.between(status, 400, 499, `the status of ${path}`);
        }
    },
  },
  // HEALTH-016 (MAY): A broker answers GET /live with 200, as long as its process serves requests.
  {
    id: 'HEALTH-016a',
    title: 'answers GET /live with 200',
    clauses: ['HEALTH-016'],
    profile: 'observability',
    accepts: ['it has /live', 'it has no such path (not applicable)'],
    evidence: { responses: 2, assertions: 1 },
    run: async (ctx) => {
      const { status } = await ctx.http.get('/live');
      if (status >= 400 && status < 500) ctx.notApplicable('the broker has no /live');
      ctx.assert.equal(status, 200, 'the status of /live');
      const elsewhere = await ctx.http.get(`/live-${ctx.id()}`);
      if (elsewhere.status === 200) ctx.notShown('the broker answers every path with 200');
    },
  },
  // HTTP-008 (SHOULD): The health server answers 405 for a method other than GET and HEAD.
  {
    id: 'HTTP-008a',
    title: 'answers a method other than GET and HEAD with 405',
    clauses: ['HTTP-008'],
    profile: 'observability',
    evidence: { responses: 3, assertions: 3 },
    run: async (ctx) => {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const { status } = await ctx.http.request('/metrics/', { method });
        ctx.assert.equal(status, 405, `the status of ${method}`);
      }
    },
  },
] satisfies readonly Check[];

/** Asserts that both paths answer with the same fields. The values may differ. */
async function expectSameFields(ctx: CheckContext, path: string, withSlash: string): Promise<void> {
  const expected = await recordAt(ctx, withSlash, [200, 503]);
  ctx.assert.ok('timestamp' in expected || 'status' in expected, `${withSlash} answers with a record`, {
    actual: expected,
  });
  const delivered = await recordAt(ctx, path, [200, 503]);
  ctx.assert.deepEqual(Object.keys(delivered).sort(), Object.keys(expected).sort(), `the fields at ${path}`);
}

/** How a server refuses what it cannot read, and whether with an answer, is left to it. */
async function askWithoutJudging(
  ctx: CheckContext,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  try {
    await ctx.http.get(path, { headers, asIs: true });
  } catch (error) {
    if (!(error instanceof ExpectationFailure)) throw error;
  }
}
