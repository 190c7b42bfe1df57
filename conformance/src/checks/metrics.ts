// Checks of the metrics record and its counters. The checks of counters compare values before and after a known scenario, without
// retries, repeats or fan-out, on a broker that no other check uses. Area: METRICS.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { additionalMetrics, shorterMetrics, timestamp } from '../record-forms.ts';
import { Command } from '../wire/command.ts';
import { placeOf, recordAt, waitForRecord } from './shared/http-records.ts';
import { eventually, newQueue } from './shared/queue-state.ts';
import { expectFields, inTheRecord, type JsonRecord, requiredField } from './shared/required-fields.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { publishSeries, takeAndAck } from './shared/subscribers.ts';

/** A line of the Prometheus text format that is no comment. */
const sample = /^[a-zA-Z_:][\w:]*(?:\{.*\})? (?:[+-]?[\d.]+(?:e[+-]?\d+)?|[+-]Inf|NaN)(?: -?\d+)?$/;

/** Headers that ask for the text format, as Prometheus and other programs send them. */
const acceptHeaders = [
  'text/plain, */*',
  'text/html, text/plain;version=0.0.4',
  'TEXT/PLAIN',
  'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1',
  'application/json;q=0.1, text/plain;q=0.9',
  'text/plain ; version=0.0.4',
] as const;

type Histogram = {
  readonly name: string;
  readonly buckets: readonly number[];
  readonly count: number | undefined;
};

