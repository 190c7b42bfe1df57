// Checks of what becomes of messages when the broker is killed, or stopped in good order, and started again: what was confirmed is
// there, as it was published and in order, and what was settled is not. Areas: DURABLE, DELIVERY, PUBLISH, SHUTDOWN.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { deliveryModes } from '../history/operation.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { fanOutWithAck, fanOutWithoutAck, newSubscriber, priorityBased } from './shared/audience.ts';
import { startShift } from './shared/crash-load.ts';
import { newQueue } from './shared/queue-state.ts';
import { crash, durable, restart, sorted, takeAll } from './shared/restarts.ts';
import { cutSubscriber, idsOf, publishSeries, takeAndAck } from './shared/subscribers.ts';

const saving: CheckModule = [
  {
    id: 'DURABLE-001a',
    title: 'has a message after a crash, although it was killed as soon as its PublishAck arrived',
    clauses: ['DURABLE-001', 'DURABLE-003', 'PUBLISH-002'],
    ...durable,
    evidence: { frames: 8, messages: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'confirmed');
      const { id } = await publisher.publish(queue, '1');
      await crash(ctx);
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, queue)), [id], 'the messages that are there');
    },
  },
  {
    id: 'DURABLE-002a',
    title: 'has a message after a crash, although it was killed as soon as its Deliver arrived',
    clauses: ['DURABLE-002', 'DURABLE-003', 'DELIVERY-006'],
    ...durable,
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'delivered');
      const subscriber = await newSubscriber(ctx, queue);
      const id = ctx.id('m');
      await publisher.send({ command: Command.Publish, id, queue, payload: '1' });
      await subscriber.delivery({ queue, id });
      await crash(ctx);
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, queue)), [id], 'the messages that are there');
    },
  },
  {
    id: 'DURABLE-003a',
    title: 'accounts for every message while it is killed under load, again and again',
    clauses: ['DURABLE-003', 'DURABLE-001', 'DURABLE-004', 'DURABLE-007'],
    ...durable,
    prefers: { timing: { shutdownTimeoutMs: 1000, retryDelayMs: 20 } },
    broad: true,
    accepts: [
      'a confirmed message is delivered at least once, until it is acknowledged',
      'a message is delivered again after an ack that the crash may have undone',
      'a message whose Publish was not answered may be delivered',
    ],
    evidence: { frames: 200, messages: 60, assertions: 100 },
    run: async (ctx) => {
      const history = ctx.recordHistory();
      const modes = ['RoundRobin', 'PriorityBased', 'FanOutWithAck'] as const;
      const queues = await queuesOf(ctx, modes);
      for (let kill = 0; kill < 3; kill += 1) {
        const shift = await startShift(ctx, { queues, holding: true });
        await shift.confirmed(ctx.random.integer(40, 110));
        await ctx.broker.crash();
        await shift.ended;
        await ctx.broker.start();
      }
      for (const queue of queues) await takeAll(ctx, queue);
      const rules = queues.map((queue, index) => [queue, { mode: modes[index] ?? 'RoundRobin' }] as const);
      history.settle({ queues: Object.fromEntries(rules), drained: queues, durable: true });
    },
  },
  {
    id: 'DURABLE-003b',
    title: 'has all confirmed messages of a burst after a crash, and none twice',
    clauses: ['DURABLE-003', 'DURABLE-001', 'DURABLE-004'],
    ...durable,
    accepts: ['an unconfirmed message exists', 'an unconfirmed message does not exist'],
    evidence: { frames: 60, messages: 30 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'burst');
      const ids = Array.from({ length: 60 }, () => ctx.id('m'));
      await publisher.sendTogether(
        ids.map((id, index) => ({ command: Command.Publish, id, queue, payload: String(index) })),
      );
      await publisher.expect({ command: 'PublishAck', id: ids[30] ?? '' });
      await ctx.broker.crash();
      const confirmed = idsOf(publisher.received.filter(({ command }) => command === Command.PublishAck));
      await ctx.broker.start();
      const there = idsOf(await takeAll(ctx, queue));
      const missing = confirmed.filter((id) => !there.includes(id));
      ctx.assert.deepEqual(missing, [], 'confirmed messages that are not there');
      const strange = there.filter((id) => !ids.includes(id));
      ctx.assert.deepEqual(strange, [], 'messages that were never published', 'DURABLE-004');
      ctx.assert.equal(
        new Set(there).size,
        there.length,
        'number of messages delivered once',
        'DELIVERY-011',
      );
    },
  },
  {
    id: 'DURABLE-003c',
    title: 'delivers messages of every delivery mode after a crash as they were published',
    clauses: [
      'DURABLE-003',
      'DELIVERY-031',
      'DELIVERY-050',
      'DELIVERY-051',
      'DELIVERY-052',
      'DELIVERY-053',
      'DELIVERY-054',
      'PUBLISH-020',
    ],
    ...durable,
    evidence: { frames: 20, messages: 8 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queues = await queuesOf(ctx, deliveryModes);
      const ids = new Map<string, string>();
      for (const queue of queues) {
        await publisher.publish(queue);
        ids.set(queue, (await publisher.publish(queue, spacedPayload, { headers: ownHeaders })).id);
      }
      await crash(ctx);
      for (const queue of queues) {
        const came = await takeAll(ctx, queue);
        expectAsPublished(ctx, came, ids.get(queue) ?? '');
        if (queue !== queues[deliveryModes.indexOf('PriorityBased')]) continue;
        ctx.assert.equal(
          came[0]?.id,
          ids.get(queue),
          'what a PriorityBased queue delivers first',
          'DELIVERY-031',
        );
      }
    },
  },
] satisfies readonly Check[];

