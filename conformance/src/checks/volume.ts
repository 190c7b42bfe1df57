// Checks with thousands of messages, many subscribers and many subscriptions of one connection. They find violations that occur rarely
// or only under load. Areas: PUBLISH, DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import type { DeliveryMode } from '../history/operation.ts';
import { expectLoadDrained } from './shared/load-drained.ts';
import type { StreamPlan } from './shared/load-stream.ts';
import { newQueue, waitForInfo } from './shared/queue-state.ts';
import { deliveredIds, queueWithSubscribers } from './shared/queue-with-subscribers.ts';
import { publishSeries, takeAndAck } from './shared/subscribers.ts';
import { VolumeLoad } from './shared/volume-load.ts';

/** 50 connections, including the witness. */
const defaultSizes = { sharedSubscribers: 24, ownSubscribers: 4, publishers: 21 } as const;
/** For brokers that limit connections by address. */
const smallSizes = { sharedSubscribers: 5, ownSubscribers: 1, publishers: 1 } as const;
const queuesPerSubscriber = 25;

type Counts = { readonly shared: number; readonly own: number; readonly long: number };

/** With these numbers a check publishes 10,000 messages. */
const messageCounts: Readonly<Record<DeliveryMode, Counts>> = {
  RoundRobin: { shared: 600, own: 64, long: 1200 },
  FanOutWithAck: { shared: 50, own: 86, long: 1200 },
  FanOutWithoutAck: { shared: 50, own: 86, long: 1200 },
  PriorityBased: { shared: 600, own: 64, long: 1200 },
};

