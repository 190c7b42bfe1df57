// Checks of queues whose subscribers have windows of different sizes, with header maxInFlight: whose turn is next when one has no room, and
// what becomes of the FanOutWithAck copies that wait for one. They run when the target declares capability maxInFlight. Area: DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { timeSpan } from './expiry.ts';
import { withFullMember } from './fan-out.ts';
import { messagesPath, remove } from './shared/dashboard-api.ts';
import { noteIfLate } from './shared/lateness.ts';
import { newQueue } from './shared/queue-state.ts';
import {
  ackByReceiver,
  deliveredIds,
  fanOutWithAck,
  newSubscriber,
  priorityBased,
} from './shared/queue-with-subscribers.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { publishSeries, takeAndAck } from './shared/subscribers.ts';

const onePlace = { maxInFlight: '1' } as const;
const members = { profile: 'delivery', requires: { capabilities: ['maxInFlight'] } } as const;
const ttlMs = 600;

export const memberChecks: CheckModule = [
  // DELIVERY-013 (SHOULD): In RoundRobin the broker selects subscribers in turn, in the order in which they subscribed.
  {
    id: 'DELIVERY-013c',
    title:
      'serves the subscribers of a RoundRobin queue equally often that have room beside one that has none',
    clauses: ['DELIVERY-013'],
    ...members,
    evidence: { frames: 20, messages: 5, assertions: 1 },
    run: (ctx) => expectTurnsBesideFull(ctx, {}),
  },
  // DELIVERY-032 (SHOULD): In PriorityBased the broker selects subscribers in turn.
  {
    id: 'DELIVERY-032b',
    title:
      'serves the subscribers of a PriorityBased queue equally often that have room beside one that has none',
    clauses: ['DELIVERY-032'],
    ...members,
    evidence: { frames: 20, messages: 5, assertions: 1 },
    run: (ctx) => expectTurnsBesideFull(ctx, priorityBased),
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046g',
    title: 'keeps a window for each of two subscriptions of one connection',
    clauses: ['DELIVERY-046'],
    ...members,
    evidence: { frames: 13, messages: 4, assertions: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const subscriber = await ctx.connect({ own: true });
      const queues = [await newQueue(ctx, publisher, 'one'), await newQueue(ctx, publisher, 'other')];
      for (const queue of queues) await subscriber.subscribe(queue, { headers: onePlace });
      for (const queue of queues) await publishSeries(ctx, publisher, queue, 2);
      const held = [];
      for (const queue of queues) {
        const what = 'the first message of each queue';
        held.push(await subscriber.delivery({ queue }, { what, clause: 'DELIVERY-046' }));
      }
      const text = 'no second message comes before the ack of the first';
      await subscriber.expectNothingBeforePong({ command: 'Deliver' }, text);
      for (const delivery of held) await subscriber.ack(delivery);
      for (const queue of queues) await takeAndAck(subscriber, queue, 1);
    },
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046h',
    title: 'keeps the only place of a window taken when the next copy for its subscriber is evicted',
    clauses: ['DELIVERY-046', 'DELIVERY-019'],
    ...members,
    evidence: { frames: 13, messages: 5, assertions: 1 },
    run: async (ctx) => {
      const full = await withFullMember(ctx, { ...fanOutWithAck, maxQueueSize: 1 });
      // Each evicts the copy of the one before.
      for (let count = 0; count < 2; count += 1) await publishForFast(ctx, full);
      await expectPlaceTaken(full);
    },
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046i',
    title: 'keeps the only place of a window taken when the next copy for its subscriber is purged',
    clauses: ['DELIVERY-046', 'DASH-018'],
    ...members,
    profile: 'dashboard',
    evidence: { frames: 13, messages: 5, responses: 1, assertions: 1 },
    run: async (ctx) => {
      const full = await withFullMember(ctx, fanOutWithAck);
      await publishForFast(ctx, full);
      await remove(ctx, messagesPath(full.queue), 'DASH-018');
      await publishForFast(ctx, full);
      await expectPlaceTaken(full);
    },
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046j',
    title: 'keeps the only place of a window taken when the next copy for its subscriber expires',
    clauses: ['DELIVERY-046', 'TTL-002'],
    ...members,
    profile: 'retry-dlq',
    waits: true,
    evidence: { frames: 13, messages: 5, assertions: 1 },
    run: async (ctx) => {
      const full = await withFullMember(ctx, { ...fanOutWithAck, messageTtl: timeSpan(ttlMs) });
      await publishForFast(ctx, full);
      await waitUntil(ctx, ctx.now() + ttlMs + ctx.timing.lateMs);
      const sinceMs = ctx.now();
      await publishForFast(ctx, full);
      await expectPlaceTaken(full, () =>
        noteIfLate(ctx, { sinceMs, maxMs: ttlMs / 2, step: 'the Publish to an ack' }),
      );
    },
  },
  // DELIVERY-015 (MUST): In FanOutWithAck the broker sends no copy of a message to a subscriber that subscribes after
  // the first copy was sent.
  {
    id: 'DELIVERY-015b',
    title: 'sends no copy that was owed to a subscriber that unsubscribed and subscribed again',
    clauses: ['DELIVERY-015'],
    ...members,
    evidence: { frames: 13, messages: 5, assertions: 1 },
    run: async (ctx) => {
      const { publisher, queue, fast, slow, held } = await withFullMember(ctx, fanOutWithAck);
      const [owed = ''] = await publishSeries(ctx, publisher, queue, 1);
      await takeAndAck(fast, queue, 1);
      await slow.unsubscribe(queue);
      await slow.ack(held);
      await slow.subscribe(queue);
      const [later = ''] = await publishSeries(ctx, publisher, queue, 1);
      await slow.ack(await slow.delivery({ queue, id: later }));
      const text = 'the message whose first copy was sent before the Subscribe is not delivered';
      await slow.expectNothingBeforePong({ command: 'Deliver', id: owed }, text);
      await takeAndAck(fast, queue, 1);
    },
  },
  // DELIVERY-015 (MUST): In FanOutWithAck the broker sends no copy of a message to a subscriber that subscribes after
  // the first copy was sent.
  {
    id: 'DELIVERY-015c',
    title: 'sends a new subscriber no copy of a message that waits for a subscriber without room',
    clauses: ['DELIVERY-015', 'DELIVERY-014'],
    ...members,
    evidence: { frames: 18, messages: 7, assertions: 2 },
    run: async (ctx) => {
      const { publisher, queue, fast, slow, held } = await withFullMember(ctx, fanOutWithAck);
      const [owed = ''] = await publishSeries(ctx, publisher, queue, 1);
      await takeAndAck(fast, queue, 1);
      const late = await newSubscriber(ctx, queue);
      const text = 'the message whose first copy was sent before the Subscribe is not delivered';
      await late.expectNothingBeforePong({ command: 'Deliver', id: owed }, text);
      await slow.ack(held);
      await slow.ack(await slow.delivery({ queue, id: owed }, { clause: 'DELIVERY-017' }));
      const [next = ''] = await publishSeries(ctx, publisher, queue, 1);
      for (const subscriber of [fast, slow, late])
        await subscriber.ack(await subscriber.delivery({ queue, id: next }, { clause: 'DELIVERY-014' }));
      await late.expectNothingBeforePong({ command: 'Deliver', id: owed }, text);
    },
  },
] satisfies readonly Check[];

