// Checks of messages after a crash, or a stop, and a start of the broker: confirmed messages exist, unchanged and in order, and settled
// messages do not exist. Areas: DURABLE, DELIVERY, PUBLISH, SHUTDOWN.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { deliveryModes } from '../history/operation.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { numberedText } from './shared/bodies.ts';
import { startCrashLoad } from './shared/crash-load.ts';
import { crashBroker, durableBroker, restartBroker, sorted, takeAll } from './shared/durable-broker.ts';
import { newQueue } from './shared/queue-state.ts';
import {
  fanOutWithAck,
  fanOutWithoutAck,
  newSubscriber,
  priorityBased,
} from './shared/queue-with-subscribers.ts';
import { idsOf, publishMany, publishSeries, resetSubscriber, takeAndAck } from './shared/subscribers.ts';

const confirmedMessages: CheckModule = [
  // DURABLE-001 (MUST): A broker with a durable store saves a message before it sends the PublishAck.
  {
    id: 'DURABLE-001a',
    title: 'keeps a message when it is killed immediately after its PublishAck',
    clauses: ['DURABLE-001', 'DURABLE-003', 'PUBLISH-002'],
    ...durableBroker,
    evidence: { frames: 8, messages: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'confirmed');
      const { id } = await publisher.publish(queue, '1');
      await crashBroker(ctx);
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, queue)), [id], 'the messages in the queue');
    },
  },
  // DURABLE-002 (MUST): A broker with a durable store saves a message before it delivers it.
  {
    id: 'DURABLE-002a',
    title: 'keeps a message when it is killed immediately after its Deliver',
    clauses: ['DURABLE-002', 'DURABLE-003', 'DELIVERY-006'],
    ...durableBroker,
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'delivered');
      const subscriber = await newSubscriber(ctx, queue);
      const id = ctx.id('m');
      await publisher.send({ command: Command.Publish, id, queue, payload: '1' });
      await subscriber.delivery({ queue, id });
      await crashBroker(ctx);
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, queue)), [id], 'the messages in the queue');
    },
  },
  // DURABLE-003 (MUST): After a crash at any moment, a broker with a durable store has every message whose PublishAck
  // was sent, unless the message was settled or dropped by DropNewest.
  {
    id: 'DURABLE-003a',
    title: 'loses no confirmed message when it is killed under load three times',
    clauses: ['DURABLE-003', 'DURABLE-001', 'DURABLE-004'],
    ...durableBroker,
    prefers: { timing: { shutdownTimeoutMs: 1000, retryDelayMs: 20 } },
    broad: true,
    accepts: [
      'a confirmed message is delivered at least once, until it is acknowledged',
      'a message is delivered again when the crash undid its ack',
      'a message whose Publish was not answered may be delivered',
    ],
    evidence: { frames: 200, messages: 60, assertions: 100 },
    run: async (ctx) => {
      const history = ctx.recordHistory();
      const modes = ['RoundRobin', 'PriorityBased', 'FanOutWithAck'] as const;
      const queues = await queuesOf(ctx, modes);
      for (let kill = 0; kill < 3; kill += 1) {
        const load = await startCrashLoad(ctx, { queues, skipsAcks: true });
        await load.waitForConfirmed(ctx.random.integer(40, 110));
        await ctx.broker.crash();
        await load.ended;
        await ctx.broker.start();
      }
      for (const queue of queues) await takeAll(ctx, queue);
      const rules = queues.map((queue, index) => [queue, { mode: modes[index] ?? 'RoundRobin' }] as const);
      history.judge({ queues: Object.fromEntries(rules), drained: queues, durable: true });
    },
  },
  // DURABLE-003 (MUST): After a crash at any moment, a broker with a durable store has every message whose PublishAck
  // was sent, unless the message was settled or dropped by DropNewest.
  {
    id: 'DURABLE-003b',
    title: 'keeps every confirmed message of a burst after a crash, each once',
    clauses: ['DURABLE-003', 'DURABLE-001', 'DURABLE-004'],
    ...durableBroker,
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
      const recovered = idsOf(await takeAll(ctx, queue));
      const missing = confirmed.filter((id) => !recovered.includes(id));
      ctx.assert.deepEqual(missing, [], 'confirmed messages that are missing');
      const unexpected = recovered.filter((id) => !ids.includes(id));
      ctx.assert.deepEqual(unexpected, [], 'delivered messages that were not published', 'DURABLE-004');
      ctx.assert.equal(
        new Set(recovered).size,
        recovered.length,
        'number of different messages, which equals the number of deliveries',
        'DURABLE-004',
      );
    },
  },
  // DURABLE-003 (MUST): After a crash at any moment, a broker with a durable store has every message whose PublishAck
  // was sent, unless the message was settled or dropped by DropNewest.
  {
    id: 'DURABLE-003c',
    title: 'delivers messages of every delivery mode unchanged after a crash, also large ones',
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
    ...durableBroker,
    evidence: { frames: 28, messages: 12 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queues = await queuesOf(ctx, deliveryModes);
      const large = JSON.stringify(numberedText(Math.min(200_000, ctx.target.maxMessageSizeBytes / 2)));
      const ids = new Map<string, string>();
      for (const queue of queues) {
        await publisher.publish(queue, undefined, { headers: { k: 'v' } });
        await publisher.publish(queue, large);
        ids.set(queue, (await publisher.publish(queue, spacedPayload, { headers: ownHeaders })).id);
      }
      await crashBroker(ctx);
      for (const queue of queues) {
        const delivered = await takeAll(ctx, queue);
        expectAsPublished(ctx, delivered, { id: ids.get(queue) ?? '', large });
        if (queue !== queues[deliveryModes.indexOf('PriorityBased')]) continue;
        ctx.assert.equal(
          delivered[0]?.id,
          ids.get(queue),
          'the message that the PriorityBased queue delivers first',
          'DELIVERY-031',
        );
      }
    },
  },
  // DURABLE-003 (MUST): After a crash at any moment, a broker with a durable store has every message whose PublishAck
  // was sent, unless the message was settled or dropped by DropNewest.
  {
    id: 'DURABLE-003d',
    title: 'keeps two thousand messages of four queues after a crash, each once and unchanged',
    clauses: ['DURABLE-003', 'DURABLE-004', 'DELIVERY-053'],
    ...durableBroker,
    evidence: { frames: 4000, messages: 2000, assertions: 2000 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queues = await queuesOf(ctx, deliveryModes);
      const published = new Map<string, readonly string[]>();
      for (const queue of queues)
        published.set(queue, await publishMany(ctx, publisher, queue, 500, numbered));
      await crashBroker(ctx);
      for (const [queue, ids] of published) {
        const recovered = await takeAll(ctx, queue);
        const payloads = new Map(recovered.map(({ id, payload }) => [id, payload]));
        const missing = ids.filter((id) => !payloads.has(id));
        ctx.assert.deepEqual(missing, [], 'confirmed messages that are missing');
        for (const [index, id] of ids.entries())
          ctx.assert.sameJson(payloads.get(id), numbered(index), 'the payload', 'DELIVERY-053');
        const count = recovered.length;
        ctx.assert.equal(count, ids.length, 'number of deliveries from the queue', 'DURABLE-004');
      }
    },
  },
] satisfies readonly Check[];

