// Checks of repeats of messages that are, or were, in flight, or wait in a long queue: they are recognized, whatever happened meanwhile to
// other copies, or to other messages with the same id. Area: PUBLISH.
import type { CheckModule } from '../check.ts';
import { withFullMember } from './fan-out.ts';
import { messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import { fanOutWithAck, newSubscriber } from './shared/queue-with-subscribers.ts';
import { retryDelayMs, takeAndLeave, takeDeadLetter } from './shared/retry-attempts.ts';
import { expectOnlySentinel, publishMany, publishSeries } from './shared/subscribers.ts';

export const repeatChecks: CheckModule = [
  // PUBLISH-005 (SHOULD): The broker answers a Publish with the id of a message that waits in the same queue by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-005f',
    title: 'recognizes the repeat of a message that waits again since its subscriber has left',
    clauses: ['PUBLISH-005'],
    profile: 'delivery',
    evidence: { frames: 13, messages: 3, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'left', { maxRetryAttempts: 10 });
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      await takeAndLeave(ctx, client, queue, 0);
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 1 });
      await client.publish(queue, '0', { id, headers: { label: id } });
      ctx.assert.equal(await messageCountOf(client, queue), 1, 'number of waiting messages');
      await client.subscribe(queue);
      const withinMs = retryDelayMs(ctx, 1) + ctx.timing.deliveryMs;
      await client.ack(await client.delivery({ queue, id }, { withinMs, clause: 'DELIVERY-038' }));
      await expectOnlySentinel(ctx, client, queue, { text: 'no repeat is delivered' });
    },
  },
  // PUBLISH-005 (SHOULD): The broker answers a Publish with the id of a message that waits in the same queue by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-005g',
    title: 'recognizes repeats of messages at many places of a queue of 6,000 messages',
    clauses: ['PUBLISH-005'],
    profile: 'delivery',
    volume: true,
    evidence: { frames: 6100, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'long');
      const ids = await publishMany(ctx, client, queue, 6000);
      const count = await messageCountOf(client, queue);
      ctx.assert.equal(count, ids.length, 'number of waiting messages before the repeats', 'QUEUE-025');
      // A broker may keep the first, the last and the other messages of a long queue in different ways.
      const repeated = ids.filter((_, index) => index % 50 === 7);
      for (const id of repeated) await client.publish(queue, '1', { id });
      ctx.assert.equal(await messageCountOf(client, queue), ids.length, 'number of waiting messages');
    },
  },
  // PUBLISH-006 (SHOULD): The broker answers a Publish with the id of a message of the same queue that is in flight by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-006c',
    title: 'recognizes the repeat of a message in flight when a dead letter with the same id was settled',
    clauses: ['PUBLISH-006'],
    profile: 'retry-dlq',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 17, messages: 3, assertions: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const letters = await newQueue(ctx, publisher, 'letters');
      const holder = await newSubscriber(ctx, letters, { maxInFlight: '1' });
      const { id } = await publisher.publish(letters, '1');
      const held = await holder.delivery({ queue: letters, id });
      const reader = await newSubscriber(ctx, letters);
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const options = { maxQueueSize: 1, overflowStrategy: 3, ...withLetters };
      const source = await newQueue(ctx, publisher, 'source', options);
      await publishSeries(ctx, publisher, source, 1);
      await publisher.publish(source, '1', { id });
      await reader.ack(await takeDeadLetter(ctx, reader, { queue: letters, id }, 0, 'PUBLISH-010'));
      await reader.ping();
      await publisher.publish(letters, '1', { id });
      await expectOnlySentinel(ctx, reader, letters, { text: 'the repeat is not delivered' });
      await holder.ack(held);
    },
  },
  // PUBLISH-006 (SHOULD): The broker answers a Publish with the id of a message of the same queue that is in flight by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-006d',
    title: 'recognizes the repeat of a FanOutWithAck message in flight whose unsent copies were evicted',
    clauses: ['PUBLISH-006'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 14, messages: 4, assertions: 1 },
    run: async (ctx) => {
      const options = { ...fanOutWithAck, maxQueueSize: 1 };
      const { publisher, queue, fast } = await withFullMember(ctx, options);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const held = await fast.delivery({ queue, id });
      // It evicts the copy for the subscriber without room.
      const [next = ''] = await publishSeries(ctx, publisher, queue, 1);
      await fast.ack(await fast.delivery({ queue, id: next }));
      await publisher.publish(queue, '0', { id, headers: { label: id } });
      await fast.ping();
      const copies = fast.received.filter((frame) => frame.commandName === 'Deliver' && frame.id === id);
      ctx.assert.ok(copies.length === 1, 'the message that was published again is delivered once', {
        actual: `${copies.length} copies`,
        possibleCauses: ['PUBLISH-005', 'PUBLISH-009', 'ERROR-017'],
      });
      await fast.ack(held);
    },
  },
];
