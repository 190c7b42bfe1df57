// Checks of blocked publishes in queues of the other delivery modes, where more than the end of one message makes room, or where messages
// have an order of their own. Area: OVERFLOW.
import type { Check, CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import { expectUnanswered, waitForEndOfPublisher } from './blocking.ts';
import { isPingAnswered } from './shared/ping-answered.ts';
import { newQueue } from './shared/queue-state.ts';
import { fanOutWithAck, newSubscriber, priorityBased } from './shared/queue-with-subscribers.ts';
import { expectOnlySentinel, idsOf, publishSeries, takeAndAck } from './shared/subscribers.ts';

const blockPublisher = { overflowStrategy: 2, maxQueueSize: 1 } as const;

export const blockedInModesChecks: CheckModule = [
  // OVERFLOW-014 (MUST): The broker adds the blocked publishes of a queue in the order of their arrival, across all
  // connections.
  {
    id: 'OVERFLOW-014c',
    title:
      'adds blocked publishes of a PriorityBased queue in the order of their arrival, whatever their priority',
    clauses: ['OVERFLOW-014', 'OVERFLOW-011'],
    profile: 'delivery',
    evidence: { frames: 12, messages: 3, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'full', { ...blockPublisher, ...priorityBased });
      const ids = [...(await publishSeries(ctx, client, queue, 1))];
      const publishers = [];
      for (const priority of ['Low', 'Critical']) {
        const publisher = await ctx.connect({ own: true });
        const id = ctx.id('blocked');
        await publisher.send({ command: Command.Publish, id, queue, payload: '1', headers: { priority } });
        await isPingAnswered(ctx, publisher, client);
        const text = 'a Publish to a full queue is not answered before there is room';
        expectUnanswered(ctx, publisher, id, text, 'OVERFLOW-010');
        ids.push(id);
        publishers.push(publisher);
      }
      await client.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, ids.length)), ids, 'the delivered messages');
      for (const publisher of publishers) await publisher.expect('PublishAck', { clause: 'OVERFLOW-011' });
    },
  },
  // OVERFLOW-011 (MUST): With BlockPublisher, the broker adds the blocked message and sends its PublishAck as soon as
  // the queue has room.
  {
    id: 'OVERFLOW-011c',
    title: 'adds a blocked message when the subscriber unsubscribes whose owed copy filled the queue',
    clauses: ['OVERFLOW-011', 'DELIVERY-018'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 15, messages: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'full', { ...blockPublisher, ...fanOutWithAck });
      const reader = await newSubscriber(ctx, queue, { maxInFlight: '2' });
      const leaver = await newSubscriber(ctx, queue, { maxInFlight: '1' });
      await publishSeries(ctx, client, queue, 2);
      const held = [await reader.delivery({ queue }), await reader.delivery({ queue })];
      await leaver.delivery({ queue });
      const publisher = await ctx.connect({ own: true });
      const id = ctx.id('blocked');
      await publisher.send({ command: Command.Publish, id, queue, payload: '1' });
      await isPingAnswered(ctx, publisher, client);
      if (publisher.received.some((frame) => frame.id === id))
        ctx.notApplicable('a message with unsent copies does not fill the queue');
      await leaver.unsubscribe(queue);
      await publisher.expect({ command: 'PublishAck', id }, { what: 'PublishAck when there is room' });
      for (const delivery of held) await reader.ack(delivery);
      const [added] = await takeAndAck(reader, queue, 1);
      ctx.assert.equal(added?.id, id, 'the delivered message');
    },
  },
  // OVERFLOW-018 (SHOULD): When the connection of a publisher ends, the broker drops the messages of that connection
  // that are still blocked.
  {
    id: 'OVERFLOW-018b',
    title: 'drops the blocked message of a subscriber whose own end makes room in a FanOutWithAck queue',
    clauses: ['OVERFLOW-018'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 16, messages: 4, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'full', { ...blockPublisher, ...fanOutWithAck });
      const reader = await newSubscriber(ctx, queue, { maxInFlight: '2' });
      const leaver = await newSubscriber(ctx, queue, { maxInFlight: '1' });
      await leaver.subscribe(await newQueue(ctx, client, 'watched'));
      // The copy of the second message for the leaver fills the queue.
      await publishSeries(ctx, client, queue, 2);
      const held = [await reader.delivery({ queue }), await reader.delivery({ queue })];
      await leaver.delivery({ queue });
      const id = ctx.id('blocked');
      await leaver.send({ command: Command.Publish, id, queue, payload: '1' });
      await isPingAnswered(ctx, leaver, client);
      if (leaver.received.some((frame) => frame.id === id))
        ctx.notApplicable('a message with unsent copies does not fill the queue');
      await leaver.abort();
      await waitForEndOfPublisher(ctx, client);
      for (const delivery of held) await reader.ack(delivery);
      await expectOnlySentinel(ctx, reader, queue, { text: 'the blocked message is not delivered' });
    },
  },
] satisfies readonly Check[];