/** The payload of one of many messages: an integer that a double cannot represent, and the number of the message. */
function numbered(index: number): string {
  return `[9007199254740993,${index}]`;
}

const spacedPayload = ' { "grüße" : [ 1.50e1 , "\\u00e4" ] }\n';
const ownHeaders = { correlationId: 'c 1', 'x-own': ' v ', priority: 'High', 'x-größe': 'ä' };

function expectAsPublished(
  ctx: CheckContext,
  actual: readonly ReceivedFrame[],
  { id, large }: { readonly id: string; readonly large: string },
): void {
  ctx.assert.equal(actual.length, 3, 'number of messages in the queue');
  const full = actual.find((delivery) => delivery.id === id);
  const [bare, big] = actual
    .filter((delivery) => delivery.id !== id)
    .sort((one, other) => one.payload.length - other.payload.length);
  ctx.assert.sameJson(big?.payload, large, 'the payload of the large message', 'DELIVERY-053');
  ctx.assert.equal(bare?.header('k'), 'v', 'the header of the message without payload', 'DELIVERY-052');
  ctx.assert.sameJson(full?.payload, spacedPayload, 'the payload', 'DELIVERY-053');
  ctx.should(full?.text() === spacedPayload, 'DELIVERY-054', 'the payload has the same bytes', {
    expected: spacedPayload,
    actual: full?.text(),
  });
  const headers = Object.keys(ownHeaders).map((name) => [name, full?.header(name)] as const);
  ctx.assert.deepEqual(Object.fromEntries(headers), ownHeaders, 'the headers', 'DELIVERY-052');
  ctx.assert.sameJson(bare?.payload, '', 'the payload of the message without one', 'PUBLISH-020');
}

