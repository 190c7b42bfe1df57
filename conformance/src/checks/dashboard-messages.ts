// Checks of single messages in the dashboard's API: looks that take nothing out of a queue, removal and purge. Area: DASH.
import type { CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { timestamp } from '../record-forms.ts';
import { withBlockedPublish } from './blocking.ts';
import { fittingLength, textOfLength } from './shared/bodies.ts';
import {
  fieldOf,
  idsIn,
  listMessages,
  messagePath,
  messagesPath,
  queuePath,
  readRecord,
  remove,
} from './shared/dashboard-api.ts';
import { eventually, messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import { newSubscriber } from './shared/queue-with-subscribers.ts';
import { type JsonRecord, requiredField } from './shared/required-fields.ts';
import { gapMs, nextAttempt, retryDelayMs, shortTimings, waitUntil } from './shared/retry-attempts.ts';
import { expectOnlySentinel, idsOf, publishMany, publishSeries, takeAndAck } from './shared/subscribers.ts';

const dashboard = { profile: 'dashboard' } as const;
const looks: CheckModule = [
  // DASH-008 (MUST): GET /api/queues/{name}/messages lists messages of the queue without removing them.
  {
    id: 'DASH-008a',
    title: 'lists the waiting messages, which stay in their queue in their order',
    clauses: ['DASH-008'],
    ...dashboard,
    evidence: { responses: 2, messages: 3, assertions: 5 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'listed');
      const ids = await publishSeries(ctx, client, queue, 3);
      for (let look = 1; look <= 2; look += 1) {
        const seen = idsIn(await listMessages(ctx, queue));
        ctx.assert.deepEqual([...seen].sort(), [...ids].sort(), `the ids in list ${look}`);
      }
      await client.subscribe(queue);
      ctx.assert.deepEqual(
        idsOf(await takeAndAck(client, queue, 3)),
        ids,
        'the messages delivered after that',
      );
    },
  },
  // DASH-009 (MUST): A listed message has id, queue_name, timestamp, headers, version, priority and delivery_attempts,
  // and payload unless it was published without one.
  {
    id: 'DASH-009a',
    title: 'shows a message with all its fields, and its payload as the JSON value that was published',
    clauses: ['DASH-009', 'DASH-014', 'DASH-037'],
    ...dashboard,
    accepts: ['payload absent when there is none', 'payload null when there is none'],
    evidence: { responses: 2, frames: 4, assertions: 16 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'shown');
      const value = { text: 'ä"\\ 🚀', list: [1, null, true, { deep: [] }] };
      const headers = [['x-kind', 'an order']] as const;
      const { id } = await client.publish(queue, JSON.stringify(value), { headers });
      const { id: empty } = await client.publish(queue, undefined);
      const listed = await listMessages(ctx, queue, '', 'DASH-009');
      const inList = listed.find((message) => message['id'] === id) ?? {};
      const alone = await readRecord(ctx, messagePath(queue, id), 'DASH-014');
      for (const [message, clause] of [
        [inList, 'DASH-009'],
        [alone, 'DASH-014'],
      ] as const) {
        expectMessage(ctx, message, { id, queue, clause });
        ctx.assert.deepEqual(message['payload'], value, 'payload', clause);
        const shown = (message['headers'] as JsonRecord | null)?.['x-kind'];
        ctx.assert.equal(shown, 'an order', 'the header in headers', clause);
      }
      const without = listed.find((message) => message['id'] === empty);
      ctx.assert.equal(without?.['payload'] ?? null, null, 'payload of a message without one');
    },
  },
  // DASH-037 (SHOULD): In the JSON of the API, a property that has no value is absent.
  {
    id: 'DASH-037a',
    title: 'leaves out properties without a value, instead of null',
    clauses: ['DASH-037'],
    ...dashboard,
    evidence: { responses: 2, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'bare');
      const { id } = await client.publish(queue, undefined);
      for (const [path, clause, key, value] of [
        [queuePath(queue), 'DASH-006', 'name', queue],
        [messagePath(queue, id), 'DASH-014', 'id', id],
      ] as const) {
        const record = await readRecord(ctx, path, clause);
        ctx.assert.equal(record[key], value, `${key} in the answer to GET ${path}`, clause);
        const empty = Object.keys(record).filter((name) => record[name] === null);
        ctx.assert.deepEqual(empty, [], `the properties of GET ${path} that are null`);
      }
    },
  },
  // DASH-010 (MUST): Query parameter limit of a list of messages is the maximum number of listed messages, and offset
  // is the number of messages to skip.
  {
    id: 'DASH-010a',
    title: 'lists each message once in pages by limit and offset',
    clauses: ['DASH-010'],
    ...dashboard,
    evidence: { responses: 6, frames: 6, assertions: 10 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'paged');
      const ids = await publishSeries(ctx, client, queue, 5);
      const pages: unknown[] = [];
      for (const [offset, count] of [
        [0, 2],
        [2, 2],
        [4, 1],
        [5, 0],
        [2 ** 31, 0],
        [2 ** 32, 0],
      ] as const) {
        const page = idsIn(await listMessages(ctx, queue, `?limit=2&offset=${offset}`, 'DASH-010'));
        ctx.assert.equal(page.length, count, `number of messages with limit 2 and offset ${offset}`);
        pages.push(...page);
      }
      ctx.assert.deepEqual(pages.sort(), [...ids].sort(), 'the ids of all pages');
    },
  },
  // DASH-010 (MUST): Query parameter limit of a list of messages is the maximum number of listed messages, and offset
  // is the number of messages to skip.
  {
    id: 'DASH-010b',
    title: 'lists each message of a fan-out or PriorityBased queue once in pages',
    clauses: ['DASH-010', 'DASH-008'],
    ...dashboard,
    evidence: { responses: 6, frames: 16, assertions: 9 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const mode of [1, 2, 3]) {
        const queue = await newQueue(ctx, client, `paged-${mode}`, { mode });
        const ids: string[] = [];
        for (const priority of ['Low', 'Low', 'High', 'High'])
          ids.push((await client.publish(queue, '1', { headers: { priority } })).id);
        const pages: unknown[] = [];
        for (const offset of [0, 2])
          pages.push(...idsIn(await listMessages(ctx, queue, `?limit=2&offset=${offset}`, 'DASH-010')));
        ctx.assert.deepEqual(pages.sort(), [...ids].sort(), `the ids of all pages in mode ${mode}`);
      }
    },
  },
  // DASH-010 (MUST): Query parameter limit of a list of messages is the maximum number of listed messages, and offset
  // is the number of messages to skip.
  {
    id: 'DASH-010c',
    title: 'lists each of 7,000 messages once in pages of 100',
    clauses: ['DASH-010', 'DASH-008'],
    ...dashboard,
    volume: true,
    evidence: { responses: 71, frames: 7000, assertions: 72 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'long');
      const ids = await publishMany(ctx, client, queue, 7000);
      const pages: unknown[] = [];
      for (let offset = 0; offset <= ids.length; offset += 100)
        pages.push(...idsIn(await listMessages(ctx, queue, `?limit=100&offset=${offset}`, 'DASH-010')));
      const seen = new Set(pages);
      const missing = ids.filter((id) => !seen.has(id));
      ctx.assert.deepEqual(missing.slice(0, 5), [], 'the first messages that are on no page');
      ctx.assert.equal(pages.length, ids.length, 'number of messages on all pages');
    },
  },
  // DASH-011 (SHOULD): limit is 50 and offset 0 when absent.
  {
    id: 'DASH-011a',
    title: 'lists 50 messages without a limit, and clamps a limit to 1 to 100',
    clauses: ['DASH-011', 'DASH-012'],
    ...dashboard,
    evidence: { responses: 5, assertions: 5 },
    run: async (ctx) => {
      const { queue, countWith } = await queueOfMany(ctx);
      ctx.assert.equal(await countWith(''), 50, 'number of messages without limit');
      for (const [query, count] of [
        ['?limit=0', 1],
        ['?limit=-3', 1],
        ['?limit=1000', 100],
        ['?limit=100&offset=-5', 100],
      ] as const)
        ctx.assert.equal(
          await countWith(query),
          count,
          `number of messages of ${queue} with ${query}`,
          'DASH-012',
        );
    },
  },
  // DASH-013 (SHOULD): The dashboard treats a limit or offset that is not a number as absent.
  {
    id: 'DASH-013a',
    title: 'takes a limit and an offset that are no numbers as absent',
    clauses: ['DASH-013'],
    ...dashboard,
    evidence: { responses: 4, assertions: 3 },
    run: async (ctx) => {
      const { countWith } = await queueOfMany(ctx);
      const asked = await countWith('');
      for (const query of ['?limit=many&offset=some', '?limit=2x&offset=60y', '?limit=NaN&offset=NaN'])
        ctx.assert.equal(await countWith(query), asked, `number of messages with ${query}`);
    },
  },
  // DASH-014 (MUST): GET /api/queues/{name}/messages/{messageId} answers with the fields of DASH-009 and the whole
  // payload of the message.
  {
    id: 'DASH-014a',
    title: 'shows the whole payload of a large message',
    clauses: ['DASH-014'],
    ...dashboard,
    evidence: { responses: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'large');
      const text = textOfLength(fittingLength(ctx.target, 300_000));
      const { id } = await client.publish(queue, JSON.stringify({ text }));
      const message = await readRecord(ctx, messagePath(queue, id), 'DASH-014');
      const shown = (message['payload'] as JsonRecord | undefined)?.['text'];
      ctx.assert.ok(shown === text, 'the whole payload is shown', {
        expected: `a text of ${text.length} characters`,
        actual: typeof shown === 'string' ? `one of ${shown.length}` : shown,
      });
    },
  },
  // DASH-015 (SHOULD): GET of one message finds waiting messages and messages in flight.
  {
    id: 'DASH-015a',
    title: 'shows a message that is in flight',
    clauses: ['DASH-015'],
    ...dashboard,
    evidence: { responses: 1, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const { subscriber, queue, id } = await messageInFlight(ctx);
      const { status, body } = await ctx.dashboard.get(messagePath(queue, id));
      ctx.assert.equal(status, 200, 'the status of GET of a message in flight');
      ctx.assert.ok(body.includes(id), 'the message is shown', { actual: body });
      await subscriber.ack(await subscriber.delivery({ queue, id }));
    },
  },
];

