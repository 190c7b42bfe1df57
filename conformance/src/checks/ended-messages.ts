// Checks that the id of a message can be used again, whichever way the message ended: a broker that still knows it confirms the next message
// with this id as a repeat, and loses it. Area: PUBLISH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { waitForEndOfPublisher, withBlockedPublish } from './blocking.ts';
import { messagesPath, remove } from './shared/dashboard-api.ts';
import { eventually, messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import {
  fanOutWithAck,
  fanOutWithoutAck,
  newSubscriber,
  queueWithOneSubscriber,
  queueWithTwoSubscribers,
} from './shared/queue-with-subscribers.ts';
import { shortTimings, takeDeadLetter, waitUntil } from './shared/retry-attempts.ts';
import { publishSeries, takeAndAck } from './shared/subscribers.ts';

const delivery = { profile: 'delivery' } as const;
const retries = { profile: 'retry-dlq', waits: true } as const;
const ttlMs = 300;
const messageTtl = '00:00:00.3';

export const endedMessageChecks: CheckModule = [
  // PUBLISH-002 (MUST): The broker sends PublishAck only when the message is in the queue, in the dead letter queue,
  // already settled, or dropped by DropNewest.
  {
    id: 'PUBLISH-002d',
    title: 'stores a message with the id of one that a full DropNewest queue did not take',
    clauses: ['PUBLISH-002'],
    ...delivery,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'newest', { overflowStrategy: 1, maxQueueSize: 1 });
      await publishSeries(ctx, client, queue, 1);
      const id = ctx.id('dropped');
      await client.request({ command: Command.Publish, id, queue, payload: '1' });
      await client.subscribe(queue);
      await takeAndAck(client, queue, 1);
      await expectAdded(ctx, { publisher: client, queue, id });
    },
  },
  // PUBLISH-002 (MUST): The broker sends PublishAck only when the message is in the queue, in the dead letter queue,
  // already settled, or dropped by DropNewest.
  {
    id: 'PUBLISH-002e',
    title: 'stores a message with the id of one that was blocked when its publisher left',
    clauses: ['PUBLISH-002'],
    ...delivery,
    accepts: [
      'the blocked message was dropped, and the new one is delivered',
      'the blocked message is delivered',
    ],
    evidence: { frames: 11, messages: 2 },
    run: async (ctx) => {
      const { client, publisher, queue, id } = await withBlockedPublish(ctx, { watched: true });
      await publisher.abort();
      await waitForEndOfPublisher(ctx, client);
      await client.subscribe(queue);
      await takeAndAck(client, queue, 1);
      await client.publish(queue, again, { id });
      const added = await client.delivery({ queue, id }, { what: 'a message with this id' });
      ctx.assert.equal(added.id, id, 'the id of the delivered message');
      await client.ack(added);
    },
  },
  // PUBLISH-002 (MUST): The broker sends PublishAck only when the message is in the queue, in the dead letter queue,
  // already settled, or dropped by DropNewest.
  {
    id: 'PUBLISH-002f',
    title: 'stores a message with the id of one that was refused because too many publishes were blocked',
    clauses: ['PUBLISH-002'],
    profile: 'limits',
    requires: { configuration: { limits: { maxBlockedPublishes: 1 } } },
    accepts: ['it was refused, and the new one is delivered', 'it was blocked too, and is delivered'],
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const { client, publisher, queue } = await withBlockedPublish(ctx);
      const id = ctx.id('second');
      await publisher.send({ command: Command.Publish, id, queue, payload: '1' });
      await client.subscribe(queue);
      await takeAndAck(client, queue, 2);
      const answer = await publisher.expect({ command: ['Error', 'PublishAck'], id });
      if (answer.command === Command.Error) await client.publish(queue, again, { id });
      const added = await client.delivery({ queue, id }, { what: 'a message with this id' });
      ctx.assert.equal(added.id, id, 'the id of the delivered message');
      await client.ack(added);
    },
  },
  // PUBLISH-011 (SHOULD): The broker adds a new message for a Publish with the id of a message that was settled.
  {
    id: 'PUBLISH-011b',
    title: 'adds a new message for a Publish with the id of a message that DropOldest evicted',
    clauses: ['PUBLISH-011'],
    ...delivery,
    evidence: { frames: 7, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'oldest', { overflowStrategy: 0, maxQueueSize: 1 });
      const [id = ''] = await publishSeries(ctx, client, queue, 2);
      await client.publish(queue, again, { id });
      await client.subscribe(queue);
      await expectDelivered(ctx, { subscriber: client, queue, id });
    },
  },
  // PUBLISH-011 (SHOULD): The broker adds a new message for a Publish with the id of a message that was settled.
  {
    id: 'PUBLISH-011c',
    title: 'adds a new message for a Publish with the id of a message that FanOutWithoutAck has sent',
    clauses: ['PUBLISH-011', 'DELIVERY-026'],
    ...delivery,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, fanOutWithoutAck);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await expectAdded(ctx, { publisher, subscriber, queue, id });
    },
  },
  // PUBLISH-011 (SHOULD): The broker adds a new message for a Publish with the id of a message that was settled.
  {
    id: 'PUBLISH-011d',
    title: 'adds a new message for a Publish with the id of a message whose copies are all acknowledged',
    clauses: ['PUBLISH-011'],
    ...delivery,
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const { publisher, queue, first, second } = await queueWithTwoSubscribers(ctx, fanOutWithAck);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      for (const subscriber of [first, second]) {
        await takeAndAck(subscriber, queue, 1);
        await subscriber.ping();
      }
      await publisher.publish(queue, again, { id });
      for (const subscriber of [first, second]) await expectDelivered(ctx, { subscriber, queue, id });
    },
  },
  // PUBLISH-011 (SHOULD): The broker adds a new message for a Publish with the id of a message that was settled.
  {
    id: 'PUBLISH-011e',
    title: 'adds a new message for a Publish with the id of a message that expired',
    clauses: ['PUBLISH-011'],
    ...retries,
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'expiring', { messageTtl });
      const { id, atMs } = await client.publish(queue, '"expires"');
      await waitUntil(ctx, atMs + ttlMs + ctx.timing.lateMs);
      await client.subscribe(queue);
      await expectAdded(ctx, { publisher: client, queue, id });
    },
  },
  // PUBLISH-012 (SHOULD): The broker adds a new message for a Publish with the id of a dead letter, to the queue that
  // it comes from and to the dead letter queue.
  {
    id: 'PUBLISH-012b',
    title: 'adds a new message for a Publish with the id of a message that expired and is a dead letter',
    clauses: ['PUBLISH-012'],
    ...retries,
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const queue = await newQueue(ctx, client, 'expiring', { messageTtl, ...withLetters });
      const reader = await newSubscriber(ctx, letters);
      const { id } = await client.publish(queue, '"expires"');
      const letter = { queue: letters, id };
      await reader.ack(await takeDeadLetter(ctx, reader, letter, ttlMs + ctx.timing.lateMs, 'TTL-007'));
      await client.subscribe(queue);
      await expectAdded(ctx, { publisher: client, queue, id });
    },
  },
  // PUBLISH-012 (SHOULD): The broker adds a new message for a Publish with the id of a dead letter, to the queue that
  // it comes from and to the dead letter queue.
  {
    id: 'PUBLISH-012c',
    title: 'adds a new message for a Publish with the id of a message that a subscriber refused for good',
    clauses: ['PUBLISH-012'],
    profile: 'retry-dlq',
    requires: { capabilities: ['nack'] },
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const letters = ctx.queue('letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, withLetters);
      const reader = await newSubscriber(ctx, letters);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      const failureReason = 'DeserializationError';
      await subscriber.send({ command: Command.Ack, id, queue, headers: { failureReason } });
      await reader.ack(await takeDeadLetter(ctx, reader, { queue: letters, id }));
      await expectAdded(ctx, { publisher, subscriber, queue, id });
    },
  },
  // PUBLISH-012 (SHOULD): The broker adds a new message for a Publish with the id of a dead letter, to the queue that
  // it comes from and to the dead letter queue.
  {
    id: 'PUBLISH-012d',
    title: 'adds a new message for a Publish to a dead letter queue with the id of a dead letter in it',
    clauses: ['PUBLISH-012'],
    ...retries,
    evidence: { frames: 7, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const queue = await newQueue(ctx, client, 'expiring', { messageTtl, ...withLetters });
      const { id } = await client.publish(queue, '"expires"');
      const count = (): Promise<unknown> => messageCountOf(client, letters);
      const what = { text: 'the message becomes a dead letter', clause: 'TTL-007' };
      await eventually(ctx, count, (seen) => seen === 1, what);
      await client.publish(letters, '"expires"', { id });
      ctx.assert.equal(
        await messageCountOf(client, letters),
        2,
        'number of messages in the dead letter queue',
      );
      // Neither is delivered: two messages with one id look like one that is delivered twice.
      await client.deleteQueue(letters);
    },
  },
  // PUBLISH-011 (SHOULD): The broker adds a new message for a Publish with the id of a message that was settled.
  {
    id: 'PUBLISH-011f',
    title:
      'adds a new message for a Publish with the id of a message that was discarded after its last attempt',
    clauses: ['PUBLISH-011', 'RETRY-009'],
    ...retries,
    prefers: shortTimings,
    evidence: { frames: 7, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 1 });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const { atMs } = await subscriber.delivery({ queue });
      await waitUntil(ctx, atMs + ctx.target.ackTimeoutMs + ctx.timing.lateMs);
      await expectAdded(ctx, { publisher, subscriber, queue, id });
    },
  },
  // PUBLISH-011 (SHOULD): The broker adds a new message for a Publish with the id of a message that was settled.
  {
    id: 'PUBLISH-011g',
    title:
      'adds a new message for a Publish with the id of a message that was removed by DELETE of all messages',
    clauses: ['PUBLISH-011', 'DASH-018'],
    profile: 'dashboard',
    evidence: { responses: 1, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'purged');
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      await remove(ctx, messagesPath(queue), 'DASH-018');
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 0 });
      await client.subscribe(queue);
      await expectAdded(ctx, { publisher: client, queue, id });
    },
  },
] satisfies readonly Check[];

const again = '"again"';

/** A subscriber of the queue that has room. */
type EndedMessage = { readonly subscriber: Connection; readonly queue: string; readonly id: string };

/** Publishes a message with the id of one that has ended, and asserts that it is delivered. */
async function expectAdded(
  ctx: CheckContext,
  {
    publisher,
    subscriber = publisher,
    queue,
    id,
  }: Omit<EndedMessage, 'subscriber'> & { readonly publisher: Connection; readonly subscriber?: Connection },
): Promise<void> {
  await publisher.publish(queue, again, { id });
  await expectDelivered(ctx, { subscriber, queue, id });
}

async function expectDelivered(ctx: CheckContext, { subscriber, queue, id }: EndedMessage): Promise<void> {
  const added = await subscriber.delivery({ queue, id }, { what: 'the message that was published again' });
  ctx.assert.sameJson(added.payload, again, 'the payload of the message that was published again');
  await subscriber.ack(added);
}
