// Checks of how requests to the dashboard are read: whose they are, and which message or queue their path names. Areas: DASH, HTTP.
import type { CheckContext, CheckModule } from '../check.ts';
import { withFullMember } from './fan-out.ts';
import {
  expectRefusal,
  foreignOrigins,
  idsIn,
  listMessages,
  messagePath,
  messagesPath,
  readRecord,
  remove,
} from './shared/dashboard-api.ts';
import { messageCountOf, newQueue, requireInfoShows, waitForInfo } from './shared/queue-state.ts';
import { fanOutWithAck, newSubscriber } from './shared/queue-with-subscribers.ts';
import type { JsonRecord } from './shared/required-fields.ts';
import { takeAndLeave, waitUntil } from './shared/retry-attempts.ts';
import { expectOnlySentinel, publishSeries } from './shared/subscribers.ts';

const dashboard = { profile: 'dashboard' } as const;

/** Names that objects of some languages have of themselves, and others. */
const oddHeaders = ['__proto__', 'constructor', 'toString', 'a.b', 'ä'];
/** Each has characters that mean something in an address. Some servers pass on no path with an escaped slash in it: there is none here. */
const oddIds = ['50%25', 'a+b c', 'a?source=b', 'a#b', '%', 'ä🚀'];
/** Stands in a path as it is: only in a query a plus is a blank. */
const unescapedId = 'a+b';