const settledMessages: CheckModule = [
  // DURABLE-004 (MUST): After a crash or restart, the broker has no message that was never published.
  {
    id: 'DURABLE-004a',
    title: 'contains no refused message and no additional queue after a crash',
    clauses: ['DURABLE-004', 'PUBLISH-003', 'OVERFLOW-007'],
    ...durableBroker,
    evidence: { frames: 10, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'full', { overflowStrategy: 1, maxQueueSize: 1 });
      const [id] = await publishSeries(ctx, client, queue, 1);
      const refused = ctx.id('refused');
      await client.request({ command: Command.Publish, id: refused, queue, payload: '2' });
      const names = sorted(await client.listQueues());
      await crashBroker(ctx);
      const again = await ctx.connect();
      ctx.assert.deepEqual(sorted(await again.listQueues()), names, 'the names of the queues');
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, queue)), [id], 'the messages in the queue');
    },
  },
  // DURABLE-006 (MUST): After a restart, the broker does not deliver a message whose ack was committed.
  {
    id: 'DURABLE-006a',
    title: 'delivers all messages except the acknowledged ones after a stop and a start',
    clauses: ['DURABLE-006', 'SHUTDOWN-003', 'DELIVERY-001'],
    ...durableBroker,
    evidence: { frames: 16, messages: 5 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const { queue, subscriber, unacknowledged } = await withTwoAcknowledged(ctx, publisher);
      await subscriber.ping();
      await restartBroker(ctx, subscriber, publisher);
      const recovered = idsOf(await takeAll(ctx, queue));
      ctx.assert.deepEqual(sorted(recovered), sorted(unacknowledged), 'the messages in the queue');
    },
  },
  // DURABLE-006 (MUST): After a restart, the broker does not deliver a message whose ack was committed.
  {
    id: 'DURABLE-006b',
    title: 'does not deliver a message after a crash when its ack was followed by a confirmed Publish',
    clauses: ['DURABLE-006'],
    level: 'SHOULD',
    ...durableBroker,
    accepts: [
      'an acknowledged message does not exist',
      'the message exists, with a warning: its ack was not committed, but a later Publish of the connection was',
    ],
    evidence: { frames: 16, messages: 5 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const { queue, subscriber, unacknowledged } = await withTwoAcknowledged(ctx, publisher);
      const { id } = await subscriber.publish(queue, '"later"');
      await crashBroker(ctx);
      const recovered = idsOf(await takeAll(ctx, queue));
      ctx.assert.deepEqual(sorted(recovered), sorted([...unacknowledged, id]), 'the messages in the queue');
    },
  },
  // DURABLE-010 (SHOULD): A broker with a durable store keeps the order of the messages of a queue over a restart.
  {
    id: 'DURABLE-010a',
    title: 'delivers messages after a stop and a start in the order in which they were published',
    clauses: ['DURABLE-010', 'DELIVERY-039', 'DELIVERY-033'],
    ...durableBroker,
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
      await resetSubscriber(ctx, holder, { witness: publisher, queue, remaining: 0 });
      await restartBroker(ctx, publisher, other);
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, queue)), ids, 'the delivered messages, in order');
      ctx.assert.deepEqual(
        idsOf(await takeAll(ctx, ranked)),
        rankedIds,
        'the delivered messages of one priority, in order',
      );
    },
  },
  // DURABLE-027 (MUST): After a restart, the broker has nothing whose removal was committed: no deleted queue, and no
  // message that was deleted with its queue, purged, evicted, or sent in FanOutWithoutAck.
  {
    id: 'DURABLE-027a',
    title:
      'does not restore messages that were deleted, evicted, or sent in FanOutWithoutAck after a stop and a start',
    clauses: ['DURABLE-027', 'OVERFLOW-002', 'DELIVERY-025'],
    ...durableBroker,
    evidence: { frames: 14, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const settled = await evictAndFanOut(ctx, client);
      const gone = await newQueue(ctx, client, 'gone');
      await publishSeries(ctx, client, gone, 2);
      await client.deleteQueue(gone);
      await restartBroker(ctx, client);
      await expectNotRestored(ctx, settled, 'DELIVERY-025');
      const info = await (await ctx.connect()).queueInfo(gone);
      ctx.assert.equal(info, undefined, 'QueueInfo of the deleted queue');
      const inGone = idsOf(await takeAll(ctx, await newQueue(ctx, await ctx.connect(), 'gone')));
      ctx.assert.deepEqual(inGone, [], 'the messages in the queue that is created again');
    },
  },
  // DURABLE-007 (MUST): After a crash the broker may redeliver a message whose ack, purge or deletion was not committed
  // (MAY), and it delivers no other settled message (MUST).
  {
    id: 'DURABLE-007a',
    title:
      'does not restore messages that were evicted, or sent in FanOutWithoutAck, after a crash that followed a confirmed Publish',
    clauses: ['DURABLE-007', 'OVERFLOW-002', 'DELIVERY-025'],
    ...durableBroker,
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const settled = await evictAndFanOut(ctx, client);
      await crashBroker(ctx);
      await expectNotRestored(ctx, settled);
    },
  },
  // SHUTDOWN-003 (MUST): A broker with a durable store loses nothing that it has saved, when it shuts down.
  {
    id: 'SHUTDOWN-003a',
    title: 'loses no confirmed message when it is stopped under load',
    clauses: ['SHUTDOWN-003', 'DURABLE-003', 'DURABLE-004'],
    ...durableBroker,
    evidence: { frames: 80, messages: 20, assertions: 40 },
    run: async (ctx) => {
      const history = ctx.recordHistory();
      const [subscribed = '', unsubscribed = ''] = await queuesOf(ctx, ['RoundRobin', 'PriorityBased']);
      const load = await startCrashLoad(ctx, {
        queues: [subscribed],
        withoutSubscriber: [unsubscribed],
        skipsAcks: false,
      });
      await load.waitForConfirmed(60);
      await ctx.broker.terminate();
      load.stopPublishing();
      await ctx.broker.exited();
      await load.ended;
      await ctx.broker.start();
      for (const queue of [subscribed, unsubscribed]) await takeAll(ctx, queue);
      const queues = { [unsubscribed]: { mode: 'PriorityBased' } } as const;
      history.judge({ queues, drained: [subscribed, unsubscribed], durable: true });
    },
  },
  // DELIVERY-023 (SHOULD): The broker does not store copies: after a restart it delivers a FanOutWithAck message to the
  // subscribers that are subscribed then.
  {
    id: 'DELIVERY-023a',
    title:
      'delivers a FanOutWithAck message that one of two subscribers acknowledged to a new subscriber after a crash',
    clauses: ['DELIVERY-023', 'DURABLE-003'],
    ...durableBroker,
    evidence: { frames: 14, messages: 3 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'copied', fanOutWithAck);
      const members = [await newSubscriber(ctx, queue), await newSubscriber(ctx, queue)];
      const [id] = await publishSeries(ctx, publisher, queue, 1);
      const [first] = await Promise.all(members.map((member) => member.delivery({ queue })));
      if (first !== undefined) await members[0]?.ack(first);
      await members[0]?.ping();
      await crashBroker(ctx);
      const recovered = idsOf(await takeAll(ctx, queue));
      ctx.assert.deepEqual(recovered, [id], 'the messages that the new subscriber receives');
    },
  },
] satisfies readonly Check[];

