// Checks of PriorityBased queues: what goes first, to whom, and in what order within a priority. Areas: DELIVERY, PUBLISH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { messageCountOf, newQueue, waitForDeliveries } from './shared/queue-state.ts';
import {
  ackByReceiver,
  deliveredIds,
  priorityBased,
  queueWithSubscribers,
} from './shared/queue-with-subscribers.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { idsOf, takeAndAck } from './shared/subscribers.ts';

export const priorityChecks: CheckModule = [
  {
    id: 'DELIVERY-030a',
    title: 'delivers each message of a PriorityBased queue to exactly one of two subscribers',
    clauses: ['DELIVERY-030'],
    profile: 'delivery',
    evidence: { frames: 24, messages: 6 },
    run: async (ctx) => {
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 2, priorityBased);
      const ids: string[] = [];
      for (const name of ['Low', 'Critical', 'Normal', 'High', 'Low', 'Critical']) {
        const [id = ''] = await publishAll(ctx, publisher, queue, [name]);
        ids.push(id);
        await ackByReceiver(ctx, subscribers, id);
      }
      await Promise.all(subscribers.map((subscriber) => subscriber.ping()));
      const delivered = subscribers.flatMap((subscriber) => deliveredIds(subscriber, queue));
      ctx.assert.deepEqual([...delivered].sort(), [...ids].sort(), 'all deliveries');
    },
  },
  {
    id: 'DELIVERY-031a',
    title: 'delivers waiting messages as Critical, High, Normal, Low, those without a priority as Normal',
    clauses: ['DELIVERY-031', 'PUBLISH-021', 'PUBLISH-022'],
    profile: 'delivery',
    evidence: { frames: 13, messages: 5 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'by-priority', priorityBased);
      const [low, none, critical, high] = await publishAll(ctx, client, queue, [
        'Low',
        undefined,
        'Critical',
        'High',
      ]);
      await client.subscribe(queue);
      const taken = idsOf(await takeAndAck(client, queue, 4));
      ctx.assert.deepEqual(taken, [critical, high, none, low], 'the messages delivered');
      const [last] = await publishAll(ctx, client, queue, ['Low']);
      ctx.assert.equal((await takeAndAck(client, queue, 1))[0]?.id, last, 'the message that follows');
    },
  },
  {
    id: 'DELIVERY-031b',
    title: 'delivers a Critical message before messages that have waited longer for the same subscriber',
    clauses: ['DELIVERY-031'],
    profile: 'delivery',
    evidence: { frames: 9, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'overtaken', priorityBased);
      await client.subscribe(queue);
      const { held, low, isFull } = await fillWindow(ctx, client, queue);
      if (!isFull) {
        if (await areDelivered(ctx, client, low.length))
          ctx.notApplicable(`the window is larger than ${low.length} messages, so that none waits`);
        ctx.notShown(`messageCount shows no message that waits, and not all ${low.length} were delivered`);
      }
      const urgent = await publishAll(ctx, client, queue, ['Critical', 'Normal']);
      // What is in flight by now may have been sent before the urgent ones came, however late it arrives. What waits has to wait its turn.
      const waitingNow = Number(await messageCountOf(client, queue));
      await client.ack(held);
      const taken = idsOf(await takeAndAck(client, queue, low.length - 1 + urgent.length));
      const waited = taken.slice(taken.length - waitingNow);
      const inTime = urgent.filter((id) => waited.includes(id));
      if (inTime.length === 0 || inTime.length === waitingNow)
        ctx.notShown('no message of another priority waited with the urgent ones');
      ctx.assert.deepEqual(waited.slice(0, inTime.length), inTime, 'the messages that are delivered first');
    },
  },
  {
    id: 'DELIVERY-032a',
    title: 'selects the subscribers of a PriorityBased queue in turn',
    clauses: ['DELIVERY-032', 'DELIVERY-030'],
    profile: 'delivery',
    evidence: { frames: 13, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 3, priorityBased);
      for (const id of [ctx.id('m'), ctx.id('m'), ctx.id('m')]) {
        await publisher.publish(queue, '1', { id });
        await ackByReceiver(ctx, subscribers, id);
      }
      await Promise.all(subscribers.map((subscriber) => subscriber.ping()));
      const counts = subscribers.map((subscriber) => deliveredIds(subscriber, queue).length);
      ctx.assert.deepEqual(counts, [1, 1, 1], 'deliveries to each subscriber');
    },
  },
  {
    id: 'DELIVERY-033a',
    title: 'keeps publish order among messages of the same priority',
    clauses: ['DELIVERY-033', 'DELIVERY-036'],
    profile: 'delivery',
    evidence: { frames: 18, messages: 8 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'in-order', priorityBased);
      const ids = await publishAll(ctx, client, queue, [...levels, ...levels]);
      await client.subscribe(queue);
      const taken = idsOf(await takeAndAck(client, queue, ids.length));
      for (const [index, level] of levels.entries()) {
        const expected = [ids[index], ids[index + levels.length]];
        const delivered = taken.filter((id) => expected.includes(id));
        ctx.assert.deepEqual(delivered, expected, `the messages of priority ${level}`);
      }
    },
  },
] satisfies readonly Check[];

const eightLow = Array.from({ length: 8 }, () => 'Low');
/** Beyond any window that brokers are known to have. */
const maxKnownWindow = 300;

/**
 * Publishes Low messages until two of them wait, since the subscriber has no room; `held` is the first one, which it was given. Not
 * full: it was given, or will be, as many as are tried.
 */
async function fillWindow(
  ctx: CheckContext,
  subscriber: Connection,
  queue: string,
): Promise<{ readonly held: ReceivedFrame; readonly low: readonly string[]; readonly isFull: boolean }> {
  const low = [...(await publishAll(ctx, subscriber, queue, ['Low']))];
  const held = await subscriber.delivery({ queue });
  const mayBeFull = async (): Promise<boolean> => Number(await messageCountOf(subscriber, queue)) >= 2;
  while (low.length < maxKnownWindow) {
    low.push(...(await publishAll(ctx, subscriber, queue, eightLow)));
    if (!(await mayBeFull())) continue;
    await waitForDeliveries(ctx, subscriber, queue);
    if (await mayBeFull()) return { held, low, isFull: true };
  }
  return { held, low, isFull: false };
}

/** Whether this many deliveries have come, or come within `ctx.timing.silenceMs`. */
async function areDelivered(ctx: CheckContext, subscriber: Connection, count: number): Promise<boolean> {
  const until = ctx.now() + ctx.timing.silenceMs;
  const delivered = (): number =>
    subscriber.received.filter(({ commandName }) => commandName === 'Deliver').length;
  while (delivered() < count && ctx.now() < until) await waitUntil(ctx, ctx.now() + 10);
  return delivered() >= count;
}

const levels = ['Low', 'Normal', 'High', 'Critical'] as const;

/** Publishes a message for each priority, one after another; undefined stands for no header. Returns their ids. */
async function publishAll(
  ctx: CheckContext,
  publisher: Connection,
  queue: string,
  priorities: readonly (string | undefined)[],
): Promise<readonly string[]> {
  const ids = priorities.map(() => ctx.id('m'));
  for (const [index, name] of priorities.entries()) {
    const headers = name === undefined ? {} : { headers: { priority: name } };
    await publisher.publish(queue, '1', { id: ids[index] ?? '', ...headers });
  }
  return ids;
}