const changes: CheckModule = [
  // DASH-015 (SHOULD): GET of one message finds waiting messages and messages in flight.
  {
    id: 'DASH-015b',
    title: 'shows a message that waits for its next attempt',
    clauses: ['DASH-015'],
    ...dashboard,
    waits: true,
    prefers: { timing: { ackTimeoutMs: 300, retryDelayMs: 2000 } },
    evidence: { responses: 3, messages: 2, assertions: 3 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'retried');
      const subscriber = await newSubscriber(ctx, queue);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const { atMs } = await subscriber.delivery({ queue, id });
      const { ackTimeoutMs } = ctx.target;
      for (const part of [0.25, 0.5, 0.75]) {
        await waitUntil(ctx, atMs + ackTimeoutMs + part * retryDelayMs(ctx, 1));
        const { status } = await ctx.dashboard.get(messagePath(queue, id));
        ctx.assert.equal(status, 200, 'the status of GET of a message between two attempts');
      }
      await subscriber.ack(await nextAttempt(ctx, subscriber, { queue, id }));
    },
  },
  // DASH-016 (MUST): DELETE /api/queues/{name}/messages/{messageId} removes a waiting message.
  {
    id: 'DASH-016a',
    title: 'removes the waiting message that a DELETE names, and no other',
    clauses: ['DASH-016', 'DASH-022'],
    ...dashboard,
    evidence: { responses: 1, messages: 3, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'one-less');
      const [first, second = '', third] = await publishSeries(ctx, client, queue, 3);
      await remove(ctx, messagePath(queue, second), 'DASH-016');
      ctx.assert.equal(await messageCountOf(client, queue), 2, 'number of waiting messages afterwards');
      await client.subscribe(queue);
      const rest = idsOf(await takeAndAck(client, queue, 2));
      ctx.assert.deepEqual(rest, [first, third], 'the messages that are delivered');
      await expectOnlySentinel(ctx, client, queue, { text: 'the removed message is not delivered' });
    },
  },
  // DASH-017 (SHOULD): DELETE of one message does not remove a message in flight and answers 404.
  {
    id: 'DASH-017a',
    title: 'answers 404 to DELETE of a message in flight, which stays in flight',
    clauses: ['DASH-017'],
    ...dashboard,
    evidence: { responses: 1, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const { subscriber, queue, id } = await messageInFlight(ctx);
      const { status } = await ctx.dashboard.request(messagePath(queue, id), { method: 'DELETE' });
      ctx.assert.equal(status, 404, 'the status of DELETE of a message in flight');
      await expectGivenBack(ctx, { subscriber, queue, id });
    },
  },
  // DASH-017 (SHOULD): DELETE of one message does not remove a message in flight and answers 404.
  {
    id: 'DASH-017b',
    title: 'answers 404 to DELETE of a message in the pause before its next attempt, which is made',
    clauses: ['DASH-017'],
    ...dashboard,
    waits: true,
    prefers: { timing: { ackTimeoutMs: 300, retryDelayMs: 2000 } },
    evidence: { responses: 1, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'paused');
      const subscriber = await newSubscriber(ctx, queue);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const { atMs } = await subscriber.delivery({ queue, id });
      await waitUntil(ctx, atMs + ctx.target.ackTimeoutMs + retryDelayMs(ctx, 1) / 2);
      const { status } = await ctx.dashboard.request(messagePath(queue, id), { method: 'DELETE' });
      ctx.assert.equal(status, 404, 'the status of DELETE of a message between two attempts');
      await subscriber.ack(await nextAttempt(ctx, subscriber, { queue, id }));
    },
  },
  // OVERFLOW-011 (MUST): With BlockPublisher, the broker adds the blocked message and sends its PublishAck as soon as
  // the queue has room.
  {
    id: 'OVERFLOW-011b',
    title: 'adds a blocked message when DELETE of one message makes room for it',
    clauses: ['OVERFLOW-011', 'DASH-016'],
    ...dashboard,
    evidence: { frames: 8, messages: 1, responses: 1 },
    run: async (ctx) => {
      const { client, publisher, queue, first, id } = await withBlockedPublish(ctx);
      await remove(ctx, messagePath(queue, first), 'DASH-016');
      await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
      await client.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, 1)), [id], 'the delivered message');
    },
  },
  // DASH-018 (MUST): DELETE /api/queues/{name}/messages removes all waiting messages.
  {
    id: 'DASH-018a',
    title: 'removes all waiting messages of one queue on DELETE of its messages',
    clauses: ['DASH-018', 'DASH-022'],
    ...dashboard,
    evidence: { responses: 1, messages: 2, assertions: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'purged');
      const other = await newQueue(ctx, client, 'other');
      await publishSeries(ctx, client, queue, 20);
      const kept = await publishSeries(ctx, client, other, 1);
      await remove(ctx, messagesPath(queue), 'DASH-018');
      ctx.assert.equal(await messageCountOf(client, queue), 0, 'number of waiting messages afterwards');
      await client.subscribe(queue);
      await expectOnlySentinel(ctx, client, queue, { text: 'no purged message is delivered' });
      await client.subscribe(other);
      const left = idsOf(await takeAndAck(client, other, 1));
      ctx.assert.deepEqual(left, kept, 'the message of another queue');
    },
  },
  // DASH-018 (MUST): DELETE /api/queues/{name}/messages removes all waiting messages.
  {
    id: 'DASH-018b',
    title: 'removes all of 2,400 waiting messages on DELETE of the messages of a queue',
    clauses: ['DASH-018', 'DASH-022'],
    ...dashboard,
    evidence: { responses: 1, frames: 2400, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'long');
      await publishMany(ctx, client, queue, 2400);
      await remove(ctx, messagesPath(queue), 'DASH-018');
      ctx.assert.equal(await messageCountOf(client, queue), 0, 'number of waiting messages afterwards');
      await client.subscribe(queue);
      await expectOnlySentinel(ctx, client, queue, { text: 'no purged message is delivered' });
    },
  },
  // DASH-019 (SHOULD): DELETE of all messages does not remove messages in flight.
  {
    id: 'DASH-019a',
    title: 'shows a message in flight after DELETE of all messages',
    clauses: ['DASH-019'],
    ...dashboard,
    evidence: { responses: 2, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const { subscriber, queue, id } = await messageInFlight(ctx);
      const before = await ctx.dashboard.get(messagePath(queue, id));
      if (before.status !== 200) ctx.notApplicable('GET of one message does not show those in flight');
      await remove(ctx, messagesPath(queue), 'DASH-018');
      const after = await ctx.dashboard.get(messagePath(queue, id));
      ctx.assert.equal(after.status, 200, 'the status of GET of the message in flight after the purge');
      await subscriber.ack(await subscriber.delivery({ queue, id }));
    },
  },
  // DELIVERY-005 (MUST): The broker does not remove messages in flight in a purge.
  {
    id: 'DELIVERY-005a',
    title: 'leaves a message in flight alone on DELETE of all messages',
    clauses: ['DELIVERY-005'],
    ...dashboard,
    evidence: { responses: 1, messages: 2, assertions: 2 },
    run: async (ctx) => {
      const { subscriber, queue, id } = await messageInFlight(ctx);
      await remove(ctx, messagesPath(queue), 'DASH-018');
      await expectGivenBack(ctx, { subscriber, queue, id });
    },
  },
  // DELIVERY-005 (MUST): The broker does not remove messages in flight in a purge.
  {
    id: 'DELIVERY-005b',
    title: 'delivers a message again after its ack timeout that was in flight on DELETE of all messages',
    clauses: ['DELIVERY-005', 'RETRY-001'],
    ...dashboard,
    waits: true,
    prefers: shortTimings,
    evidence: { responses: 2, messages: 3, assertions: 1 },
    run: async (ctx) => {
      const { subscriber, queue, id } = await messageInFlight(ctx);
      await subscriber.delivery({ queue, id });
      const client = await ctx.connect();
      const filled = await newQueue(ctx, client, 'filled');
      await publishSeries(ctx, client, filled, 1);
      await nextAttempt(ctx, subscriber, { queue, id });
      for (const purged of [filled, queue]) await remove(ctx, messagesPath(purged), 'DASH-018');
      const withinMs = gapMs(ctx, 2) + ctx.timing.deliveryMs;
      const again = await subscriber.delivery({ queue, id }, { withinMs, clause: 'DELIVERY-005' });
      ctx.assert.equal(again.id, id, 'the message that was in flight');
      await subscriber.ack(again);
    },
  },
];