export const dashboardRequestChecks: CheckModule = [
  // HTTP-002 (SHOULD): A request is refused with 4xx unless its Host is an IP literal, localhost or a configured name.
  {
    id: 'HTTP-002b',
    title: 'refuses a request to the dashboard with an unknown Host header, and removes nothing',
    clauses: ['HTTP-002'],
    ...dashboard,
    evidence: { responses: 3, frames: 3, assertions: 4 },
    run: async (ctx) => {
      const { client, queue, path } = await newMessage(ctx);
      await expectRefusal(ctx, path, { method: 'GET', header: 'host', value: 'rebound.example' });
      await expectRefusal(ctx, path, { method: 'DELETE', header: 'host', value: 'rebound.example' });
      ctx.assert.equal(await messageCountOf(client, queue), 1, 'number of messages afterwards');
    },
  },
  // DASH-040 (SHOULD): The dashboard refuses with 4xx a POST or DELETE whose header Origin names another host or port
  // than its header Host, and changes nothing.
  {
    id: 'DASH-040a',
    title: 'removes no message for a page of another origin',
    clauses: ['DASH-040'],
    ...dashboard,
    evidence: { responses: 4, frames: 3, assertions: 5 },
    run: async (ctx) => {
      const { client, queue, path } = await newMessage(ctx);
      for (const value of foreignOrigins)
        await expectRefusal(ctx, path, { method: 'DELETE', header: 'origin', value });
      ctx.assert.equal(await messageCountOf(client, queue), 1, 'number of messages afterwards');
    },
  },
  // DASH-010 (MUST): Query parameter limit of a list of messages is the maximum number of listed messages, and offset
  // is the number of messages to skip.
  {
    id: 'DASH-010e',
    title:
      'lists each message once in pages of one where a FanOutWithAck message was sent to some subscribers only',
    clauses: ['DASH-010', 'DASH-008'],
    ...dashboard,
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 14, messages: 3, responses: 4, assertions: 6 },
    run: async (ctx) => {
      const { publisher, queue, fast } = await withFullMember(ctx, fanOutWithAck);
      await fast.unsubscribe(queue);
      // The first of them goes to the subscriber that has room, and then none has.
      const narrow = await newSubscriber(ctx, queue, { maxInFlight: '1' });
      await publishSeries(ctx, publisher, queue, 4);
      await narrow.delivery({ queue });
      const all = idsIn(await listMessages(ctx, queue));
      const pages = [];
      for (const offset of all.keys())
        pages.push(...idsIn(await listMessages(ctx, queue, `?limit=1&offset=${offset}`, 'DASH-010')));
      ctx.assert.deepEqual(pages, all, 'the ids of all pages');
    },
  },
  // DASH-016 (MUST): DELETE /api/queues/{name}/messages/{messageId} removes a waiting message.
  {
    id: 'DASH-016d',
    title: 'removes a FanOutWithAck message that was sent to some subscribers only, for the others',
    clauses: ['DASH-016', 'DELIVERY-018'],
    ...dashboard,
    requires: { capabilities: ['maxInFlight'] },
    accepts: ['the message is removed', 'the broker does not count it as waiting (not applicable)'],
    evidence: { frames: 16, messages: 4, responses: 1, assertions: 2 },
    run: async (ctx) => {
      const { publisher, queue, fast, slow, held } = await withFullMember(ctx, fanOutWithAck);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const sent = await fast.delivery({ queue, id });
      if ((await messageCountOf(publisher, queue)) !== 1)
        ctx.notApplicable('the broker does not count a message as waiting that it has sent to a subscriber');
      await remove(ctx, messagePath(queue, id), 'DASH-016');
      ctx.assert.equal(await messageCountOf(publisher, queue), 0, 'number of waiting messages');
      await fast.ack(sent);
      await slow.ack(held);
      await expectOnlySentinel(ctx, slow, queue, { text: 'the removed message is not delivered' });
    },
  },
  // DASH-009 (MUST): A listed message has id, queue_name, timestamp, headers, version, priority and delivery_attempts,
  // and payload unless it was published without one.
  {
    id: 'DASH-009b',
    title: 'shows a header whatever its name is',
    clauses: ['DASH-009'],
    ...dashboard,
    evidence: { responses: 1, frames: 3, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'headers');
      const headers = oddHeaders.map((name) => [name, `of ${name}`] as const);
      await client.publish(queue, '1', { headers });
      const [message] = await listMessages(ctx, queue, '', 'DASH-009');
      const shown = Object.entries((message?.['headers'] ?? {}) as JsonRecord);
      const published = shown.filter(([name]) => oddHeaders.includes(name));
      ctx.assert.deepEqual(published.sort(), [...headers].sort(), 'the published headers');
    },
  },
  // DASH-009 (MUST): A listed message has id, queue_name, timestamp, headers, version, priority and delivery_attempts,
  // and payload unless it was published without one.
  {
    id: 'DASH-009c',
    title: 'shows the headers of a dead letter as they are delivered, also those that it was published with',
    clauses: ['DASH-009'],
    ...dashboard,
    evidence: { responses: 1, frames: 7, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters');
      const source = await newQueue(ctx, client, 'source', {
        maxQueueSize: 1,
        overflowStrategy: 3,
        enableDeadLetterQueue: true,
        deadLetterQueueName: letters,
      });
      await publishSeries(ctx, client, source, 1);
      const names = ['deadLetterReason', 'deadLetterSource', 'deadLetterAttempts', 'label'];
      await client.publish(source, '1', { headers: names.map((name) => [name, 'published'] as const) });
      const [listed] = await listMessages(ctx, letters, '', 'DASH-009');
      const shown = (listed?.['headers'] ?? {}) as JsonRecord;
      await client.subscribe(letters);
      const letter = await client.delivery({ queue: letters }, { clause: 'DLQ-001' });
      await client.ack(letter);
      ctx.assert.deepEqual(
        names.map((name) => [name, shown[name]]),
        names.map((name) => [name, letter.header(name)]),
        'the headers in the list',
      );
    },
  },
  // DASH-041 (SHOULD): timestamp of a message is the time at which its queue took it, the same in every answer.
  {
    id: 'DASH-041a',
    title: 'shows the same timestamp of a message whenever it is asked',
    clauses: ['DASH-041'],
    ...dashboard,
    waits: true,
    evidence: { responses: 12, assertions: 11 },
    run: async (ctx) => {
      const { queue } = await newMessage(ctx);
      const look = async (): Promise<unknown> => {
        const [message] = await listMessages(ctx, queue, '', 'DASH-009');
        return message?.['timestamp'];
      };
      const first = await look();
      // At other parts of a millisecond each, and together longer than a second, in case it has no fractions.
      for (let count = 1; count <= 11; count += 1) {
        await waitUntil(ctx, ctx.now() + 100.3);
        ctx.assert.equal(await look(), first, `timestamp when the message is listed again (${count})`);
      }
    },
  },
  // DASH-041 (SHOULD): timestamp of a message is the time at which its queue took it, the same in every answer.
  {
    id: 'DASH-041b',
    title: 'shows the same timestamp of a message after a subscriber had it and left',
    clauses: ['DASH-041'],
    ...dashboard,
    waits: true,
    evidence: { responses: 3, frames: 6, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const { client, queue, path } = await newMessage(ctx);
      const look = async (): Promise<unknown> => (await readRecord(ctx, path, 'DASH-014'))['timestamp'];
      const first = await look();
      // In another second, in case a timestamp has no fractions.
      await waitUntil(ctx, ctx.now() + 1100);
      await takeAndLeave(ctx, client, queue, 0);
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 1 });
      ctx.assert.equal(await look(), first, 'timestamp when the message waits again');
    },
  },
  // DASH-014 (MUST): GET /api/queues/{name}/messages/{messageId} answers with the fields of DASH-009 and the whole
  // payload of the message.
  {
    id: 'DASH-014b',
    title: 'finds messages by ids that are escaped in a path, and by one with a plus that is not',
    clauses: ['DASH-014'],
    ...dashboard,
    evidence: { responses: 7, frames: 8, assertions: 21 },
    run: async (ctx) => {
      const { paths } = await newOddIds(ctx);
      for (const [id, path] of paths) {
        const message = await readRecord(ctx, path, 'DASH-014');
        ctx.assert.deepEqual([message['id'], message['payload']], [id, id], 'id and payload');
      }
    },
  },
  // DASH-016 (MUST): DELETE /api/queues/{name}/messages/{messageId} removes a waiting message.
  {
    id: 'DASH-016c',
    title: 'removes messages by ids that are escaped in a path or have a plus that is not, and no others',
    clauses: ['DASH-016'],
    ...dashboard,
    evidence: { responses: 7, frames: 10, assertions: 14 },
    run: async (ctx) => {
      const { client, queue, paths } = await newOddIds(ctx);
      requireInfoShows(ctx, await client.queueInfo(queue), { messageCount: paths.size });
      for (const path of paths.values()) await remove(ctx, path, 'DASH-016');
      ctx.assert.equal(await messageCountOf(client, queue), 0, 'number of messages afterwards');
    },
  },
];

/** A queue with a message for each of the ids, which is its payload too. `paths`: of the messages by their ids. */
async function newOddIds(ctx: CheckContext) {
  const client = await ctx.connect();
  const queue = await newQueue(ctx, client, 'odd');
  const paths = new Map(oddIds.map((id) => [id, messagePath(queue, id)]));
  paths.set(unescapedId, `${messagesPath(queue)}/${unescapedId}`);
  for (const id of paths.keys()) await client.publish(queue, JSON.stringify(id), { id });
  return { client, queue, paths };
}

/** A queue with a message that the dashboard shows. */
async function newMessage(ctx: CheckContext) {
  const client = await ctx.connect();
  const queue = await newQueue(ctx, client, 'asked-for');
  const [id = ''] = await publishSeries(ctx, client, queue, 1);
  const path = messagePath(queue, id);
  await readRecord(ctx, path, 'DASH-014');
  return { client, queue, path };
}
