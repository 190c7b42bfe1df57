// Checks of messages that the broker holds already when its memory for messages is full: no limit refuses them. Areas: DELIVERY, LIMIT.
import type { CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import { messageBytes, publishUntilRefused, smallMemory } from './resource-limits.ts';
import { sizedPayload } from './shared/bodies.ts';
import { requeue } from './shared/dashboard-api.ts';
import { newQueue } from './shared/queue-state.ts';
import { newSubscriber } from './shared/queue-with-subscribers.ts';
import { takeDeadLetter } from './shared/retry-attempts.ts';
import { publishSeries, takeAndAck } from './shared/subscribers.ts';

export const fullMemoryChecks: CheckModule = [
  // DELIVERY-006 (MUST): The broker never loses a message in flight: the message is acknowledged, dead-lettered,
  // discarded by a rule of this specification, deleted with its queue, or becomes waiting again.
  {
    id: 'DELIVERY-006e',
    title: 'dead-letters a message that a subscriber refuses when the broker holds as many bytes as it may',
    clauses: ['DELIVERY-006', 'NACK-005', 'LIMIT-013'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { ...smallMemory.requires, capabilities: ['nack'] },
    evidence: { frames: 18, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const queue = await newQueue(ctx, client, 'refusing', withLetters);
      const subscriber = await newSubscriber(ctx, queue);
      // Larger than those that fill the memory, so that a second one of its size does not fit beside them.
      const id = ctx.id('m');
      const payload = sizedPayload({ id, queue, totalBytes: 3 * messageBytes });
      await client.publish(queue, payload, { id });
      await subscriber.delivery({ queue, id });
      const { refusal } = await publishUntilRefused(ctx, client, await newQueue(ctx, client, 'heavy'));
      if (refusal === undefined)
        ctx.notApplicable('no Publish is refused for the bytes that the broker holds');
      const failureReason = 'DeserializationError';
      await subscriber.send({ command: Command.Ack, id, headers: { failureReason } });
      await subscriber.ping();
      const reader = await newSubscriber(ctx, letters);
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: letters, id }, 0, 'NACK-005');
      ctx.assert.sameJson(deadLetter.payload, payload, 'the payload of the dead letter', 'DELIVERY-006');
      await reader.ack(deadLetter);
    },
  },
  // LIMIT-013 (SHOULD): The broker answers a Publish by Error MEMORY_LIMIT, when the bytes of all messages that it
  // holds would exceed maxQueuedBytes.
  {
    id: 'LIMIT-013g',
    title: 'gives the memory of a deleted queue back, also of its messages in flight',
    clauses: ['LIMIT-013', 'QUEUE-014'],
    ...smallMemory,
    evidence: { frames: 20, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'deleted');
      const { stored, refusal } = await publishUntilRefused(ctx, client, queue);
      if (refusal === undefined)
        ctx.notApplicable('no Publish is refused for the bytes that the broker holds');
      const holder = await newSubscriber(ctx, queue);
      await holder.delivery({ queue });
      await client.deleteQueue(queue);
      const again = await publishUntilRefused(ctx, client, await newQueue(ctx, client, 'next'));
      const what = 'number of messages that fit when the others are deleted';
      ctx.assert.equal(again.stored.length, stored.length, what);
    },
  },
  // PUBLISH-026 (SHOULD): The broker creates no queue for a Publish or Subscribe that it refuses with MEMORY_LIMIT.
  {
    id: 'PUBLISH-026a',
    title: 'creates no queue for a Publish that it refuses because its memory is full',
    clauses: ['PUBLISH-026', 'LIMIT-013'],
    ...smallMemory,
    evidence: { frames: 8, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const { refusal } = await publishUntilRefused(ctx, client, await newQueue(ctx, client, 'heavy'));
      const queue = ctx.queue('missing');
      const id = ctx.id('m');
      const payload = sizedPayload({ id, queue, totalBytes: messageBytes });
      const answer = await client.request({ command: Command.Publish, id, queue, payload });
      if (refusal === undefined || answer.command !== Command.Error)
        ctx.notApplicable('no Publish is refused for the bytes that the broker holds');
      const isThere = (await client.queueInfo(queue)) !== undefined;
      ctx.assert.ok(!isThere, 'there is no queue of that name', { actual: 'QueueInfo describes the queue' });
    },
  },
  // LIMIT-013 (SHOULD): The broker answers a Publish by Error MEMORY_LIMIT, when the bytes of all messages that it
  // holds would exceed maxQueuedBytes.
  {
    id: 'LIMIT-013i',
    title:
      'counts the bytes of a requeued dead letter towards maxQueuedBytes no longer than its message is there',
    clauses: ['LIMIT-013', 'DASH-032'],
    ...smallMemory,
    requires: { ...smallMemory.requires, capabilities: ['requeue'], profiles: ['dashboard', 'retry-dlq'] },
    evidence: { frames: 30, messages: 3, responses: 2, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters');
      const source = await newQueue(ctx, client, 'redirecting', {
        ...{ overflowStrategy: 3, maxQueueSize: 1 },
        ...{ enableDeadLetterQueue: true, deadLetterQueueName: letters },
      });
      const filler = await newQueue(ctx, client, 'filler');
      const { stored, refusal } = await publishUntilRefused(ctx, client, filler);
      if (refusal === undefined)
        ctx.notApplicable('no Publish is refused for the bytes that the broker holds');
      await client.deleteQueue(filler);
      // Twice: the bytes of a message may fit into what its number of bytes leaves free.
      for (let count = 0; count < 2; count += 1) {
        await publishSeries(ctx, client, source, 1);
        const id = ctx.id('letter');
        await client.publish(source, sizedPayload({ id, queue: source, totalBytes: messageBytes }), { id });
        await client.subscribe(source);
        await takeAndAck(client, source, 1);
        await client.unsubscribe(source);
        ctx.assert.equal(await requeue(ctx, letters, id), 204, 'the status of a requeue', 'DASH-032');
        await client.subscribe(source);
        await takeAndAck(client, source, 1);
        await client.unsubscribe(source);
      }
      await client.ping();
      const again = await publishUntilRefused(ctx, client, await newQueue(ctx, client, 'next'));
      const what = 'number of messages that fit when the requeued ones are acknowledged';
      ctx.assert.equal(again.stored.length, stored.length, what);
    },
  },
];