export const durableMessageChecks: CheckModule = [...confirmedMessages, ...settledMessages];

/** Creates one queue for each of the modes. */
async function queuesOf(ctx: CheckContext, modes: readonly string[]): Promise<readonly string[]> {
  const client = await ctx.connect();
  const queues: string[] = [];
  for (const mode of modes) {
    const options = { mode: deliveryModes.findIndex((name) => name === mode) };
    queues.push(await newQueue(ctx, client, mode.toLowerCase(), options));
  }
  return queues;
}

/** Five messages, of which two are acknowledged and a third is in flight. The broker must keep the `unacknowledged` ones. */
async function withTwoAcknowledged(ctx: CheckContext, publisher: Connection) {
  const queue = await newQueue(ctx, publisher, 'acknowledged');
  const subscriber = await newSubscriber(ctx, queue);
  const ids = await publishSeries(ctx, publisher, queue, 5);
  const acknowledged = idsOf(await takeAndAck(subscriber, queue, 2));
  await subscriber.delivery({ queue });
  return { queue, subscriber, unacknowledged: ids.filter((id) => !acknowledged.includes(id)) };
}

type Settled = {
  /** Has evicted all messages but those that are `kept`. */
  readonly small: string;
  readonly kept: readonly string[];
  /** Has sent all messages but the one that is `waiting`. */
  readonly sent: string;
  readonly waiting: string | undefined;
};

/** Settles messages in two ways that a client cannot settle them, each in a queue of its own, and leaves others behind them. */
async function evictAndFanOut(ctx: CheckContext, client: Connection): Promise<Settled> {
  const small = await newQueue(ctx, client, 'small', { overflowStrategy: 0, maxQueueSize: 2 });
  const ids = await publishSeries(ctx, client, small, 4);
  const sent = await newQueue(ctx, client, 'sent', fanOutWithoutAck);
  await client.subscribe(sent);
  await publishSeries(ctx, client, sent, 1);
  await client.delivery({ queue: sent });
  await client.unsubscribe(sent);
  const [waiting] = await publishSeries(ctx, client, sent, 1);
  return { small, kept: ids.slice(2), sent, waiting };
}

/** `clause`: the requirement that is broken if a message comes that was sent. */
async function expectNotRestored(ctx: CheckContext, settled: Settled, clause?: string): Promise<void> {
  const inSmall = idsOf(await takeAll(ctx, settled.small));
  ctx.assert.deepEqual(sorted(inSmall), sorted(settled.kept), 'the messages in the DropOldest queue');
  const inSent = idsOf(await takeAll(ctx, settled.sent));
  ctx.assert.deepEqual(inSent, [settled.waiting], 'the messages in the FanOutWithoutAck queue', clause);
}