const spacedPayload = ' { "grüße" : [ 1.50e1 , "\\u00e4" ] }\n';
const ownHeaders = { correlationId: 'c 1', 'x-own': ' v ', priority: 'High', 'x-größe': 'ä' };

function expectAsPublished(ctx: CheckContext, came: readonly ReceivedFrame[], id: string): void {
  ctx.assert.equal(came.length, 2, 'how many messages are there');
  const full = came.find((delivery) => delivery.id === id);
  const bare = came.find((delivery) => delivery.id !== id);
  ctx.assert.sameJson(full?.payload, spacedPayload, 'the payload', 'DELIVERY-053');
  ctx.should(full?.text() === spacedPayload, 'DELIVERY-054', 'the payload has the same bytes', {
    expected: spacedPayload,
    actual: full?.text(),
  });
  const headers = Object.keys(ownHeaders).map((name) => [name, full?.header(name)] as const);
  ctx.assert.deepEqual(Object.fromEntries(headers), ownHeaders, 'the headers', 'DELIVERY-052');
  ctx.assert.sameJson(bare?.payload, '', 'the payload of the message without one', 'PUBLISH-020');
}

const settling: CheckModule = [
  {
    id: 'DURABLE-004a',
    title: 'has no refused message after a crash, and no queue that was not created',
    clauses: ['DURABLE-004', 'PUBLISH-003', 'OVERFLOW-007'],
    ...durable,
    evidence: { frames: 10, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'full', { overflowStrategy: 1, maxQueueSize: 1 });
      const [id] = await publishSeries(ctx, client, queue, 1);
      const refused = ctx.id('refused');
      await client.request({ command: Command.Publish, id: refused, queue, payload: '2' });
      const names = sorted(await client.listQueues());
      await crash(ctx);
      const again = await ctx.connect();
      ctx.assert.deepEqual(sorted(await again.listQueues()), names, 'the queues that are there');
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, queue)), [id], 'the messages that are there');
    },
  },
  {
    id: 'DURABLE-006a',
    title: 'does not deliver acknowledged messages again after a stop and a start, and delivers all others',
    clauses: ['DURABLE-006', 'DURABLE-005', 'SHUTDOWN-003', 'DELIVERY-001'],
    ...durable,
    evidence: { frames: 16, messages: 5 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const { queue, subscriber, rest } = await withTwoAcknowledged(ctx, publisher);
      await subscriber.ping();
      await restart(ctx, subscriber, publisher);
      const there = idsOf(await takeAll(ctx, queue));
      ctx.assert.deepEqual(sorted(there), sorted(rest), 'the messages that are there');
    },
  },
  {
    id: 'DURABLE-006b',
    title:
      'does not deliver a message again after a crash that was acknowledged before a later confirmed Publish',
    clauses: ['DURABLE-006', 'DURABLE-007'],
    level: 'SHOULD',
    ...durable,
    accepts: [
      'an acknowledged message does not exist',
      'the message exists again, with a warning: its ack was not committed, although a later Publish of the connection was',
    ],
    evidence: { frames: 16, messages: 5 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const { queue, subscriber, rest } = await withTwoAcknowledged(ctx, publisher);
      const { id } = await subscriber.publish(queue, '"later"');
      await crash(ctx);
      const there = idsOf(await takeAll(ctx, queue));
      ctx.assert.deepEqual(sorted(there), sorted([...rest, id]), 'the messages that are there');
    },
  },
  {
    id: 'DURABLE-010a',
    title: 'delivers messages after a stop and a start in the order in which they were published',
    clauses: ['DURABLE-010', 'DELIVERY-039', 'DELIVERY-033'],
    ...durable,
    evidence: { frames: 24, messages: 11 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const other = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'ordered');
      const ranked = await newQueue(ctx, publisher, 'ranked', priorityBased);
      const ids = [
        ...(await publishSeries(ctx, publisher, queue, 2)),
        ...(await publishSeries(ctx, other, queue, 2)),
        ...(await publishSeries(ctx, publisher, queue, 2)),
      ];
      const rankedIds = await publishSeries(ctx, publisher, ranked, 4);
      const holder = await newSubscriber(ctx, queue);
      await holder.delivery({ queue });
      await cutSubscriber(ctx, holder, { witness: publisher, queue, left: 0 });
      await restart(ctx, publisher, other);
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, queue)), ids, 'the order');
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, ranked)), rankedIds, 'the order within a priority');
    },
  },
  {
    id: 'DURABLE-027a',
    title: 'has no message after a stop and a start that was deleted, evicted, or sent in FanOutWithoutAck',
    clauses: ['DURABLE-027', 'OVERFLOW-002', 'DELIVERY-025'],
    ...durable,
    evidence: { frames: 14, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const small = await newQueue(ctx, client, 'small', { overflowStrategy: 0, maxQueueSize: 2 });
      const ids = await publishSeries(ctx, client, small, 4);
      const sent = await newQueue(ctx, client, 'sent', fanOutWithoutAck);
      await client.subscribe(sent);
      await publishSeries(ctx, client, sent, 1);
      await client.delivery({ queue: sent });
      await client.unsubscribe(sent);
      const [waiting] = await publishSeries(ctx, client, sent, 1);
      const gone = await newQueue(ctx, client, 'gone');
      await publishSeries(ctx, client, gone, 2);
      await client.deleteQueue(gone);
      await restart(ctx, client);
      const inSmall = idsOf(await takeAll(ctx, small));
      ctx.assert.deepEqual(sorted(inSmall), sorted(ids.slice(2)), 'what is left of a full DropOldest queue');
      const inSent = idsOf(await takeAll(ctx, sent));
      ctx.assert.deepEqual(inSent, [waiting], 'what is left of a FanOutWithoutAck queue', 'DELIVERY-025');
      const info = await (await ctx.connect()).queueInfo(gone);
      ctx.assert.equal(info, undefined, 'the info of a deleted queue');
      const inGone = idsOf(await takeAll(ctx, await newQueue(ctx, await ctx.connect(), 'gone')));
      ctx.assert.deepEqual(inGone, [], 'the messages of a deleted queue that is made anew');
    },
  },
  {
    id: 'SHUTDOWN-003a',
    title: 'accounts for every message when it is stopped under load',
    clauses: ['SHUTDOWN-003', 'DURABLE-003', 'DURABLE-004'],
    ...durable,
    evidence: { frames: 80, messages: 20, assertions: 40 },
    run: async (ctx) => {
      const history = ctx.recordHistory();
      const [served = '', unserved = ''] = await queuesOf(ctx, ['RoundRobin', 'PriorityBased']);
      const shift = await startShift(ctx, { queues: [served], unserved: [unserved], holding: false });
      await shift.confirmed(60);
      await ctx.broker.terminate();
      shift.finish();
      await ctx.broker.exited();
      await shift.ended;
      await ctx.broker.start();
      for (const queue of [served, unserved]) await takeAll(ctx, queue);
      const queues = { [unserved]: { mode: 'PriorityBased' } } as const;
      history.settle({ queues, drained: [served, unserved], durable: true });
    },
  },
  {
    id: 'DELIVERY-023a',
    title:
      'delivers a FanOutWithAck message after a crash to who subscribes then, though one had acknowledged it',
    clauses: ['DELIVERY-023', 'DURABLE-003'],
    ...durable,
    evidence: { frames: 14, messages: 3 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'copied', fanOutWithAck);
      const members = [await newSubscriber(ctx, queue), await newSubscriber(ctx, queue)];
      const [id] = await publishSeries(ctx, publisher, queue, 1);
      const [first] = await Promise.all(members.map((member) => member.delivery({ queue })));
      if (first !== undefined) await members[0]?.ack(first);
      await members[0]?.ping();
      await crash(ctx);
      const there = idsOf(await takeAll(ctx, queue));
      ctx.assert.deepEqual(there, [id], 'the messages for a subscriber that subscribes after the crash');
    },
  },
] satisfies readonly Check[];

export const durableMessages: CheckModule = [...saving, ...settling];

/** A queue of its own for each of the modes. */
async function queuesOf(ctx: CheckContext, modes: readonly string[]): Promise<readonly string[]> {
  const client = await ctx.connect();
  const queues: string[] = [];
  for (const mode of modes) {
    const options = { mode: deliveryModes.findIndex((name) => name === mode) };
    queues.push(await newQueue(ctx, client, mode.toLowerCase(), options));
  }
  return queues;
}

/** Five messages, two of which are acknowledged and a third is held. `rest`: those that must be there again. */
async function withTwoAcknowledged(ctx: CheckContext, publisher: Connection) {
  const queue = await newQueue(ctx, publisher, 'acknowledged');
  const subscriber = await newSubscriber(ctx, queue);
  const ids = await publishSeries(ctx, publisher, queue, 5);
  const acknowledged = idsOf(await takeAndAck(subscriber, queue, 2));
  await subscriber.delivery({ queue });
  return { queue, subscriber, rest: ids.filter((id) => !acknowledged.includes(id)) };
}