export const largeVolumeChecks: CheckModule = [
  // PUBLISH-002 (MUST): The broker sends PublishAck only when the message is in the queue, in the dead letter queue,
  // already settled, or dropped by DropNewest.
  {
    id: 'PUBLISH-002b',
    title: 'delivers 2,500 messages of twenty-five queues once, in order and unchanged',
    clauses: ['PUBLISH-002', 'CONN-040', 'DELIVERY-001', 'DELIVERY-035', 'DELIVERY-053'],
    profile: 'core',
    broad: true,
    volume: true,
    evidence: { frames: 4000, messages: 2000, assertions: 2000 },
    run: async (ctx) => {
      const [witness, publisher, subscriber] = [
        await ctx.connect(),
        await ctx.connect(),
        await ctx.connect(),
      ];
      const plans = ownQueues([subscriber], () => publisher, { count: 100, batch: 50 });
      const load = new VolumeLoad(ctx, { mode: 'RoundRobin', witness, plans });
      await load.run();
      await expectLoadDrained(ctx, load, witness);
    },
  },
  // PUBLISH-002 (MUST): The broker sends PublishAck only when the message is in the queue, in the dead letter queue,
  // already settled, or dropped by DropNewest.
  {
    id: 'PUBLISH-002c',
    title: 'keeps 6,000 messages of one queue, and delivers each of them once, in order and unchanged',
    clauses: ['PUBLISH-002', 'DELIVERY-001', 'DELIVERY-010', 'DELIVERY-035', 'DELIVERY-053', 'QUEUE-025'],
    profile: 'core',
    broad: true,
    volume: true,
    evidence: { frames: 3000, messages: 1500, assertions: 1500 },
    run: async (ctx) => {
      const [witness, publisher] = [await ctx.connect(), await ctx.connect()];
      // A broker with a window of one message and a slow timer would take minutes with one subscriber.
      const subscribers = await connections(ctx, Math.min(12, sizesFor(ctx).sharedSubscribers));
      const plan = {
        name: 'long',
        publisher,
        subscribers,
        count: 6000,
        batch: 200,
        isBacklog: true,
      } as const;
      const load = new VolumeLoad(ctx, { mode: 'RoundRobin', witness, plans: [plan] });
      await load.run();
      await expectLoadDrained(ctx, load, witness);
    },
  },
  // DELIVERY-010 (MUST): When a subscription starts, the broker delivers the waiting messages of its queue to it
  // without waiting for another publish.
  {
    id: 'DELIVERY-010b',
    title: 'delivers 1,200 waiting messages to twenty-four subscribers that subscribe later',
    clauses: ['DELIVERY-010', 'PUBLISH-002', 'DELIVERY-001', 'DELIVERY-011', 'DELIVERY-034'],
    profile: 'delivery',
    broad: true,
    volume: true,
    evidence: { frames: 2000, messages: 1000, assertions: 1000 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const publisher = await ctx.connect();
      const subscribers = await connections(ctx, sizesFor(ctx).sharedSubscribers);
      const plan = {
        name: 'backlog',
        publisher,
        subscribers,
        count: 1200,
        batch: 100,
        isBacklog: true,
      } as const;
      const load = new VolumeLoad(ctx, { mode: 'RoundRobin', witness, plans: [plan] });
      await load.run();
      await expectLoadDrained(ctx, load, witness);
    },
  },
  // DELIVERY-011 (MUST): In RoundRobin the broker delivers each message to exactly one subscriber.
  {
    id: 'DELIVERY-011b',
    title: 'delivers each of 10,000 messages of RoundRobin queues to one subscriber, in order and unchanged',
    clauses: [
      'DELIVERY-011',
      'PUBLISH-002',
      'DELIVERY-001',
      'DELIVERY-010',
      'DELIVERY-035',
      'DELIVERY-051',
      'DELIVERY-052',
      'DELIVERY-053',
    ],
    ...common(),
    run: (ctx) => runVolumeLoad(ctx, 'RoundRobin'),
  },
  // DELIVERY-012 (MUST): In RoundRobin, when n subscribers have no messages in flight and n messages are published one
  // after another, the broker delivers one message to each subscriber.
  {
    id: 'DELIVERY-012b',
    title: 'delivers twenty-four messages to twenty-four subscribers of a RoundRobin queue, one to each',
    clauses: ['DELIVERY-012', 'DELIVERY-011'],
    profile: 'delivery',
    broad: true,
    volume: true,
    evidence: { frames: 50, messages: 15, assertions: 10 },
    run: async (ctx) => {
      const { publisher, queue, subscribers } = await queueWithSubscribers(
        ctx,
        sizesFor(ctx).sharedSubscribers,
      );
      for (let round = 0; round < 3; round += 1) {
        await publishSeries(ctx, publisher, queue, subscribers.length);
        const deliveries = await Promise.all(subscribers.map((one) => one.delivery({ queue })));
        await Promise.all(subscribers.map((one) => one.ping()));
        const counts = subscribers.map((one) => deliveredIds(one, queue).length);
        ctx.assert.deepEqual(
          counts,
          counts.map(() => round + 1),
          'number of deliveries to each subscriber',
        );
        await Promise.all(
          subscribers.map((one, index) => one.ack({ id: deliveries[index]?.id ?? '', queue })),
        );
        await Promise.all(subscribers.map((one) => one.ping()));
      }
    },
  },
  // DELIVERY-014 (MUST): In FanOutWithAck the broker delivers each message once to every subscriber that is subscribed
  // when it sends the first copy.
  {
    id: 'DELIVERY-014d',
    title: 'delivers each of 10,000 FanOutWithAck messages once to each subscriber, in order and unchanged',
    clauses: [
      'DELIVERY-014',
      'PUBLISH-002',
      'DELIVERY-001',
      'DELIVERY-016',
      'DELIVERY-035',
      'DELIVERY-051',
      'DELIVERY-052',
      'DELIVERY-053',
    ],
    ...common(),
    run: (ctx) => runVolumeLoad(ctx, 'FanOutWithAck'),
  },
  // DELIVERY-024 (MUST): In FanOutWithoutAck the broker delivers each message to every subscriber that is subscribed
  // and whose connection is draining.
  {
    id: 'DELIVERY-024c',
    title:
      'delivers each of 10,000 FanOutWithoutAck messages once to each subscriber, in order and unchanged',
    clauses: [
      'DELIVERY-024',
      'PUBLISH-002',
      'DELIVERY-025',
      'DELIVERY-035',
      'DELIVERY-051',
      'DELIVERY-052',
      'DELIVERY-053',
    ],
    ...common(),
    run: (ctx) => runVolumeLoad(ctx, 'FanOutWithoutAck'),
  },
  // DELIVERY-030 (MUST): In PriorityBased the broker delivers each message to exactly one subscriber.
  {
    id: 'DELIVERY-030c',
    title: 'delivers each of 10,000 messages of PriorityBased queues once, by priority and unchanged',
    clauses: [
      'DELIVERY-030',
      'PUBLISH-002',
      'DELIVERY-001',
      'DELIVERY-010',
      'DELIVERY-031',
      'DELIVERY-051',
      'DELIVERY-052',
      'DELIVERY-053',
    ],
    ...common(),
    run: (ctx) => runVolumeLoad(ctx, 'PriorityBased'),
  },
  // DELIVERY-038 (MUST): When a subscriber's connection ends, its unacknowledged messages immediately become waiting
  // again, and the broker offers them to other subscribers.
  {
    id: 'DELIVERY-038c',
    title:
      'redelivers all messages in flight when a subscriber of twenty-five queues disconnects, four times',
    clauses: ['DELIVERY-038', 'DELIVERY-006', 'DELIVERY-053'],
    profile: 'delivery',
    broad: true,
    volume: true,
    evidence: { frames: 2000, messages: 800, assertions: 800 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const names = Array.from({ length: queuesPerSubscriber }, (_, index) => `held-${index}`);
      const queues = await Promise.all(names.map((name) => newQueue(ctx, client, name)));
      for (let round = 0; round < 4; round += 1)
        await disconnectAndRedeliver(ctx, client, { queues, isAbrupt: round % 2 === 0 });
    },
  },
] satisfies readonly Check[];

