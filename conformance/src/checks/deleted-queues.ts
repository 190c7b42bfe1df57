// Checks of what outlives a deleted queue, in the modes that the other checks of these rules do not use. Area: QUEUE.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { withBlockedPublish } from './blocking.ts';
import { queuePath, remove } from './shared/dashboard-api.ts';
import { noteIfLate } from './shared/lateness.ts';
import { isPingAnswered } from './shared/ping-answered.ts';
import { infoField, messageCountOf, newQueue, waitForDeliveries, waitForInfo } from './shared/queue-state.ts';
import {
  deliveredIds,
  newSubscriber,
  otherModes,
  otherModesWithAck,
} from './shared/queue-with-subscribers.ts';
import {
  gapMs,
  nextAttempt,
  retryDelayMs,
  shortTimings,
  takeDeadLetter,
  waitUntil,
} from './shared/retry-attempts.ts';
import { publishSeries } from './shared/subscribers.ts';

export const deletedQueueChecks: CheckModule = [
  // QUEUE-016 (SHOULD): The broker keeps subscriptions to a deleted queue, and delivers to them as soon as a queue of
  // that name exists again.
  {
    id: 'QUEUE-016b',
    title: 'delivers to the subscribers of a deleted queue when it is created again in another mode',
    clauses: ['QUEUE-016'],
    profile: 'delivery',
    evidence: { frames: 21, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModes)) {
        const queue = await newQueue(ctx, client, `back-${name}`);
        const subscriber = await newSubscriber(ctx, queue);
        await expectKept(ctx, client, subscriber, { queue, name, mode });
      }
    },
  },
  // QUEUE-016 (SHOULD): The broker keeps subscriptions to a deleted queue, and delivers to them as soon as a queue of
  // that name exists again.
  {
    id: 'QUEUE-016c',
    title: 'delivers to the subscribers of a deleted fan-out or PriorityBased queue when it is created again',
    clauses: ['QUEUE-016'],
    profile: 'delivery',
    evidence: { frames: 27, messages: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModes)) {
        const queue = await newQueue(ctx, client, `again-${name}`, mode);
        const subscriber = await newSubscriber(ctx, queue);
        // One message is in flight when its queue is deleted, in the modes with acks.
        await publishSeries(ctx, client, queue, 1);
        await subscriber.delivery({ queue });
        await expectKept(ctx, client, subscriber, { queue, name, mode });
      }
    },
  },
  // QUEUE-026 (MUST): subscriberCount is the number of subscriptions to the queue, including those that QUEUE-016
  // keeps.
  {
    id: 'QUEUE-026c',
    title:
      'counts a subscription to a deleted queue that is created again, when and only when it delivers to it',
    clauses: ['QUEUE-026'],
    profile: 'core',
    accepts: ['the subscription has ended with its queue'],
    evidence: { frames: 8, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'kept');
      const subscriber = await newSubscriber(ctx, queue);
      await waitForInfo(ctx, client, queue, { field: 'subscriberCount', value: 1 });
      await client.deleteQueue(queue);
      await client.createQueue(queue);
      const count = await infoField(client, queue, 'subscriberCount');
      await publishSeries(ctx, client, queue, 1);
      if (count !== 0) {
        ctx.assert.equal(count, 1, 'number of subscriptions');
        await subscriber.ack(await subscriber.delivery({ queue }, { clause: 'QUEUE-026' }));
        return;
      }
      await waitForDeliveries(ctx, client, queue);
      await subscriber.ping();
      ctx.assert.equal(
        deliveredIds(subscriber, queue).length,
        0,
        'number of deliveries where no subscription is counted',
      );
    },
  },
  // QUEUE-016 (SHOULD): The broker keeps subscriptions to a deleted queue, and delivers to them as soon as a queue of
  // that name exists again.
  {
    id: 'QUEUE-016d',
    title: 'delivers to the subscribers of a deleted dead letter queue when a dead letter creates it again',
    clauses: ['QUEUE-016', 'DLQ-005'],
    profile: 'retry-dlq',
    evidence: { frames: 9, messages: 1, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = ctx.queue('letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const options = { overflowStrategy: 3, maxQueueSize: 1, ...withLetters };
      const source = await newQueue(ctx, client, 'source', options);
      const reader = await newSubscriber(ctx, letters);
      await client.deleteQueue(letters);
      const [, id = ''] = await publishSeries(ctx, client, source, 2);
      if ((await infoField(client, letters, 'messageCount')) === undefined)
        ctx.notApplicable('the broker does not create a deleted dead letter queue again');
      await reader.ack(await takeDeadLetter(ctx, reader, { queue: letters, id }, 0, 'QUEUE-016'));
    },
  },
  // QUEUE-017 (SHOULD): After a queue is deleted, the broker does not deliver its messages in flight again.
  {
    id: 'QUEUE-017c',
    title: 'makes no further attempt of a message of a deleted FanOutWithAck or PriorityBased queue',
    clauses: ['QUEUE-017'],
    profile: 'retry-dlq',
    prefers: shortTimings,
    waits: true,
    evidence: { frames: 22, messages: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModesWithAck)) {
        const queue = await newQueue(ctx, client, `gone-${name}`, mode);
        const subscriber = await newSubscriber(ctx, queue);
        const [old] = await publishSeries(ctx, client, queue, 1);
        await subscriber.delivery({ queue });
        await client.deleteQueue(queue);
        await client.createQueue(queue, mode);
        await subscribeAgain(client, subscriber, queue);
        // The second attempt of a later message is the sentinel: the next one of the old message would be due before it.
        const [id = ''] = await publishSeries(ctx, client, queue, 1);
        await subscriber.delivery({ queue, id });
        await subscriber.ack(await nextAttempt(ctx, subscriber, { queue, id }));
        const text = `the deliveries from the ${name} queue`;
        ctx.assert.deepEqual(deliveredIds(subscriber, queue), [old, id, id], text);
      }
    },
  },
  // QUEUE-017 (SHOULD): After a queue is deleted, the broker does not deliver its messages in flight again.
  {
    id: 'QUEUE-017d',
    title: 'makes no further attempt of a message whose queue was deleted in the pause before it',
    clauses: ['QUEUE-017'],
    profile: 'retry-dlq',
    prefers: { timing: { ackTimeoutMs: 300, retryDelayMs: 2000 } },
    waits: true,
    evidence: { frames: 24, messages: 3, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const modes = Object.entries({ RoundRobin: {}, ...otherModesWithAck });
      await Promise.all(modes.map(([name, mode]) => expectEndsInPause(ctx, client, name, mode)));
    },
  },
  // QUEUE-018 (SHOULD): The broker ignores acks for messages of a deleted queue.
  {
    id: 'QUEUE-018b',
    title: 'ignores an Ack for a message of a deleted FanOutWithAck or PriorityBased queue',
    clauses: ['QUEUE-018'],
    profile: 'delivery',
    evidence: { frames: 22, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModesWithAck))
        await expectAckIgnored(ctx, client, name, mode);
    },
  },
  // QUEUE-019 (SHOULD): When a queue is deleted, the broker answers the publishes that are blocked on it by Error
  // QUEUE_NOT_FOUND.
  {
    id: 'QUEUE-019c',
    title:
      'answers a blocked Publish with QUEUE_NOT_FOUND when its fan-out or PriorityBased queue is deleted',
    clauses: ['QUEUE-019'],
    profile: 'delivery',
    evidence: { frames: 18, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModes)) {
        const options = { ...mode, overflowStrategy: 2, maxQueueSize: 1 };
        const queue = await newQueue(ctx, client, `full-${name}`, options);
        await publishSeries(ctx, client, queue, 1);
        const publisher = await ctx.connect({ own: true });
        const id = ctx.id('blocked');
        await publisher.send({ command: Command.Publish, id, queue, payload: '1' });
        await isPingAnswered(ctx, publisher, client);
        await client.deleteQueue(queue);
        const expected = {
          what: `the answer to the Publish blocked on the ${name} queue`,
          clause: 'QUEUE-019',
        };
        const answer = await publisher.expect((frame) => frame.id === id, expected);
        ctx.assert.equal(answer.errorCode, 'QUEUE_NOT_FOUND', `the error code of the ${name} queue`);
      }
    },
  },
  // QUEUE-019 (SHOULD): When a queue is deleted, the broker answers the publishes that are blocked on it by Error
  // QUEUE_NOT_FOUND.
  {
    id: 'QUEUE-019d',
    title: 'answers a blocked Publish with QUEUE_NOT_FOUND when its queue is deleted in the dashboard',
    clauses: ['QUEUE-019', 'DASH-020'],
    profile: 'dashboard',
    evidence: { frames: 5, responses: 1, assertions: 1 },
    run: async (ctx) => {
      const { publisher, queue, id } = await withBlockedPublish(ctx);
      await remove(ctx, queuePath(queue), 'DASH-020');
      const expected = { what: 'the answer to the blocked Publish', clause: 'QUEUE-019' };
      const answer = await publisher.expect((frame) => frame.id === id, expected);
      ctx.assert.equal(answer.errorCode, 'QUEUE_NOT_FOUND', 'the error code');
    },
  },
] satisfies readonly Check[];