/** The histograms without other labels than le, with their buckets in the order of the text. */
function histogramsIn(body: string): readonly Histogram[] {
  const names = [...body.matchAll(/^# TYPE (\S+) histogram$/gm)].map(([, name = '']) => name);
  return names.flatMap((name) => {
    const lines = body.split('\n');
    const bucketStart = `${name}_bucket{le="`;
    const buckets = lines.filter((line) => line.startsWith(bucketStart)).map(sampleValue);
    const count = lines.filter((line) => line.startsWith(`${name}_count `)).map(sampleValue)[0];
    return buckets.length === 0 ? [] : [{ name, buckets, count }];
  });
}

function sampleValue(line: string): number {
  return Number(line.split(' ')[1]);
}

/** The evidence of a check that reads a field before and after a scenario. */
export const readTwice = { responses: 2, frames: 1, assertions: 3 } as const;

const form: CheckModule = [
  // METRICS-001 (MUST): GET /metrics/ answers 200 with a JSON object.
  {
    id: 'METRICS-001a',
    title: 'answers GET /metrics/ with 200 and a JSON object that has the fields of the metrics record',
    clauses: ['METRICS-001', 'METRICS-002', 'METRICS-004'],
    profile: 'observability',
    evidence: { responses: 1, assertions: 10 },
    run: async (ctx) => {
      const record = await recordAt(ctx, '/metrics/', [200]);
      for (const field of [...shorterMetrics, 'timestamp'])
        requiredField(record, field, placeOf('/metrics/', field));
      const numbers = Object.fromEntries(shorterMetrics.map((field) => [field, 'number'] as const));
      expectFields(ctx, record, numbers, { ...inTheRecord, clause: 'METRICS-004' });
    },
  },
  // METRICS-021 (SHOULD): GET /metrics/ answers in the Prometheus text format, when the Accept header asks for
  // text/plain or OpenMetrics.
  {
    id: 'METRICS-021a',
    title: 'answers GET /metrics/ in the Prometheus text format when the Accept header asks for text/plain',
    clauses: ['METRICS-021'],
    profile: 'observability',
    evidence: { responses: 1, assertions: 3 },
    run: async (ctx) => {
      const answer = await ctx.http.get('/metrics/', { headers: { accept: 'text/plain;version=0.0.4' } });
      ctx.assert.equal(answer.status, 200, 'the status of /metrics/ with Accept: text/plain');
      const type = answer.headers['content-type'] ?? '';
      ctx.assert.matches(type, /^text\/plain(?:;|$)/, 'the type of the answer to Accept: text/plain');
      const lines = answer.body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      const wrong = lines.find((line) => !sample.test(line));
      ctx.assert.ok(lines.length > 0 && wrong === undefined, 'each line of the text is a sample', {
        expected: 'name{labels} value',
        actual: wrong ?? 'no line',
      });
    },
  },
  // METRICS-021 (SHOULD): GET /metrics/ answers in the Prometheus text format, when the Accept header asks for
  // text/plain or OpenMetrics.
  {
    id: 'METRICS-021b',
    title: 'answers in the text format also where text/plain or OpenMetrics is one of several types',
    clauses: ['METRICS-021'],
    profile: 'observability',
    evidence: { responses: 6, assertions: 12 },
    run: async (ctx) => {
      for (const accept of acceptHeaders) {
        const answer = await ctx.http.get('/metrics/', { headers: { accept } });
        ctx.assert.equal(answer.status, 200, `the status of /metrics/ with Accept: ${accept}`);
        const type = answer.headers['content-type'] ?? '';
        const text = /^(?:text\/plain|application\/openmetrics-text)(?:;|$)/;
        ctx.assert.matches(type, text, `the type of the answer to Accept: ${accept}`);
      }
    },
  },
  // METRICS-021 (SHOULD): GET /metrics/ answers in the Prometheus text format, when the Accept header asks for
  // text/plain or OpenMetrics.
  {
    id: 'METRICS-021c',
    title: 'sends cumulative buckets in the histograms of the text format',
    clauses: ['METRICS-021'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: { responses: 1, messages: 4, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'measured');
      await publishSeries(ctx, client, queue, 1);
      await waitUntil(ctx, ctx.now() + waitedMs);
      await client.subscribe(queue);
      await takeAndAck(client, queue, 1);
      await publishSeries(ctx, client, queue, 3);
      await takeAndAck(client, queue, 3);
      const { body } = await ctx.http.get('/metrics/', { headers: { accept: 'text/plain' } });
      const histograms = histogramsIn(body);
      if (histograms.length === 0) ctx.notApplicable('the text has no histogram');
      for (const { name, buckets, count } of histograms) {
        const isCumulative = buckets.every((value, index) => value >= (buckets[index - 1] ?? 0));
        ctx.assert.ok(isCumulative, `no bucket of ${name} has less than the one before it`, {
          actual: buckets,
        });
        ctx.assert.equal(buckets.at(-1), count, `the last bucket of ${name} is its count`);
      }
    },
  },
  // METRICS-003 (MUST): The metrics record has either all or none of total_retries, total_dead_lettered, total_errors,
  // total_connections_accepted, total_connections_rejected and in_flight_messages.
  {
    id: 'METRICS-003a',
    title: 'sends the complete form or the shorter form of the metrics record',
    clauses: ['METRICS-003', 'METRICS-004', 'METRICS-022'],
    profile: 'observability',
    accepts: ['the complete form', 'the shorter form, with none of the additional fields'],
    evidence: { responses: 1, assertions: 2 },
    run: async (ctx) => {
      const record = await recordAt(ctx, '/metrics/', [200]);
      requiredField(record, 'total_messages_published', placeOf('/metrics/', 'total_messages_published'));
      const further = additionalMetrics.filter((field) => field in record);
      ctx.assert.oneOf(
        further.length,
        [0, additionalMetrics.length],
        `number of additional fields, which are present: ${further.join(', ')}`,
      );
      for (const field of further) {
        expectFields(ctx, record, { [field]: 'number' }, { ...inTheRecord, clause: 'METRICS-004' });
      }
      const isWhole = further.length === 0 || 'uptime' in record;
      ctx.should(isWhole, 'METRICS-022', 'the complete form has uptime', { actual: Object.keys(record) });
    },
  },
  // METRICS-005 (MUST): timestamp in the metrics record is a timestamp in the form of BODY-041.
  {
    id: 'METRICS-005a',
    title: 'writes timestamp as ISO 8601 in UTC',
    clauses: ['METRICS-005'],
    profile: 'observability',
    evidence: { responses: 1, assertions: 2 },
    run: async (ctx) => {
      const record = await recordAt(ctx, '/metrics/', [200]);
      ctx.assert.matches(requiredField(record, 'timestamp', inTheRecord), timestamp, 'timestamp');
    },
  },
  // METRICS-006 (MUST): uptime, if the metrics record has it, is a time span of the form [d.]hh:mm:ss with an optional
  // fraction of 1 to 7 digits, which has the days from one day on.
  {
    id: 'METRICS-006a',
    title: 'writes uptime as a time span that increases',
    clauses: ['METRICS-006'],
    profile: 'observability',
    waits: true,
    evidence: { responses: 20, assertions: 20 },
    run: async (ctx) => {
      const first = await recordAt(ctx, '/metrics/', [200]);
      expectFields(ctx, first, { active_queues: 'number' });
      if (first['uptime'] === undefined) ctx.notApplicable('the shorter form of the record has no uptime');
      let earlier = uptimeMs(ctx, first);
      // Longer than a second, so that fractions that begin with a zero are among them.
      for (let count = 0; count < 20; count += 1) {
        await waitUntil(ctx, ctx.now() + 60);
        const later = uptimeMs(ctx, await recordAt(ctx, '/metrics/', [200]));
        const expected = `${earlier} ms or more`;
        ctx.assert.ok(later >= earlier, 'uptime does not decrease', { expected, actual: later });
        earlier = later;
      }
    },
  },
] satisfies readonly Check[];

const agreement: CheckModule = [
  // METRICS-007 (MUST): The broker never decreases a counter while it runs.
  {
    id: 'METRICS-007a',
    title:
      'never decreases a counter while clients connect, publish, acknowledge, delete queues and disconnect',
    clauses: ['METRICS-007'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: { responses: 3, messages: 3, assertions: 10 },
    run: async (ctx) => {
      let last = await recordAt(ctx, '/metrics/', [200]);
      const readAgain = async (): Promise<void> => {
        const now = await recordAt(ctx, '/metrics/', [200]);
        expectNoDecrease(ctx, last, now);
        last = now;
      };
      for (let round = 0; round < 3; round += 1) {
        const client = await ctx.connect({ own: true });
        const queue = await runWorkload(ctx, client, `round-${round}`, { published: 2, acknowledged: 1 });
        await client.request({ command: Command.Publish, id: ctx.id('m'), queue, payload: '{"refused":' });
        await readAgain();
        await client.deleteQueue(queue);
        await readAgain();
        await client.abort();
        await waitForRecord(ctx, '/metrics/', { active_connections: 0 });
        await readAgain();
      }
    },
  },
  // METRICS-008 (SHOULD): total_messages_published increases by one for each PublishAck that does not answer a repeat.
  {
    id: 'METRICS-008a',
    title: 'increases total_messages_published by one for each PublishAck that does not answer a repeat',
    clauses: ['METRICS-008'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: { responses: 2, frames: 6, assertions: 2 },
    run: (ctx) =>
      expectIncreases(ctx, { total_messages_published: 4 }, async (client) => {
        await publishSeries(ctx, client, await newQueue(ctx, client, 'published'), 4);
        const fields = { command: Command.Publish, id: ctx.id('m'), queue: ctx.queue('published') };
        const answer = await client.request({ ...fields, payload: '{"refused":' });
        ctx.assert.equal(
          answer.commandName,
          'Error',
          'the answer to a payload that is not JSON',
          'PUBLISH-014',
        );
      }),
  },
  // METRICS-009 (SHOULD): total_messages_delivered increases by one for each Deliver frame that the broker sends.
  {
    id: 'METRICS-009a',
    title: 'increases total_messages_delivered by one for each Deliver frame',
    clauses: ['METRICS-009'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: { responses: 2, messages: 3, assertions: 2 },
    run: (ctx) =>
      expectIncreases(ctx, { total_messages_delivered: 3, total_messages_published: 5 }, async (client) => {
        await runWorkload(ctx, client, 'delivered', { published: 3, acknowledged: 3 });
        await publishSeries(ctx, client, await newQueue(ctx, client, 'waiting'), 2);
      }),
  },
  // METRICS-010 (SHOULD): total_messages_acknowledged increases by one for each ack that settles a delivery.
  {
    id: 'METRICS-010a',
    title: 'increases total_messages_acknowledged by one for each Ack that settles a delivery',
    clauses: ['METRICS-010'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: { responses: 2, messages: 3, assertions: 2 },
    run: (ctx) =>
      expectIncreases(ctx, { total_messages_acknowledged: 2 }, async (client) => {
        const queue = await runWorkload(ctx, client, 'acknowledged', { published: 3, acknowledged: 2 });
        await client.ack({ id: ctx.id('unknown'), queue });
        await client.delivery({ queue });
        await client.ping();
      }),
  },
  // METRICS-013 (SHOULD): total_errors increases by one for each Error frame that the broker sends, for each message
  // that it discards or evicts, and for each copy that it skips (DELIVERY-029).
  {
    id: 'METRICS-013a',
    title: 'increases total_errors by one for each Error that it sends',
    clauses: ['METRICS-013'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_errors: 2 }, async (client) => {
        const queue = await newQueue(ctx, client, 'errors');
        for (const payload of ['{', '}']) {
          const answer = await client.request({ command: Command.Publish, id: ctx.id('m'), queue, payload });
          ctx.assert.equal(
            answer.commandName,
            'Error',
            'the answer to a payload that is not JSON',
            'PUBLISH-014',
          );
        }
      }),
  },
  // METRICS-014 (SHOULD): in_flight_messages is the number of deliveries that have not ended.
  {
    id: 'METRICS-014a',
    title: 'sends the number of unsettled deliveries in in_flight_messages',
    clauses: ['METRICS-014'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: readTwice,
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const before = await recordAt(ctx, '/metrics/', [200]);
      requireFields(ctx, before, ['in_flight_messages']);
      const held = [];
      for (const name of ['one', 'two']) {
        const queue = await runWorkload(ctx, client, name, { published: 1, acknowledged: 0 });
        held.push(await client.delivery({ queue }));
      }
      for (const [index, delivery] of held.entries()) {
        await waitForRecord(ctx, '/metrics/', { in_flight_messages: 2 - index });
        await client.ack(delivery);
      }
      await waitForRecord(ctx, '/metrics/', { in_flight_messages: 0 });
    },
  },
  // METRICS-014 (SHOULD): in_flight_messages is the number of deliveries that have not ended.
  {
    id: 'METRICS-014b',
    title: 'does not count deliveries of a deleted queue in in_flight_messages',
    clauses: ['METRICS-014', 'QUEUE-017'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: readTwice,
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      requireFields(ctx, await recordAt(ctx, '/metrics/', [200]), ['in_flight_messages']);
      const kept = await runWorkload(ctx, client, 'kept', { published: 1, acknowledged: 0 });
      const deleted = await runWorkload(ctx, client, 'deleted', { published: 1, acknowledged: 0 });
      for (const queue of [kept, deleted]) await client.delivery({ queue });
      await waitForRecord(ctx, '/metrics/', { in_flight_messages: 2 });
      await client.deleteQueue(deleted);
      await waitForRecord(ctx, '/metrics/', { in_flight_messages: 1 });
    },
  },
  // METRICS-015 (SHOULD): average_delivery_latency_ms is the mean time from the acceptance of a message to its first
  // Deliver.
  {
    id: 'METRICS-015a',
    title: 'sends the mean time from acceptance to delivery in average_delivery_latency_ms',
    clauses: ['METRICS-015'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: { responses: 1, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'waited');
      const sentAt = ctx.now();
      const { atMs: acceptedAt } = await client.publish(queue, '1');
      const waited = async (): Promise<number> => ctx.now() - acceptedAt;
      await eventually(ctx, waited, (ms) => ms >= waitedMs, {
        text: `the message has waited for ${waitedMs} ms`,
      });
      const askedAt = ctx.now();
      await client.subscribe(queue);
      const delivery = await client.delivery({ queue });
      const readAgain = async (): Promise<unknown> =>
        (await recordAt(ctx, '/metrics/', [200]))['average_delivery_latency_ms'];
      // The broker may read its clock after it sends the delivery, but not later than this reading of the record.
      const fits = (mean: unknown): boolean =>
        typeof mean === 'number' &&
        mean >= askedAt - acceptedAt - latencyToleranceMs &&
        mean <= ctx.now() - sentAt + latencyToleranceMs;
      await eventually(ctx, readAgain, fits, {
        text: 'average_delivery_latency_ms is the latency of the one message',
      });
      await client.ack(delivery);
    },
  },
  // METRICS-016 (MUST): active_connections in the metrics record is the number of open client connections.
  {
    id: 'METRICS-016a',
    title: 'sends the numbers of open connections and existing queues in the metrics record',
    clauses: ['METRICS-016', 'METRICS-017'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: { responses: 2, frames: 5, assertions: 2 },
    run: async (ctx) => {
      const staying = await ctx.connect({ own: true });
      const leaving = await ctx.connect({ own: true });
      await newQueue(ctx, staying, 'one');
      await newQueue(ctx, leaving, 'two');
      await waitForRecord(ctx, '/metrics/', { active_connections: 2 });
      await waitForRecord(ctx, '/metrics/', { active_queues: 2 }, 'METRICS-017');
      await staying.subscribe(ctx.queue('two'));
      await leaving.abort();
      await staying.deleteQueue(ctx.queue('two'));
      await waitForRecord(ctx, '/metrics/', { active_connections: 1 });
      await waitForRecord(ctx, '/metrics/', { active_queues: 1 }, 'METRICS-017');
    },
  },
  // METRICS-018 (MUST): A broker whose metrics record has total_connections_accepted increases it by one for each
  // connection that it accepts.
  {
    id: 'METRICS-018a',
    title: 'increases total_connections_accepted by one for each accepted connection',
    clauses: ['METRICS-018'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_connections_accepted: 2 }, async () => {
        const first = await ctx.connect({ own: true });
        await first.abort();
        const second = await ctx.connect({ own: true });
        await second.ping();
      }),
  },
] satisfies readonly Check[];

export const metricsChecks: CheckModule = [...form, ...agreement];

const waitedMs = 200;
/** Tolerance for a coarse clock of the broker and for the time between the arrival and the reading of a frame. */
export const latencyToleranceMs = 20;

/** Creates a queue, subscribes to it, publishes messages and acknowledges some of them. Returns the name of the queue. */
async function runWorkload(
  ctx: CheckContext,
  client: Connection,
  name: string,
  counts: { readonly published: number; readonly acknowledged: number },
): Promise<string> {
  const queue = await newQueue(ctx, client, name);
  await client.subscribe(queue);
  await publishSeries(ctx, client, queue, counts.published);
  await takeAndAck(client, queue, counts.acknowledged);
  await client.ping();
  return queue;
}

/** Runs a scenario on a new connection and waits until the counters have increased by these numbers. */
export async function expectIncreases(
  ctx: CheckContext,
  increases: Readonly<Record<string, number>>,
  scenario: (client: Connection) => Promise<void>,
): Promise<void> {
  const client = await ctx.connect({ own: true });
  const before = await recordAt(ctx, '/metrics/', [200]);
  requireFields(ctx, before, Object.keys(increases));
  await scenario(client);
  const wanted = Object.entries(increases).map(([field, by]) => [field, Number(before[field]) + by] as const);
  await waitForRecord(ctx, '/metrics/', Object.fromEntries(wanted));
}

/** Asserts that each field is a number. Ends as not applicable when the shorter form of the record omits one of them. */
export function requireFields(ctx: CheckContext, record: JsonRecord, fields: readonly string[]): void {
  const missing = fields.filter((field) => additionalMetrics.includes(field) && !(field in record));
  const present = fields.filter((field) => !missing.includes(field));
  expectFields(ctx, record, Object.fromEntries(present.map((field) => [field, 'number'])));
  expectFields(ctx, record, { active_connections: 'number' });
  if (missing.length > 0)
    ctx.notApplicable(`the shorter form of the record has no ${missing.join(' and no ')}`);
}

function expectNoDecrease(ctx: CheckContext, last: JsonRecord, now: JsonRecord): void {
  for (const [field, value] of counters(last)) {
    const later = requiredField(now, field, inTheRecord);
    ctx.assert.ok(Number(later) >= value, `${field} does not decrease`, {
      expected: `${value} or more`,
      actual: later,
    });
  }
}

function counters(record: JsonRecord): readonly (readonly [string, number])[] {
  return Object.entries(record).flatMap(([field, value]) =>
    field.startsWith('total_') ? [[field, Number(value)] as const] : [],
  );
}

const uptimeForm = /^(?:(\d+)\.)?(\d\d):([0-5]\d):([0-5]\d)(\.\d{1,7})?$/;

function uptimeMs(ctx: CheckContext, record: JsonRecord): number {
  const text = record['uptime'];
  ctx.assert.matches(text, uptimeForm, 'uptime');
  const [, days = '0', hours, minutes, seconds, fraction = ''] = uptimeForm.exec(String(text)) ?? [];
  const whole = Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return (whole + Number(`0${fraction}`)) * 1000;
}