function common(): Pick<Check, 'profile' | 'broad' | 'volume' | 'evidence'> {
  return {
    profile: 'delivery',
    broad: true,
    volume: true,
    evidence: { frames: 4000, messages: 2000, assertions: 2000 },
  };
}

const heldCount = 8;

/** A subscriber of all queues disconnects without acks. The next subscriber must receive all messages. */
async function disconnectAndRedeliver(
  ctx: CheckContext,
  client: Connection,
  { queues, isAbrupt }: { readonly queues: readonly string[]; readonly isAbrupt: boolean },
): Promise<void> {
  const holder = await ctx.connect({ own: true });
  await Promise.all(queues.map((queue) => holder.subscribe(queue)));
  const published = await Promise.all(queues.map((queue) => publishSeries(ctx, client, queue, heldCount)));
  await Promise.all(queues.map((queue) => holder.delivery({ queue })));
  await (isAbrupt ? holder.abort() : holder.end());
  for (const queue of queues) await waitForInfo(ctx, client, queue, { field: 'subscriberCount', value: 0 });
  for (const queue of queues)
    await waitForInfo(ctx, client, queue, { field: 'messageCount', value: heldCount });
  const nextSubscriber = await ctx.connect({ own: true });
  await Promise.all(queues.map((queue) => nextSubscriber.subscribe(queue)));
  const deliveriesByQueue = await Promise.all(
    queues.map((queue) => takeAndAck(nextSubscriber, queue, heldCount)),
  );
  for (const [index, ids] of published.entries()) {
    const deliveries = deliveriesByQueue[index] ?? [];
    const contents = new Map(deliveries.map((delivery) => [delivery.id, delivery.payload]));
    const wanted = new Map(ids.map((id, number) => [id, String(number)]));
    for (const [id, content] of wanted)
      ctx.assert.sameJson(
        contents.get(id),
        content,
        `the payload of ${id} when it is delivered again`,
        'DELIVERY-053',
      );
  }
  for (const queue of queues) await nextSubscriber.unsubscribe(queue);
}

/** Publishes to queues with one subscriber, to queues with all subscribers, and to one queue with many messages. */
async function runVolumeLoad(ctx: CheckContext, mode: DeliveryMode): Promise<void> {
  const sizes = sizesFor(ctx);
  const witness = await ctx.connect();
  const [sharedSubscribers, ownSubscribers, publishers] = [
    await connections(ctx, sizes.sharedSubscribers),
    await connections(ctx, sizes.ownSubscribers),
    await connections(ctx, sizes.publishers),
  ];
  const publisher = (index: number): Connection => publishers[index % publishers.length] ?? witness;
  const { shared, own, long } = messageCounts[mode];
  const isBacklog = mode === 'PriorityBased' ? ({ isBacklog: true } as const) : {};
  const plans: readonly StreamPlan[] = [
    {
      name: 'long',
      publisher: publisher(0),
      subscribers: sharedSubscribers.slice(0, 1),
      count: long,
      batch: 100,
    },
    ...[0, 1, 2, 3].map((index) => ({
      name: `shared-${index}`,
      publisher: publisher(index + 1),
      subscribers: sharedSubscribers,
      count: shared,
      batch: mode === 'RoundRobin' || mode === 'PriorityBased' ? 4 * sharedSubscribers.length : 5,
    })),
    ...ownQueues(ownSubscribers, (index) => publisher(index + 5), { count: own, batch: 20 }).map((plan) => ({
      ...plan,
      ...isBacklog,
    })),
  ];
  const load = new VolumeLoad(ctx, { mode, witness, plans });
  await load.run();
  if (mode !== 'FanOutWithoutAck') await expectLoadDrained(ctx, load, witness);
}

/** `queuesPerSubscriber` queues for each subscriber. The subscribers share no queue. */
function ownQueues(
  subscribers: readonly Connection[],
  publisher: (index: number) => Connection,
  size: Pick<StreamPlan, 'count' | 'batch'>,
): readonly StreamPlan[] {
  return subscribers.flatMap((subscriber, at) =>
    Array.from({ length: queuesPerSubscriber }, (_, index) => ({
      name: `own-${at}-${index}`,
      publisher: publisher(at * queuesPerSubscriber + index),
      subscribers: [subscriber],
      ...size,
    })),
  );
}

function sizesFor({ target }: CheckContext): typeof defaultSizes | typeof smallSizes {
  return target.countsConnections ? smallSizes : defaultSizes;
}

async function connections(ctx: CheckContext, count: number): Promise<readonly Connection[]> {
  const all: Connection[] = [];
  for (let index = 0; index < count; index += 1) all.push(await ctx.connect());
  return all;
}