type CreatedAgain = {
  readonly queue: string;
  /** Of the mode. */
  readonly name: string;
  readonly mode: Readonly<Record<string, unknown>>;
};

/** Deletes the queue and creates it again, in that mode: its subscriber gets what is published then. */
async function expectKept(
  ctx: CheckContext,
  client: Connection,
  subscriber: Connection,
  { queue, name, mode }: CreatedAgain,
): Promise<void> {
  await client.deleteQueue(queue);
  await client.createQueue(queue, mode);
  const [id = ''] = await publishSeries(ctx, client, queue, 1);
  const delivery = await subscriber.delivery({ queue }, { clause: 'QUEUE-016' });
  ctx.assert.equal(delivery.id, id, `the message delivered from the ${name} queue`);
  await subscriber.ack(delivery);
}

/** That a subscription outlives its queue is only recommended, and another check covers it. */
async function subscribeAgain(client: Connection, subscriber: Connection, queue: string): Promise<void> {
  if ((await infoField(client, queue, 'subscriberCount')) === 0) await subscriber.subscribe(queue);
}

/** Deletes the queue in the pause before the second attempt of its message, and creates it again: that attempt does not come. */
async function expectEndsInPause(
  ctx: CheckContext,
  client: Connection,
  name: string,
  mode: Readonly<Record<string, unknown>>,
): Promise<void> {
  const queue = await newQueue(ctx, client, `paused-${name}`, mode);
  const subscriber = await newSubscriber(ctx, queue);
  await publishSeries(ctx, client, queue, 1);
  const { atMs } = await subscriber.delivery({ queue });
  const dueMs = gapMs(ctx, 1);
  await waitUntil(ctx, atMs + dueMs - retryDelayMs(ctx, 1) / 2);
  await client.deleteQueue(queue);
  noteIfLate(ctx, { sinceMs: atMs, maxMs: dueMs, step: 'the DeleteQueue' });
  await client.createQueue(queue, mode);
  await subscribeAgain(client, subscriber, queue);
  await subscriber.ping();
  const before = deliveredIds(subscriber, queue);
  await waitUntil(ctx, atMs + dueMs + ctx.timing.lateMs);
  await subscriber.ping();
  const text = `the deliveries from the ${name} queue`;
  ctx.assert.deepEqual(deliveredIds(subscriber, queue), before, text);
}

/** A queue is deleted and created again while its message is in flight. Its Ack settles no waiting message that has its id. */
async function expectAckIgnored(
  ctx: CheckContext,
  client: Connection,
  name: string,
  mode: Readonly<Record<string, unknown>>,
): Promise<void> {
  const queue = await newQueue(ctx, client, `acked-${name}`, mode);
  const holder = await newSubscriber(ctx, queue);
  const id = ctx.id('m');
  await client.publish(queue, '"old"', { id });
  const old = await holder.delivery({ queue });
  await client.deleteQueue(queue);
  await client.createQueue(queue, mode);
  await holder.unsubscribe(queue);
  await client.publish(queue, '"new"', { id });
  await holder.ack(old);
  await holder.ping();
  const count = await messageCountOf(client, queue);
  ctx.assert.equal(count, 1, `number of waiting messages of the ${name} queue after the late Ack`);
  const reader = await newSubscriber(ctx, queue);
  const renewed = await reader.delivery({ queue, id });
  ctx.assert.sameJson(renewed.payload, '"new"', `the payload of the new message of the ${name} queue`);
  await reader.ack(renewed);
}