export const dashboardMessageChecks: CheckModule = [...looks, ...changes];

function expectMessage(
  ctx: CheckContext,
  message: JsonRecord,
  { id, queue, clause }: { readonly id: string; readonly queue: string; readonly clause: string },
): void {
  const field = (name: string): unknown => requiredField(message, name, fieldOf(messagesPath(queue), clause));
  ctx.assert.equal(field('id'), id, 'id', clause);
  ctx.assert.equal(field('queue_name'), queue, 'queue_name', clause);
  ctx.assert.matches(field('timestamp'), timestamp, 'timestamp', clause);
  ctx.assert.equal(field('version'), 1, 'version', clause);
  ctx.assert.oneOf(field('priority'), [1, 'Normal'], 'priority', clause);
  ctx.assert.equal(
    field('delivery_attempts'),
    0,
    'delivery_attempts of a message that was never sent',
    clause,
  );
}

type Held = { readonly subscriber: Connection; readonly queue: string; readonly id: string };

/** A message that a subscriber has received and not acknowledged. */
async function messageInFlight(ctx: CheckContext): Promise<Held> {
  const publisher = await ctx.connect();
  const queue = await newQueue(ctx, publisher, 'held');
  const subscriber = await newSubscriber(ctx, queue);
  const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
  await eventually(
    ctx,
    () => subscriber.ping(),
    () => subscriber.received.some((frame) => frame.id === id),
    { text: 'the message is delivered', clause: 'DELIVERY-002' },
  );
  return { subscriber, queue, id };
}

/** Asserts that the message exists still: its subscriber ends without an ack, and another one receives it. */
async function expectGivenBack(ctx: CheckContext, { subscriber, queue, id }: Held): Promise<void> {
  const witness = await ctx.connect();
  await subscriber.abort();
  await waitForInfo(ctx, witness, queue, { field: 'subscriberCount', value: 0 });
  await witness.subscribe(queue);
  const again = await witness.delivery({ queue });
  ctx.assert.equal(again.id, id, 'the message that was in flight, delivered again');
  await witness.ack(again);
}

/** A queue with 101 messages; `countWith` says how many of them a list with this query shows. */
async function queueOfMany(ctx: CheckContext) {
  const client = await ctx.connect();
  const queue = await newQueue(ctx, client, 'many');
  await publishSeries(ctx, client, queue, 101);
  const countWith = async (query: string): Promise<number> =>
    (await listMessages(ctx, queue, query, 'DASH-010')).length;
  return { queue, countWith };
}

/** A dead letter, because its only subscriber did not acknowledge it. */
