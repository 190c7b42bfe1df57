// Checks in volume: the rules that a broker may break now and then, at the thousandth message, at the fifth subscriber or in the twentieth
// subscription of a connection, judged on thousands of messages as a whole. Areas: PUBLISH, DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import type { DeliveryMode } from '../history/operation.ts';
import { expectNothingLeft } from './shared/departure.ts';
import { Load } from './shared/load.ts';
import type { StreamPlan } from './shared/load-stream.ts';

/** With the witness, 50 connections. */
const usualSizes = { wide: 24, deep: 4, publishers: 21 } as const;
/** Where the broker counts connections. */
const smallSizes = { wide: 5, deep: 1, publishers: 1 } as const;
const queuesPerDeepConnection = 25;

type Counts = { readonly shared: number; readonly own: number; readonly long: number };

/** With these counts a check plays 10,000 messages. */
const counts: Readonly<Record<DeliveryMode, Counts>> = {
  RoundRobin: { shared: 600, own: 64, long: 1200 },
  FanOutWithAck: { shared: 50, own: 86, long: 1200 },
  FanOutWithoutAck: { shared: 50, own: 86, long: 1200 },
  PriorityBased: { shared: 600, own: 64, long: 1200 },
};

export const volume: CheckModule = [
  {
    id: 'PUBLISH-002b',
    title: 'delivers and settles 2,500 messages of twenty-five queues, each once, in order and unchanged',
    clauses: ['PUBLISH-002', 'DELIVERY-001', 'DELIVERY-035', 'DELIVERY-053'],
    profile: 'core',
    broad: true,
    evidence: { frames: 4000, messages: 2000, assertions: 2000 },
    run: async (ctx) => {
      const [witness, publisher, subscriber] = [
        await ctx.connect(),
        await ctx.connect(),
        await ctx.connect(),
      ];
      const plans = ownQueues([subscriber], () => publisher, { count: 100, batch: 50 });
      const load = new Load(ctx, { mode: 'RoundRobin', witness, plans });
      await load.play();
      await expectNothingLeft(ctx, load, witness);
    },
  },
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
    run: (ctx) => playVolume(ctx, 'RoundRobin'),
  },
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
    run: (ctx) => playVolume(ctx, 'FanOutWithAck'),
  },
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
    run: (ctx) => playVolume(ctx, 'FanOutWithoutAck'),
  },
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
    run: (ctx) => playVolume(ctx, 'PriorityBased'),
  },
] satisfies readonly Check[];

function common(): Pick<Check, 'profile' | 'broad' | 'evidence'> {
  return {
    profile: 'delivery',
    broad: true,
    evidence: { frames: 4000, messages: 2000, assertions: 2000 },
  };
}

/** Queues with one subscriber, queues that all share, and one that many messages pass. */
async function playVolume(ctx: CheckContext, mode: DeliveryMode): Promise<void> {
  const sizes = ctx.target.countsConnections ? smallSizes : usualSizes;
  const witness = await ctx.connect();
  const [wide, deep, publishers] = [
    await connections(ctx, sizes.wide),
    await connections(ctx, sizes.deep),
    await connections(ctx, sizes.publishers),
  ];
  const publisher = (index: number): Connection => publishers[index % publishers.length] ?? witness;
  const { shared, own, long } = counts[mode];
  const isBacklog = mode === 'PriorityBased' ? ({ isBacklog: true } as const) : {};
  const plans: readonly StreamPlan[] = [
    { name: 'long', publisher: publisher(0), subscribers: wide.slice(0, 1), count: long, batch: 100 },
    ...[0, 1, 2, 3].map((index) => ({
      name: `shared-${index}`,
      publisher: publisher(index + 1),
      subscribers: wide,
      count: shared,
      batch: mode === 'RoundRobin' || mode === 'PriorityBased' ? 4 * wide.length : 5,
    })),
    ...ownQueues(deep, (index) => publisher(index + 5), { count: own, batch: 20 }).map((plan) => ({
      ...plan,
      ...isBacklog,
    })),
  ];
  const load = new Load(ctx, { mode, witness, plans });
  await load.play();
  if (mode !== 'FanOutWithoutAck') await expectNothingLeft(ctx, load, witness);
}

/** So many queues for each of the subscribers, which share no queue. */
function ownQueues(
  subscribers: readonly Connection[],
  publisher: (index: number) => Connection,
  size: Pick<StreamPlan, 'count' | 'batch'>,
): readonly StreamPlan[] {
  return subscribers.flatMap((subscriber, at) =>
    Array.from({ length: queuesPerDeepConnection }, (_, index) => ({
      name: `own-${at}-${index}`,
      publisher: publisher(at * queuesPerDeepConnection + index),
      subscribers: [subscriber],
      ...size,
    })),
  );
}

async function connections(ctx: CheckContext, count: number): Promise<readonly Connection[]> {
  const all: Connection[] = [];
  for (let index = 0; index < count; index += 1) all.push(await ctx.connect());
  return all;
}
