// Checks of the overflow strategies DropOldest, DropNewest and RedirectToDlq. Most checks fill a queue without subscribers, so the
// result does not depend on a window. Areas: OVERFLOW, PUBLISH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import { newSubscriber, priorityBased, queueWithSubscribers } from './shared/queue-with-subscribers.ts';
import { takeDeadLetter } from './shared/retry-attempts.ts';
import { expectOnlySentinel, idsOf, publishSeries, takeAndAck } from './shared/subscribers.ts';

const dropOldest = { overflowStrategy: 0 } as const;
const dropNewest = { overflowStrategy: 1 } as const;
const redirectToDlq = { overflowStrategy: 3, enableDeadLetterQueue: true } as const;

export const overflowChecks: CheckModule = [
  // OVERFLOW-001 (SHOULD): The broker checks for overflow after delivery: it never refuses a Publish that it can
  // deliver immediately to a subscriber with room, in FanOutWithAck to all subscribers.
  {
    id: 'OVERFLOW-001a',
    title:
      'accepts a Publish that it can deliver immediately to a subscriber, even if the queue has maxQueueSize 1',
    clauses: ['OVERFLOW-001', 'DELIVERY-003'],
    profile: 'delivery',
    evidence: { frames: 14, messages: 3 },
    run: async (ctx) => {
      const options = { ...dropNewest, maxQueueSize: 1 };
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 3, options);
      const ids = [ctx.id('m'), ctx.id('m'), ctx.id('m')];
      await publisher.sendTogether(ids.map((id) => ({ command: Command.Publish, id, queue, payload: '1' })));
      for (const id of ids) await publisher.expect({ command: 'PublishAck', id });
      const delivered = await Promise.all(subscribers.map((subscriber) => subscriber.delivery({ queue })));
      ctx.assert.deepEqual([...idsOf(delivered)].sort(), [...ids].sort(), 'the delivered messages');
    },
  },
  // OVERFLOW-002 (MUST): With DropOldest, the broker evicts the waiting message that was published first from the full
  // queue and adds the new message.
  {
    id: 'OVERFLOW-002a',
    title: 'confirms a Publish to a full DropOldest queue and evicts the oldest message',
    clauses: ['OVERFLOW-002', 'OVERFLOW-004', 'QUEUE-029'],
    profile: 'delivery',
    evidence: { frames: 15, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'oldest', { ...dropOldest, maxQueueSize: 3 });
      const first = await publishSeries(ctx, client, queue, 3);
      const more = [ctx.id('m'), ctx.id('m')];
      const answers: ReceivedFrame[] = [];
      for (const id of more) {
        const publish = { command: Command.Publish, id, queue, payload: '1' };
        answers.push(await client.request(publish, { clause: 'OVERFLOW-004' }));
      }
      ctx.assert.equal(await messageCountOf(client, queue), 3, 'number of waiting messages');
      await client.subscribe(queue);
      const delivered = idsOf(await takeAndAck(client, queue, 3));
      ctx.assert.deepEqual(delivered, [...first.slice(2), ...more], 'the delivered messages');
      for (const answer of answers)
        ctx.assert.equal(
          answer.commandName,
          'PublishAck',
          'the answer to a Publish to a full queue',
          'OVERFLOW-004',
        );
      await expectOnlySentinel(ctx, client, queue, { text: 'the oldest two messages are evicted' });
    },
  },
  // OVERFLOW-002 (MUST): With DropOldest, the broker evicts the waiting message that was published first from the full
  // queue and adds the new message.
  {
    id: 'OVERFLOW-002b',
    title: 'evicts one message for a Publish to a DropOldest queue that holds more than maxQueueSize',
    clauses: ['OVERFLOW-002'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 17, messages: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'given-back', { ...dropOldest, maxQueueSize: 2 });
      const holder = await newSubscriber(ctx, queue, { maxInFlight: '2' });
      const ids = [...(await publishSeries(ctx, client, queue, 4))];
      for (const id of ids.slice(0, 2)) await holder.delivery({ queue, id });
      await holder.abort();
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 4 });
      ids.push(...(await publishSeries(ctx, client, queue, 1)));
      ctx.assert.equal(await messageCountOf(client, queue), 4, 'number of waiting messages');
      await client.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, 4)), ids.slice(1), 'the delivered messages');
    },
  },
  // OVERFLOW-003 (MUST): With DropOldest, the broker selects the message to evict by its time of publishing and not by
  // its priority.
  {
    id: 'OVERFLOW-003a',
    title: 'evicts the oldest message of a full PriorityBased queue, even if it has the highest priority',
    clauses: ['OVERFLOW-003', 'OVERFLOW-002'],
    profile: 'delivery',
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const options = { ...priorityBased, ...dropOldest, maxQueueSize: 2 };
      const queue = await newQueue(ctx, client, 'oldest-critical', options);
      const ids: string[] = [];
      for (const name of ['Critical', 'Low', 'Normal']) {
        const id = ctx.id('m');
        await client.publish(queue, '1', { id, headers: { priority: name } });
        ids.push(id);
      }
      await client.subscribe(queue);
      const taken = idsOf(await takeAndAck(client, queue, 2));
      ctx.assert.deepEqual([...taken].sort(), ids.slice(1).sort(), 'the delivered messages');
      await expectOnlySentinel(ctx, client, queue, { text: 'the oldest message is evicted' });
    },
  },
  // OVERFLOW-005 (MUST): The broker does not dead-letter a message that DropOldest evicts.
  {
    id: 'OVERFLOW-005a',
    title: 'discards the messages that DropOldest evicts, and does not dead-letter them',
    clauses: ['OVERFLOW-005'],
    profile: 'delivery',
    evidence: { frames: 7, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueueName = ctx.queue('letters');
      const options = { ...dropOldest, maxQueueSize: 1, enableDeadLetterQueue: true, deadLetterQueueName };
      const queue = await newQueue(ctx, client, 'pushed-out', options);
      const ids = await publishSeries(ctx, client, queue, 2);
      await client.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, 1)), ids.slice(1), 'the delivered message');
      const dead = await messageCountOf(client, deadLetterQueueName);
      ctx.assert.oneOf(dead, [0, undefined], 'number of messages in the dead letter queue');
    },
  },
  // OVERFLOW-007 (MUST): With DropNewest, the broker drops a message that is published to a full queue: it neither adds
  // the message to the queue nor delivers it.
  {
    id: 'OVERFLOW-007a',
    title: 'does not add a message to a full DropNewest queue, and keeps the waiting messages',
    clauses: ['OVERFLOW-007', 'OVERFLOW-009', 'OVERFLOW-008'],
    profile: 'delivery',
    accepts: ['Error QUEUE_FULL', 'another Error, with a warning', 'PublishAck, with a warning'],
    evidence: { frames: 12, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'newest', { ...dropNewest, maxQueueSize: 2 });
      const ids = await publishSeries(ctx, client, queue, 2);
      for (let count = 0; count < 2; count += 1)
        acceptAnswerToDropped(ctx, await publishForAnyAnswer(ctx, client, queue));
      const count = await messageCountOf(client, queue);
      ctx.assert.ok(Number(count) >= 2, 'the full queue keeps its messages', {
        expected: 'messageCount 2',
        actual: count,
        clause: 'OVERFLOW-009',
      });
      ctx.assert.equal(count, 2, 'number of waiting messages');
      await client.subscribe(queue);
      const delivered = idsOf(await takeAndAck(client, queue, 2));
      const lost = ids.filter((id) => !delivered.includes(id));
      ctx.assert.deepEqual(lost, [], 'the messages that the full queue lost', 'OVERFLOW-009');
      ctx.assert.deepEqual(delivered, ids, 'the delivered messages');
      await expectOnlySentinel(ctx, client, queue, { text: 'the refused messages are not delivered' });
    },
  },
  // OVERFLOW-022 (MUST): With RedirectToDlq, the broker adds a message that is published to a full queue to the dead
  // letter queue and answers by PublishAck.
  {
    id: 'OVERFLOW-022a',
    title: 'confirms a Publish to a full RedirectToDlq queue and dead-letters the message',
    clauses: ['OVERFLOW-022', 'OVERFLOW-023', 'OVERFLOW-024', 'DLQ-013'],
    profile: 'delivery',
    evidence: { frames: 13, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueueName = ctx.queue('redirected');
      const options = { ...redirectToDlq, maxQueueSize: 2, deadLetterQueueName };
      const queue = await newQueue(ctx, client, 'redirecting', options);
      const ids = await publishSeries(ctx, client, queue, 3);
      const count = await messageCountOf(client, deadLetterQueueName);
      ctx.assert.ok(count === 1, 'the message is in the dead letter queue', {
        expected: 'messageCount 1',
        actual: count,
        possibleCauses: ['DLQ-001'],
      });
      await client.subscribe(deadLetterQueueName);
      const deadLetter = await takeDeadLetter(ctx, client, { queue: deadLetterQueueName, id: ids[2] ?? '' });
      await client.ack(deadLetter);
      const reason = deadLetter.header('deadLetterReason');
      ctx.should(reason === 'QueueOverflow', 'OVERFLOW-024', 'header deadLetterReason is QueueOverflow', {
        actual: reason,
      });
      const kept = await messageCountOf(client, queue);
      ctx.assert.equal(kept, 2, 'number of waiting messages in the source queue', 'OVERFLOW-023');
      await client.subscribe(queue);
      ctx.assert.deepEqual(
        idsOf(await takeAndAck(client, queue, 2)),
        ids.slice(0, 2),
        'the messages delivered from the source queue',
        'OVERFLOW-023',
      );
      await expectOnlySentinel(ctx, client, queue, {
        text: 'the dead-lettered message is not delivered from the source queue',
      });
    },
  },
] satisfies readonly Check[];

/** Publishes and returns the answer, whatever it is. */
function publishForAnyAnswer(ctx: CheckContext, client: Connection, queue: string): Promise<ReceivedFrame> {
  return client.request({ command: Command.Publish, id: ctx.id('dropped'), queue, payload: '1' });
}

function acceptAnswerToDropped(ctx: CheckContext, answer: ReceivedFrame): void {
  const isError = answer.command === Command.Error;
  ctx.acceptable(
    isError ? answer.errorCode : frameText(answer),
    [
      { title: 'Error QUEUE_FULL', when: (code) => isError && code === 'QUEUE_FULL' },
      {
        title: 'another Error',
        when: () => isError,
        difference: { clause: 'OVERFLOW-008', text: 'the error code is not QUEUE_FULL' },
      },
      {
        title: 'PublishAck',
        when: () => answer.command === Command.PublishAck,
        difference: { clause: 'OVERFLOW-008', text: 'a dropped message is answered with PublishAck' },
      },
    ],
    'the answer to a Publish to a full DropNewest queue',
  );
}
