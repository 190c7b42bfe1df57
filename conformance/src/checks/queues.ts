// Checks of queues: creation, QueueInfo, ListQueues, deletion, and creation on demand. Area: QUEUE.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { infoField, messageCountOf, newQueue, requireInfoShows, waitForInfo } from './shared/queue-state.ts';
import { expectOnlySentinel, idsOf, resetSubscriber, takeAndAck } from './shared/subscribers.ts';

export const queueChecks: CheckModule = [
  // QUEUE-009 (MUST): The broker never changes an existing queue for a CreateQueue.
  {
    id: 'QUEUE-009a',
    title: 'does not change a queue that is created again with other options',
    clauses: ['QUEUE-009'],
    profile: 'core',
    evidence: { frames: 4, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'kept', { maxQueueSize: 50, maxRetryAttempts: 7 });
      const before = await client.queueInfo(queue);
      const payload = '{"mode":3,"maxQueueSize":60,"maxRetryAttempts":8,"messageTtl":"00:10:00"}';
      await client.request({ command: Command.CreateQueue, id: ctx.id(), queue, payload });
      ctx.assert.deepEqual(await client.queueInfo(queue), before, 'the QueueInfo of the queue');
      requireInfoShows(ctx, before, { maxSize: 50, maxRetryAttempts: 7 });
    },
  },
  // QUEUE-010 (SHOULD): The broker answers a CreateQueue without options on an existing queue positively.
  {
    id: 'QUEUE-010a',
    title: 'answers CreateQueue without options for an existing queue with success',
    clauses: ['QUEUE-010', 'QUEUE-009'],
    profile: 'core',
    evidence: { frames: 4, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'again', { maxQueueSize: 50 });
      await client.createQueue(queue);
      ctx.assert.equal(await infoField(client, queue, 'maxSize'), 50, 'maxSize after the second CreateQueue');
    },
  },
  // QUEUE-011 (SHOULD): The broker answers a CreateQueue on an existing queue positively, when its options, with the
  // defaults for those that it omits, equal the live ones.
  {
    id: 'QUEUE-011a',
    title: 'answers CreateQueue with the same options for an existing queue with success',
    clauses: ['QUEUE-011'],
    profile: 'core',
    evidence: { frames: 4, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const numbers = { maxQueueSize: 50, overflowStrategy: 0, maxRetryAttempts: 4 };
      const options = { mode: 3, messageTtl: '1.00:00:00', ...numbers };
      const queue = await newQueue(ctx, client, 'same', options);
      await client.createQueue(queue, { ...options, mode: 'PriorityBased', overflowStrategy: 'DropOldest' });
      ctx.assert.equal(
        await infoField(client, queue, 'deliveryMode'),
        3,
        'deliveryMode after the second CreateQueue',
      );
    },
  },
  // QUEUE-012 (SHOULD): The broker answers a CreateQueue with other options on an existing queue by Error QUEUE_EXISTS.
  {
    id: 'QUEUE-012a',
    title: 'answers CreateQueue with other options for an existing queue with QUEUE_EXISTS',
    clauses: ['QUEUE-012'],
    profile: 'core',
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'other', { maxQueueSize: 50 });
      for (const payload of ['{"maxQueueSize":51}', '{"maxQueueSize":50,"maxRetryAttempts":4}']) {
        await client.send({ command: Command.CreateQueue, id: ctx.id(), queue, payload });
        const error = await client.expect('Error');
        ctx.assert.equal(error.errorCode, 'QUEUE_EXISTS', 'the error code');
      }
    },
  },
  // QUEUE-012 (SHOULD): The broker answers a CreateQueue with other options on an existing queue by Error QUEUE_EXISTS.
  {
    id: 'QUEUE-012b',
    title: 'answers CreateQueue for an existing queue with QUEUE_EXISTS, whichever option differs',
    clauses: ['QUEUE-012'],
    profile: 'core',
    evidence: { frames: 7, assertions: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const live = { mode: 0, maxQueueSize: 50, messageTtl: '01:00:00', enableDeadLetterQueue: false };
      const queue = await newQueue(ctx, client, 'other', {
        ...live,
        overflowStrategy: 0,
        maxRetryAttempts: 3,
      });
      for (const [option, value] of [
        ['mode', 3],
        ['maxQueueSize', 51],
        ['messageTtl', '01:00:01'],
        ['enableDeadLetterQueue', true],
        ['overflowStrategy', 1],
        ['maxRetryAttempts', 4],
      ] as const) {
        const options = { ...live, overflowStrategy: 0, maxRetryAttempts: 3, [option]: value };
        await client.send({
          ...{ command: Command.CreateQueue, id: ctx.id(), queue },
          payload: JSON.stringify(options),
        });
        const error = await client.expect('Error', { what: `the refusal of another ${option}` });
        ctx.assert.equal(error.errorCode, 'QUEUE_EXISTS', `the error code for another ${option}`);
      }
    },
  },
  // QUEUE-013 (SHOULD): When the broker compares options with those of an existing queue, an absent deadLetterQueueName
  // equals the name <queue>.dlq.
  {
    id: 'QUEUE-013a',
    title: 'treats an absent deadLetterQueueName as <queue>.dlq when it compares options',
    clauses: ['QUEUE-013', 'QUEUE-011'],
    profile: 'core',
    evidence: { frames: 4, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'letters', { enableDeadLetterQueue: true });
      const before = (await client.queueInfo(queue))?.['deadLetterQueueName'];
      await client.createQueue(queue, { enableDeadLetterQueue: true, deadLetterQueueName: `${queue}.dlq` });
      const info = await client.queueInfo(queue);
      ctx.assert.equal(
        info?.['deadLetterQueueName'] ?? null,
        before ?? null,
        'deadLetterQueueName after the second CreateQueue',
      );
      requireInfoShows(ctx, info, { enableDeadLetterQueue: true });
    },
  },
  // QUEUE-014 (MUST): The broker removes the queue of a DeleteQueue and its messages, and answers by a DeleteQueue with
  // the id of the command.
  {
    id: 'QUEUE-014a',
    title: 'deletes a queue together with its messages',
    clauses: ['QUEUE-014', 'QUEUE-024'],
    profile: 'core',
    evidence: { frames: 7, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'gone');
      await client.publish(queue, '1');
      await client.deleteQueue(queue);
      ctx.assert.equal(await client.queueInfo(queue), undefined, 'QueueInfo after DeleteQueue');
      await client.createQueue(queue);
      ctx.assert.equal(await messageCountOf(client, queue), 0, 'number of messages in the new queue');
    },
  },
  // QUEUE-015 (SHOULD): The broker answers a DeleteQueue on a missing queue positively.
  {
    id: 'QUEUE-015a',
    title: 'answers DeleteQueue of a missing queue with success',
    clauses: ['QUEUE-015'],
    profile: 'core',
    evidence: { frames: 2, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const answer = await client.deleteQueue(ctx.queue('never'));
      ctx.assert.equal(answer.commandName, 'DeleteQueue', 'the answer');
    },
  },
  // QUEUE-016 (SHOULD): The broker keeps subscriptions to a deleted queue, and delivers to them as soon as a queue of
  // that name exists again.
  {
    id: 'QUEUE-016a',
    title: 'delivers to the subscribers of a deleted queue when the queue is created again',
    clauses: ['QUEUE-016'],
    profile: 'core',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'back');
      await client.subscribe(queue);
      await client.publish(queue, '0');
      await client.ack(await client.delivery({ queue }));
      await client.deleteQueue(queue);
      await client.createQueue(queue);
      const id = ctx.id('m');
      await client.publish(queue, '1', { id });
      const delivery = await client.delivery({ queue }, { clause: 'QUEUE-016' });
      ctx.assert.equal(delivery.id, id, 'the delivered message');
      await client.ack(delivery);
    },
  },
  // QUEUE-017 (SHOULD): After a queue is deleted, the broker does not deliver its messages in flight again.
  {
    id: 'QUEUE-017a',
    title: 'does not redeliver a message that was in flight when its queue was deleted',
    clauses: ['QUEUE-017', 'QUEUE-014'],
    profile: 'core',
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'held');
      await holder.subscribe(queue);
      await client.publish(queue, '1');
      await holder.delivery({ queue });
      await client.deleteQueue(queue);
      await client.createQueue(queue);
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      await client.subscribe(queue);
      await expectOnlySentinel(ctx, client, queue, {
        text: 'no message of the deleted queue is delivered again',
      });
    },
  },
  // QUEUE-018 (SHOULD): The broker ignores acks for messages of a deleted queue.
  {
    id: 'QUEUE-018a',
    title: 'ignores an Ack for a message of a deleted queue, even if a new message has the same id',
    clauses: ['QUEUE-018', 'QUEUE-017'],
    profile: 'core',
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'reborn');
      const id = ctx.id('m');
      await holder.subscribe(queue);
      await client.publish(queue, '"old"', { id });
      const old = await holder.delivery({ queue });
      await client.deleteQueue(queue);
      await holder.ack(old);
      await holder.ping();
      await client.createQueue(queue);
      // Another check covers that subscriptions outlive their queue, which is only recommended.
      if ((await infoField(client, queue, 'subscriberCount')) === 0) await holder.subscribe(queue);
      await client.publish(queue, '"new"', { id });
      const renewed = await holder.delivery({ queue });
      ctx.assert.sameJson(renewed.payload, '"new"', 'the payload of the new message');
      await holder.ack(renewed);
      await holder.ping();
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      await client.subscribe(queue);
      await expectOnlySentinel(ctx, client, queue, {
        text: 'the acknowledged new message is not delivered again',
      });
    },
  },
  // QUEUE-024 (MUST): The broker answers QueueInfo of a missing queue by a QueueInfo without payload.
  {
    id: 'QUEUE-024a',
    title: 'answers QueueInfo of a missing queue without payload',
    clauses: ['QUEUE-024'],
    profile: 'core',
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = ctx.queue('missing');
      const answer = await client.request({ command: Command.QueueInfo, id: ctx.id(), queue });
      ctx.assert.equal(answer.commandName, 'QueueInfo', 'the answer');
      ctx.assert.equal(answer.payload.length, 0, 'the length of the payload');
      const existing = await newQueue(ctx, client, 'existing');
      requireInfoShows(ctx, await client.queueInfo(existing), { name: existing });
    },
  },
  // QUEUE-025 (MUST): messageCount is the number of waiting messages only.
  {
    id: 'QUEUE-025a',
    title: 'sends the number of waiting messages, without those in flight, in messageCount',
    clauses: ['QUEUE-025'],
    profile: 'core',
    evidence: { frames: 8, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'counted');
      ctx.assert.equal(await messageCountOf(client, queue), 0, 'messageCount of a new queue');
      await client.publish(queue, '1');
      ctx.assert.equal(await messageCountOf(client, queue), 1, 'messageCount after a Publish');
      await client.subscribe(queue);
      const delivery = await client.delivery({ queue });
      ctx.assert.equal(await messageCountOf(client, queue), 0, 'messageCount while the message is in flight');
      await client.ack(delivery);
    },
  },
  // QUEUE-026 (MUST): subscriberCount is the number of subscriptions to the queue, including those that QUEUE-016
  // keeps.
  {
    id: 'QUEUE-026a',
    title: 'sends the number of subscriptions of open connections in subscriberCount',
    clauses: ['QUEUE-026'],
    profile: 'core',
    evidence: { frames: 8, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const leaving = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'subscribers');
      const subscriberCount = (): Promise<unknown> => infoField(client, queue, 'subscriberCount');
      ctx.assert.equal(await subscriberCount(), 0, 'subscriberCount of a new queue');
      await client.subscribe(queue);
      await leaving.subscribe(queue);
      ctx.assert.equal(await subscriberCount(), 2, 'subscriberCount after two clients subscribed');
      await client.unsubscribe(queue);
      ctx.assert.equal(await subscriberCount(), 1, 'subscriberCount after one client unsubscribed');
      await leaving.abort();
      await waitForInfo(ctx, client, queue, { field: 'subscriberCount', value: 0 });
    },
  },
  // QUEUE-028 (MUST): The broker answers ListQueues with a JSON array of the names of all existing queues, without
  // those that AUTH-023 hides from the user.
  {
    id: 'QUEUE-028a',
    title: 'lists existing queues, including empty ones, and no deleted queue',
    clauses: ['QUEUE-028'],
    profile: 'core',
    evidence: { frames: 5, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const [first, second] = [
        await newQueue(ctx, client, 'listed-1'),
        await newQueue(ctx, client, 'listed-2'),
      ];
      const deleted = await newQueue(ctx, client, 'listed-3');
      await client.deleteQueue(deleted);
      const names = await client.listQueues();
      const of = (wanted: string): number => names.filter((name) => name === wanted).length;
      ctx.assert.equal(of(first), 1, 'number of entries of the first queue');
      ctx.assert.equal(of(second), 1, 'number of entries of the second queue');
      ctx.assert.equal(of(deleted), 0, 'number of entries of the deleted queue');
    },
  },
  // QUEUE-028 (MUST): The broker answers ListQueues with a JSON array of the names of all existing queues, without
  // those that AUTH-023 hides from the user.
  {
    id: 'QUEUE-028b',
    title: 'lists each of a hundred queues once, and no name without a queue',
    clauses: ['QUEUE-028'],
    profile: 'core',
    evidence: { frames: 140, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const names = Array.from({ length: 130 }, (_, index) => `many-${index}`);
      const created = await Promise.all(names.map((name) => newQueue(ctx, client, name)));
      const deleted = created.filter((_, index) => index % 13 < 3);
      await Promise.all(deleted.map((queue) => client.deleteQueue(queue)));
      const existing = created.filter((queue) => !deleted.includes(queue));
      const listed = (await client.listQueues()).filter((name) => name.includes(ctx.queue('many-')));
      ctx.assert.deepEqual([...listed].sort(), [...existing].sort(), 'the listed queues of this check');
      ctx.assert.deepEqual(await listedWithoutQueue(ctx, client), [], 'listed names without a queue');
    },
  },
  // QUEUE-029 (MUST): A queue is full for a Publish when maxQueueSize or more messages wait in it.
  {
    id: 'QUEUE-029a',
    title: 'keeps at most maxQueueSize messages waiting',
    clauses: ['QUEUE-029'],
    profile: 'core',
    evidence: { frames: 6, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'small', { maxQueueSize: 2, overflowStrategy: 0 });
      for (const payload of ['1', '2', '3']) await client.publish(queue, payload);
      ctx.assert.equal(
        await messageCountOf(client, queue),
        2,
        'number of messages in a queue with maxQueueSize 2',
      );
    },
  },
  // QUEUE-030 (MUST): Messages that are given back, recovered or due again enter a full queue, so that the number of
  // waiting messages may exceed maxQueueSize.
  {
    id: 'QUEUE-030a',
    title: 'returns the messages of a subscriber that disconnects to a full queue',
    clauses: ['QUEUE-030', 'QUEUE-029', 'DELIVERY-006', 'DELIVERY-038'],
    profile: 'core',
    evidence: { frames: 10, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'over-full', { maxQueueSize: 1, overflowStrategy: 1 });
      await holder.subscribe(queue);
      const { id: first } = await client.publish(queue, '1');
      await holder.delivery({ queue });
      // The second message waits or is in flight, depending on the window. In both cases the queue contains both messages afterwards.
      const { id: second } = await client.publish(queue, '2');
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 2 });
      // The queue drops the newest message while it is full. How the broker answers is not judged here.
      await client.request({ command: Command.Publish, id: ctx.id('dropped'), queue, payload: '3' });
      ctx.assert.equal(
        await messageCountOf(client, queue),
        2,
        'number of waiting messages after a Publish to a queue that holds more than maxQueueSize',
        'QUEUE-029',
      );
      await client.subscribe(queue);
      const delivered = idsOf(await takeAndAck(client, queue, 2));
      ctx.assert.deepEqual([...delivered].sort(), [first, second].sort(), 'the delivered messages');
    },
  },
  // QUEUE-044 (MUST): When EnableAutoCreate is true, the broker creates a missing queue with the server's defaults for
  // a Publish.
  {
    id: 'QUEUE-044a',
    title: 'creates a missing queue when a message is published to it',
    clauses: ['QUEUE-044', 'QUEUE-049'],
    profile: 'core',
    evidence: { frames: 3, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = ctx.queue('by-publish');
      const id = ctx.id('m');
      const answer = await client.request({ command: Command.Publish, id, queue, payload: '1' });
      if (answer.command === Command.Error) await expectAutoCreation(ctx, client, 'Subscribe');
      ctx.assert.equal(answer.commandName, 'PublishAck', 'the answer to a Publish to a missing queue');
      ctx.assert.equal(await infoField(client, queue, 'name'), queue, 'the name in QueueInfo');
      ctx.assert.equal(await messageCountOf(client, queue), 1, 'number of messages in the queue');
    },
  },
  // QUEUE-045 (MUST): When EnableAutoCreate is false, the broker sends no PublishAck for a Publish to a missing queue.
  {
    id: 'QUEUE-045a',
    title: 'confirms no Publish to a missing queue when EnableAutoCreate is false',
    clauses: ['QUEUE-045', 'QUEUE-046'],
    profile: 'limits',
    requires: { configuration: { queueDefaults: { enableAutoCreate: false } } },
    evidence: { frames: 3, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = ctx.queue('by-publish');
      const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' };
      const answer = await client.request(publish);
      ctx.assert.equal(answer.commandName, 'Error', 'the answer to the Publish');
      const code = answer.errorCode;
      ctx.should(code === 'QUEUE_NOT_FOUND', 'QUEUE-046', 'the error code is QUEUE_NOT_FOUND', {
        actual: code,
      });
      ctx.assert.equal(await client.queueInfo(queue), undefined, 'the QueueInfo of the queue');
    },
  },
  // QUEUE-047 (SHOULD): When EnableAutoCreate is true, the broker creates a missing queue with the server's defaults
  // for a Subscribe.
  {
    id: 'QUEUE-047a',
    title: 'creates a missing queue when a client subscribes to it',
    clauses: ['QUEUE-047'],
    profile: 'core',
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = ctx.queue('by-subscribe');
      const answer = await client.request({ command: Command.Subscribe, id: ctx.id(), queue });
      if (answer.command === Command.Error) await expectAutoCreation(ctx, client, 'Publish');
      ctx.assert.equal(answer.commandName, 'SubscribeAck', 'the answer to a Subscribe to a missing queue');
      ctx.assert.equal(await infoField(client, queue, 'subscriberCount'), 1, 'subscriberCount');
    },
  },
  // QUEUE-048 (SHOULD): When EnableAutoCreate is false, the broker answers a Subscribe to a missing queue by Error
  // QUEUE_NOT_FOUND.
  {
    id: 'QUEUE-048a',
    title: 'refuses a Subscribe to a missing queue with QUEUE_NOT_FOUND when EnableAutoCreate is false',
    clauses: ['QUEUE-048'],
    profile: 'limits',
    requires: { configuration: { queueDefaults: { enableAutoCreate: false } } },
    evidence: { frames: 2, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      await client.send({ command: Command.Subscribe, id: ctx.id(), queue: ctx.queue('by-subscribe') });
      const error = await client.expect('Error');
      ctx.assert.equal(error.errorCode, 'QUEUE_NOT_FOUND', 'the error code');
    },
  },
] satisfies readonly Check[];