async function expectTurnsBesideFull(ctx: CheckContext, options: { readonly mode?: number }): Promise<void> {
  const publisher = await ctx.connect();
  const queue = await newQueue(ctx, publisher, 'turns', options);
  const full = await newSubscriber(ctx, queue, onePlace);
  await publishSeries(ctx, publisher, queue, 1);
  const held = await full.delivery({ queue });
  const others = [await newSubscriber(ctx, queue), await newSubscriber(ctx, queue)];
  for (let count = 0; count < 4; count += 1) {
    const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
    await ackByReceiver(ctx, others, id);
  }
  const counts = others.map((subscriber) => deliveredIds(subscriber, queue).length);
  ctx.assert.deepEqual(counts, [2, 2], 'numbers of messages that the two with room received');
  await full.ack(held);
}

type FullMember = Awaited<ReturnType<typeof withFullMember>>;

/** Publishes a message, of which the subscriber with room takes and acknowledges its copy. */
async function publishForFast(ctx: CheckContext, { publisher, queue, fast }: FullMember): Promise<void> {
  await publishSeries(ctx, publisher, queue, 1);
  await takeAndAck(fast, queue, 1);
}

/** Asserts that the subscriber with one place gets nothing before it acknowledges what it has. `afterAck`: called before it waits for the next. */
async function expectPlaceTaken(
  { slow, held }: { readonly slow: Connection; readonly held: Held },
  afterAck: () => void = () => undefined,
): Promise<void> {
  const text = 'no copy comes while the only place of the window is taken';
  await slow.expectNothingBeforePong({ command: 'Deliver' }, text);
  await slow.ack(held);
  afterAck();
  await slow.ack(await slow.delivery());
}

type Held = FullMember['held'];
