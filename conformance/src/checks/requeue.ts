// Checks of the requeue of dead letters in the dashboard's API, where the broker serves it. Area: DASH.
import type { CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { expectRefusal, foreignOrigins, messagePath, requeue } from './shared/dashboard-api.ts';
import { noteIfLate } from './shared/lateness.ts';
import { messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import { deliveredIds, newSubscriber } from './shared/queue-with-subscribers.ts';
import type { JsonRecord } from './shared/required-fields.ts';
import { nextAttempt, shortTimings, waitUntil } from './shared/retry-attempts.ts';
import { idsOf, publishSeries, resetSubscriber, takeAndAck } from './shared/subscribers.ts';

const requeues = {
  profile: 'dashboard',
  waits: true,
  prefers: shortTimings,
  requires: { capabilities: ['requeue'] },
} as const;

export const requeueChecks: CheckModule = [
  // DASH-032 (MAY): The dashboard serves requeue: POST /api/queues/{name}/messages/{id}/requeue moves a dead letter to
  // its source queue in one transaction and answers 204.
  {
    id: 'DASH-032a',
    title: 'moves a dead letter back to its source queue',
    clauses: ['DASH-032'],
    ...requeues,
    evidence: { responses: 1, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const { client, source, letters, id } = await deadLetter(ctx);
      ctx.assert.equal(await requeue(ctx, letters, id), 204, 'the status of a requeue');
      ctx.assert.equal(await messageCountOf(client, letters), 0, 'number of dead letters afterwards');
      ctx.assert.equal(await messageCountOf(client, source), 1, 'number of messages in the source queue');
    },
  },
  // DASH-033 (MUST): A broker that serves requeue removes the headers that dead-lettering added, sets the attempts of
  // the message to 0, starts its age anew, and puts it at the end of its source queue.
  {
    id: 'DASH-033a',
    title:
      'puts a requeued message at the end of its source queue, without attempts and headers of a dead letter',
    clauses: ['DASH-033'],
    ...requeues,
    evidence: { responses: 1, messages: 3, assertions: 4 },
    run: async (ctx) => {
      const { client, source, letters, id } = await deadLetter(ctx);
      const [waiting] = await publishSeries(ctx, client, source, 1);
      await requeue(ctx, letters, id);
      await client.subscribe(source);
      const [first, second] = await takeAndAck(client, source, 2);
      ctx.assert.deepEqual([first?.id, second?.id], [waiting, id], 'the messages in the order of delivery');
      for (const header of ['deliveryAttempts', 'deadLetterReason', 'deadLetterSource'])
        ctx.assert.equal(second?.header(header), undefined, `header ${header} of the requeued message`);
    },
  },
  // DASH-033 (MUST): A broker that serves requeue removes the headers that dead-lettering added, sets the attempts of
  // the message to 0, starts its age anew, and puts it at the end of its source queue.
  {
    id: 'DASH-033c',
    title: 'starts the age of a requeued message anew',
    clauses: ['DASH-033', 'TTL-001'],
    ...requeues,
    evidence: { responses: 1, messages: 2, assertions: 2 },
    run: async (ctx) => {
      const { client, source, letters, id } = await deadLetter(ctx, { messageTtl: '00:00:02' });
      // As old as that it is also if its age is counted from its dead-lettering.
      await waitUntil(ctx, ctx.now() + 2500);
      const requeuedAtMs = ctx.now();
      await requeue(ctx, letters, id);
      await client.subscribe(source);
      noteIfLate(ctx, { sinceMs: requeuedAtMs, maxMs: 1000, step: 'the Subscribe after a requeue' });
      const about = { what: 'the requeued message', clause: 'DASH-033' };
      const again = await client.delivery({ queue: source }, about);
      ctx.assert.equal(again.id, id, 'the delivered message');
      await client.ack(again);
    },
  },
  // DASH-033 (MUST): A broker that serves requeue removes the headers that dead-lettering added, sets the attempts of
  // the message to 0, starts its age anew, and puts it at the end of its source queue.
  {
    id: 'DASH-033b',
    title: 'delivers requeued messages of a PriorityBased queue in the order of their priorities',
    clauses: ['DASH-033', 'PUBLISH-021', 'DELIVERY-031'],
    ...requeues,
    evidence: { responses: 2, messages: 4, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const { source, letters } = await queueWithLetters(ctx, client, { mode: 3 });
      const subscriber = await newSubscriber(ctx, source);
      const ids: string[] = [];
      for (const priority of ['Low', 'Critical'])
        ids.push((await client.publish(source, '1', { headers: { priority } })).id);
      await waitForLetters(ctx, client, letters, ids.length);
      await subscriber.unsubscribe(source);
      for (const id of ids) await requeue(ctx, letters, id);
      await client.subscribe(source);
      const delivered = await takeAndAck(client, source, ids.length);
      const expected = [...ids].reverse();
      ctx.assert.deepEqual(idsOf(delivered), expected, 'the messages by their priorities', 'DELIVERY-031');
    },
  },
  // DASH-033 (MUST): A broker that serves requeue removes the headers that dead-lettering added, sets the attempts of
  // the message to 0, starts its age anew, and puts it at the end of its source queue.
  {
    id: 'DASH-033d',
    title: 'makes as many attempts of a requeued message as of a new one',
    clauses: ['DASH-033'],
    ...requeues,
    evidence: { responses: 1, messages: 5, assertions: 2 },
    run: async (ctx) => {
      const { client, source, letters, id } = await deadLetter(ctx, { maxRetryAttempts: 2 });
      // Its deliveries and its failed attempt as a dead letter do not count either.
      const reader = await newSubscriber(ctx, letters);
      await reader.delivery({ queue: letters, id });
      await nextAttempt(ctx, reader, { queue: letters, id });
      await resetSubscriber(ctx, reader, { witness: client, queue: letters, remaining: 0 });
      await requeue(ctx, letters, id);
      const subscriber = await newSubscriber(ctx, source);
      const first = await subscriber.delivery({ queue: source, id });
      const attempts = first.header('deliveryAttempts');
      ctx.assert.oneOf(attempts, [undefined, '1'], 'header deliveryAttempts of the first attempt');
      await subscriber.ack(await nextAttempt(ctx, subscriber, { queue: source, id }));
      await subscriber.ping();
      ctx.assert.deepEqual(
        deliveredIds(subscriber, source),
        [id, id],
        'the attempts of the requeued message',
      );
    },
  },
  // DASH-033 (MUST): A broker that serves requeue removes the headers that dead-lettering added, sets the attempts of
  // the message to 0, starts its age anew, and puts it at the end of its source queue.
  {
    id: 'DASH-033f',
    title: 'dead-letters a requeued message again when its last attempt fails',
    clauses: ['DASH-033', 'RETRY-008'],
    ...requeues,
    evidence: { responses: 1, messages: 3, assertions: 2 },
    run: async (ctx) => {
      const { client, source, letters, id } = await deadLetter(ctx);
      ctx.assert.equal(await requeue(ctx, letters, id), 204, 'the status of a requeue', 'DASH-032');
      const subscriber = await newSubscriber(ctx, source);
      await subscriber.delivery({ queue: source, id });
      await waitForLetters(ctx, client, letters, 1);
      await client.subscribe(letters);
      const again = await client.delivery({ queue: letters }, { what: 'the dead letter' });
      ctx.assert.equal(again.id, id, 'the dead letter');
      await client.ack(again);
    },
  },
  // DASH-034 (MUST): A broker that serves requeue answers 409 when the source queue is full, does not exist, or
  // contains a message with that id, and when the message is not a dead letter.
  {
    id: 'DASH-034a',
    title: 'answers 409 to a requeue that is not possible, and keeps the dead letter',
    clauses: ['DASH-034'],
    ...requeues,
    evidence: { responses: 4, messages: 1, assertions: 5 },
    run: async (ctx) => {
      const { client, source, letters, id } = await deadLetter(ctx, { maxQueueSize: 3 });
      const { id: published } = await client.publish(source, '1');
      ctx.assert.equal(await requeue(ctx, source, published), 409, 'the status for what is no dead letter');
      // The queue has room, so that only the id is in the way.
      await client.publish(source, '2', { id });
      ctx.assert.equal(await requeue(ctx, letters, id), 409, 'the status when the source has that id');
      await client.deleteQueue(source);
      await client.createQueue(source, { maxQueueSize: 2 });
      await publishSeries(ctx, client, source, 2);
      ctx.assert.equal(await requeue(ctx, letters, id), 409, 'the status when the source is full');
      await client.deleteQueue(source);
      ctx.assert.equal(await requeue(ctx, letters, id), 409, 'the status when the source does not exist');
      ctx.assert.equal(await messageCountOf(client, letters), 1, 'number of dead letters afterwards');
    },
  },
  // DASH-034 (MUST): A broker that serves requeue answers 409 when the source queue is full, does not exist, or
  // contains a message with that id, and when the message is not a dead letter.
  {
    id: 'DASH-034b',
    title: 'answers 409 to a requeue while a message of that id is in flight in the source queue',
    clauses: ['DASH-034'],
    ...requeues,
    evidence: { responses: 1, messages: 2, assertions: 2 },
    run: async (ctx) => {
      const { client, source, letters, id } = await deadLetter(ctx);
      await client.publish(source, '2', { id });
      const subscriber = await newSubscriber(ctx, source);
      const held = await subscriber.delivery({ queue: source, id });
      const status = await requeue(ctx, letters, id);
      noteIfLate(ctx, { sinceMs: held.atMs, maxMs: ctx.target.ackTimeoutMs, step: 'the requeue' });
      ctx.assert.equal(status, 409, 'the status when the source has that id in flight');
      await subscriber.ack(held);
      await subscriber.ping();
      noteIfLate(ctx, { sinceMs: held.atMs, maxMs: ctx.target.ackTimeoutMs, step: 'the ack' });
      ctx.assert.equal(await messageCountOf(client, letters), 1, 'number of dead letters afterwards');
    },
  },
  // DASH-034 (MUST): A broker that serves requeue answers 409 when the source queue is full, does not exist, or
  // contains a message with that id, and when the message is not a dead letter.
  {
    id: 'DASH-034c',
    title: 'answers 409 to a requeue of a message that was published with headers of a dead letter',
    clauses: ['DASH-034', 'DLQ-011'],
    ...requeues,
    evidence: { frames: 5, responses: 1, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const other = await newQueue(ctx, client, 'other');
      const queue = await newQueue(ctx, client, 'published');
      const headers = { deadLetterSource: other, deadLetterReason: 'MaxRetriesExceeded' };
      const { id } = await client.publish(queue, '1', { headers });
      ctx.assert.equal(await requeue(ctx, queue, id), 409, 'the status for what is no dead letter');
      ctx.assert.equal(await messageCountOf(client, queue), 1, 'number of messages in its queue');
      ctx.assert.equal(
        await messageCountOf(client, other),
        0,
        'number of messages in the queue of its header',
      );
    },
  },
  // DASH-034 (MUST): A broker that serves requeue answers 409 when the source queue is full, does not exist, or
  // contains a message with that id, and when the message is not a dead letter.
  {
    id: 'DASH-034d',
    title: 'answers 409 to a requeue when the source queue has a dead letter of that id',
    clauses: ['DASH-034'],
    ...requeues,
    evidence: { frames: 12, responses: 1, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const last = await newQueue(ctx, client, 'last');
      const redirecting = { overflowStrategy: 3, enableDeadLetterQueue: true };
      // A dead letter queue with a dead letter queue of its own: what is published to it when it is full becomes a dead letter there.
      const letters = await newQueue(ctx, client, 'letters', {
        ...{ maxQueueSize: 2, deadLetterQueueName: last },
        ...redirecting,
      });
      const source = await newQueue(ctx, client, 'source', {
        ...{ maxQueueSize: 1, deadLetterQueueName: letters },
        ...redirecting,
      });
      const first = await publishSeries(ctx, client, letters, 2);
      const id = ctx.id('twice');
      await client.publish(letters, '"last"', { id });
      await client.subscribe(letters);
      await takeAndAck(client, letters, first.length);
      await client.unsubscribe(letters);
      await publishSeries(ctx, client, source, 1);
      await client.publish(source, '"letters"', { id });
      const isThere = async (queue: string): Promise<boolean> => (await messageCountOf(client, queue)) === 1;
      if (!(await isThere(last)) || !(await isThere(letters)))
        ctx.notApplicable('a message with the id of a dead letter is not dead-lettered');
      ctx.assert.equal(await requeue(ctx, last, id), 409, 'the status when the source has that id');
      ctx.assert.equal(await messageCountOf(client, last), 1, 'number of dead letters afterwards');
      ctx.assert.equal(await messageCountOf(client, letters), 1, 'number of messages in the source queue');
    },
  },
  // DASH-040 (SHOULD): The dashboard refuses with 4xx a POST or DELETE whose header Origin names another host or port
  // than its header Host, and changes nothing.
  {
    id: 'DASH-040b',
    title: 'requeues no dead letter for a page of another origin',
    clauses: ['DASH-040'],
    ...requeues,
    evidence: { responses: 3, messages: 1, assertions: 5 },
    run: async (ctx) => {
      const { client, source, letters, id } = await deadLetter(ctx);
      const path = `${messagePath(letters, id)}/requeue`;
      for (const value of foreignOrigins)
        await expectRefusal(ctx, path, { method: 'POST', header: 'origin', value });
      ctx.assert.equal(await messageCountOf(client, source), 0, 'number of messages in the source queue');
      ctx.assert.equal(await messageCountOf(client, letters), 1, 'number of dead letters afterwards');
    },
  },
];

async function deadLetter(ctx: CheckContext, options: JsonRecord = {}) {
  const client = await ctx.connect();
  const { source, letters } = await queueWithLetters(ctx, client, options);
  const subscriber = await newSubscriber(ctx, source);
  const [id = ''] = await publishSeries(ctx, client, source, 1);
  await subscriber.delivery({ queue: source, id });
  await waitForLetters(ctx, client, letters, 1);
  await subscriber.unsubscribe(source);
  return { client, source, letters, id };
}

/** A queue whose messages are dead letters after one attempt, and its dead letter queue. */
async function queueWithLetters(ctx: CheckContext, client: Connection, options: JsonRecord) {
  const letters = await newQueue(ctx, client, 'letters');
  const source = await newQueue(ctx, client, 'source', {
    maxRetryAttempts: 1,
    ...options,
    enableDeadLetterQueue: true,
    deadLetterQueueName: letters,
  });
  return { source, letters };
}

/** Waits until so many messages that nobody acknowledges are dead letters, also when the subscriber gets one at a time. */
async function waitForLetters(
  ctx: CheckContext,
  client: Connection,
  letters: string,
  count: number,
): Promise<void> {
  const until = ctx.now() + count * ctx.target.ackTimeoutMs + ctx.timing.lateMs;
  while ((await messageCountOf(client, letters)) !== count && ctx.now() < until) await client.ping();
  await waitForInfo(ctx, client, letters, { field: 'messageCount', value: count });
}