/** Names that ListQueues answers although QueueInfo knows no queue of that name, each time: other checks create and delete queues meanwhile. */
async function listedWithoutQueue(ctx: CheckContext, client: Connection): Promise<readonly string[]> {
  let suspects: readonly string[] = await client.listQueues();
  ctx.assert.ok(suspects.length > 0, 'ListQueues names queues', { actual: suspects });
  for (let round = 0; round < 3 && suspects.length > 0; round += 1) {
    const infos = await Promise.all(suspects.map((name) => client.queueInfo(name)));
    const listed = await client.listQueues();
    suspects = suspects.filter((name, index) => infos[index] === undefined && listed.includes(name));
  }
  return suspects;
}

/**
 * Asserts that this command creates a missing queue, after the other one created none. If neither does, EnableAutoCreate is false; if only
 * the other one does not, the rule of that command is broken.
 */
async function expectAutoCreation(
  ctx: CheckContext,
  client: Connection,
  command: 'Publish' | 'Subscribe',
): Promise<void> {
  const payload = command === 'Publish' ? { payload: '1' } : {};
  const fields = { command: Command[command], id: ctx.id(), queue: ctx.queue('by-another-command') };
  const answer = await client.request({ ...fields, ...payload });
  ctx.assert.equal(
    answer.commandName,
    `${command}Ack`,
    'the answer to the other command that creates a missing queue by default',
    'QUEUE-049',
  );
}
