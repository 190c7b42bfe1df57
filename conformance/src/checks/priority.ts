// Checks of PriorityBased queues: the order by priority, the order within a priority, and the selection of subscribers. Areas: DELIVERY,
// PUBLISH, BODY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { durableBroker, restartBroker } from './shared/durable-broker.ts';
import { messageCountOf, newQueue, waitForDeliveries } from './shared/queue-state.ts';
import {
  ackByReceiver,
  deliveredIds,
  priorityBased,
  queueWithSubscribers,
} from './shared/queue-with-subscribers.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { fillingEnds, idsOf, maxKnownWindow, takeAndAck } from './shared/subscribers.ts';

export const priorityChecks: CheckModule = [
  // DELIVERY-030 (MUST): In PriorityBased the broker delivers each message to exactly one subscriber.
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
      ctx.assert.deepEqual(
        [...delivered].sort(),
        [...ids].sort(),
        'the messages that all subscribers received',
      );
    },
  },
  // DELIVERY-031 (MUST): In PriorityBased the broker delivers waiting messages in the order of their priorities:
  // Critical, High, Normal, Low.
  {
    id: 'DELIVERY-031a',
    title:
      'delivers waiting messages in the order Critical, High, Normal, Low, and those without a priority as Normal',
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
      const named = taken.filter((id) => id !== none);
      ctx.assert.deepEqual(named, [critical, high, low], 'the delivered messages that have a priority');
      const all = [critical, high, none, low];
      ctx.assert.deepEqual(taken, all, 'the delivered messages, with one without a priority', 'PUBLISH-022');
      const [last] = await publishAll(ctx, client, queue, ['Low']);
      ctx.assert.equal(
        (await takeAndAck(client, queue, 1))[0]?.id,
        last,
        'the message that is published later',
      );
    },
  },
  // DELIVERY-031 (MUST): In PriorityBased the broker delivers waiting messages in the order of their priorities:
  // Critical, High, Normal, Low.
  {
    id: 'DELIVERY-031b',
    title: 'delivers a Critical message before older waiting messages of a lower priority',
    clauses: ['DELIVERY-031'],
    profile: 'delivery',
    evidence: { frames: 9, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'overtaken', priorityBased);
      await client.subscribe(queue);
      const { held, low, isFull } = await fillWindow(ctx, client, queue);
      if (!isFull) {
        if (low.length < maxKnownWindow)
          ctx.notShown(
            `the window was not full after ${low.length} messages, and more would reach the ack timeout`,
          );
        if (await areDelivered(ctx, client, low.length))
          ctx.notApplicable(`the window is larger than ${low.length} messages, so no message waits`);
        ctx.notShown(
          `messageCount shows no waiting message, but not all ${low.length} messages were delivered`,
        );
      }
      const urgent = await publishAll(ctx, client, queue, ['Critical', 'Normal']);
      // The broker may have sent messages that are in flight now before it received the urgent ones. Only those that still wait must
      // follow the order of priorities.
      const waitingNow = Number(await messageCountOf(client, queue));
      await client.ack(held);
      const taken = idsOf(await takeAndAck(client, queue, low.length - 1 + urgent.length));
      const waited = taken.slice(taken.length - waitingNow);
      const inTime = urgent.filter((id) => waited.includes(id));
      if (inTime.length === 0 || inTime.length === waitingNow)
        ctx.notShown('no message of a lower priority waited together with the urgent ones');
      ctx.assert.deepEqual(
        waited.slice(0, inTime.length),
        inTime,
        'the messages that are delivered first of those that waited',
      );
    },
  },
  // BODY-012 (MUST): When several headers have the same key, the broker uses the last one and ignores the others.
  {
    id: 'BODY-012b',
    title: 'uses the last of two headers priority',
    clauses: ['BODY-012'],
    profile: 'delivery',
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'two-priorities', priorityBased);
      const publish = async (...priorities: readonly string[]): Promise<string> => {
        const headers = priorities.map((priority) => ['priority', priority] as const);
        return (await client.publish(queue, '1', { headers })).id;
      };
      const [low, normal, high] = [
        await publish('High', 'Low'),
        await publish('Normal'),
        await publish('Low', 'High'),
      ];
      await client.subscribe(queue);
      const taken = idsOf(await takeAndAck(client, queue, 3));
      const nameOf = new Map([
        [low, 'High, Low'],
        [normal, 'Normal'],
        [high, 'Low, High'],
      ]);
      const isByLast = taken[0] === high && taken[1] === normal;
      ctx.assert.ok(isByLast, 'the messages are delivered in the order of their last headers priority', {
        expected: 'Low, High before Normal before High, Low',
        actual: taken.map((id) => nameOf.get(id) ?? 'another message').join(' before '),
        possibleCauses: ['DELIVERY-031', 'PUBLISH-021'],
      });
    },
  },
  // DELIVERY-032 (SHOULD): In PriorityBased the broker selects subscribers in turn.
  {
    id: 'DELIVERY-032a',
    title: 'delivers to the subscribers of a PriorityBased queue in turn',
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
      ctx.assert.deepEqual(counts, [1, 1, 1], 'number of deliveries to each subscriber');
    },
  },
  // DELIVERY-033 (SHOULD): In PriorityBased the broker delivers messages of the same priority in the order in which
  // they were published.
  {
    id: 'DELIVERY-033a',
    title: 'keeps publish order among messages of the same priority of two publishers',
    clauses: ['DELIVERY-033'],
    profile: 'delivery',
    evidence: { frames: 26, messages: 12 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      await expectPublishOrder(ctx, [publisher, await ctx.connect({ own: true }), publisher]);
    },
  },
  // DELIVERY-036 (SHOULD): In PriorityBased, the broker delivers the messages of one priority and one publisher to one
  // subscriber through one queue for the first time in the order in which they were published.
  {
    id: 'DELIVERY-036a',
    title: 'keeps publish order among messages of the same priority of one publisher',
    clauses: ['DELIVERY-036'],
    profile: 'delivery',
    evidence: { frames: 18, messages: 8 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      await expectPublishOrder(ctx, [publisher, publisher]);
    },
  },
  // DELIVERY-031 (MUST): In PriorityBased the broker delivers waiting messages in the order of their priorities:
  // Critical, High, Normal, Low.
  {
    id: 'DELIVERY-031c',
    title: 'delivers the dead letters of a PriorityBased dead letter queue in the order of their priorities',
    clauses: ['DELIVERY-031'],
    profile: 'retry-dlq',
    evidence: { frames: 13, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      await expectByPriority(ctx, client, await prioritizedLetters(ctx, client));
    },
  },
  // DELIVERY-031 (MUST): In PriorityBased the broker delivers waiting messages in the order of their priorities:
  // Critical, High, Normal, Low.
  {
    id: 'DELIVERY-031d',
    title: 'delivers dead letters in the order of their priorities after a stop and a start, too',
    clauses: ['DELIVERY-031', 'DURABLE-012'],
    ...durableBroker,
    evidence: { frames: 13, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await prioritizedLetters(ctx, client);
      await restartBroker(ctx, client);
      await expectByPriority(ctx, await ctx.connect(), letters);
    },
  },
  // DLQ-008 (SHOULD): When a dead letter queue is full, the broker evicts its oldest waiting message for a new dead
  // letter that it cannot deliver immediately, whatever the overflow strategy.
  {
    id: 'DLQ-008b',
    title:
      'removes the oldest dead letter from a full PriorityBased dead letter queue, whatever its priority',
    clauses: ['DLQ-008', 'OVERFLOW-022'],
    profile: 'retry-dlq',
    evidence: { frames: 9, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'full', { ...priorityBased, maxQueueSize: 2 });
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const options = { overflowStrategy: 3, maxQueueSize: 1, ...withLetters };
      const queue = await newQueue(ctx, client, 'redirecting', options);
      await publishAll(ctx, client, queue, [undefined]);
      for (const priority of ['High', 'Low', 'Normal'])
        await client.publish(queue, JSON.stringify(priority), { headers: { priority } });
      await client.subscribe(letters);
      const left = (await takeAndAck(client, letters, 2)).map((letter) => letter.json());
      ctx.assert.deepEqual(
        [...left].sort(),
        ['Low', 'Normal'],
        'the priorities of the dead letters that are left',
      );
    },
  },
] satisfies readonly Check[];

/** A PriorityBased dead letter queue with one dead letter of each priority; the lowest came first. Returns its name. */
async function prioritizedLetters(ctx: CheckContext, client: Connection): Promise<string> {
  const deadLetterQueueName = await newQueue(ctx, client, 'letters', priorityBased);
  const options = { overflowStrategy: 3, enableDeadLetterQueue: true, maxQueueSize: 1 };
  const queue = await newQueue(ctx, client, 'redirecting', { ...options, deadLetterQueueName });
  await publishAll(ctx, client, queue, [undefined]);
  for (const priority of levels)
    await client.publish(queue, JSON.stringify(priority), { headers: { priority } });
  return deadLetterQueueName;
}

async function expectByPriority(ctx: CheckContext, client: Connection, letters: string): Promise<void> {
  await client.subscribe(letters);
  const taken = await takeAndAck(client, letters, levels.length);
  const order = taken.map((letter) => letter.json());
  ctx.assert.deepEqual(order, [...levels].reverse(), 'the priorities in the order of delivery');
}

/** Each publisher in turn publishes one message of each priority. Asserts that those of one priority are delivered in this order. */
async function expectPublishOrder(
  ctx: CheckContext,
  publishers: readonly [Connection, Connection, ...Connection[]],
): Promise<void> {
  const [first] = publishers;
  const queue = await newQueue(ctx, first, 'in-order', priorityBased);
  const rounds: (readonly (string | undefined)[])[] = [];
  for (const publisher of publishers) rounds.push(await publishAll(ctx, publisher, queue, levels));
  await first.subscribe(queue);
  const taken = idsOf(await takeAndAck(first, queue, publishers.length * levels.length));
  for (const [index, level] of levels.entries()) {
    const expected = rounds.map((ids) => ids[index]);
    const delivered = taken.filter((id) => expected.includes(id));
    ctx.assert.deepEqual(delivered, expected, `the messages of priority ${level}`);
  }
}

/**
 * Publishes Low messages until two of them wait because the window of the subscriber is full. `held` is the first message, which the
 * subscriber received. `isFull` is false when the subscriber has room for every message that was tried.
 */
async function fillWindow(
  ctx: CheckContext,
  subscriber: Connection,
  queue: string,
): Promise<{ readonly held: ReceivedFrame; readonly low: readonly string[]; readonly isFull: boolean }> {
  const until = fillingEnds(ctx);
  const low = [...(await publishAll(ctx, subscriber, queue, ['Low']))];
  const held = await subscriber.delivery({ queue });
  const mayBeFull = async (): Promise<boolean> => Number(await messageCountOf(subscriber, queue)) >= 2;
  while (low.length < maxKnownWindow && ctx.now() < until) {
    low.push(...(await publishEightLow(ctx, subscriber, queue)));
    if (!(await mayBeFull())) continue;
    await waitForDeliveries(ctx, subscriber, queue);
    if (await mayBeFull()) return { held, low, isFull: true };
  }
  return { held, low, isFull: false };
}

/** Together: one after another a large window takes a slow broker longer than its ack timeout. */
async function publishEightLow(
  ctx: CheckContext,
  publisher: Connection,
  queue: string,
): Promise<readonly string[]> {
  const ids = Array.from({ length: 8 }, () => ctx.id('m'));
  await Promise.all(ids.map((id) => publisher.publish(queue, '1', { id, headers: { priority: 'Low' } })));
  return ids;
}

/** Whether this many deliveries arrive within `ctx.timing.silenceMs`. */
async function areDelivered(ctx: CheckContext, subscriber: Connection, count: number): Promise<boolean> {
  const until = ctx.now() + ctx.timing.silenceMs;
  const delivered = (): number =>
    subscriber.received.filter(({ commandName }) => commandName === 'Deliver').length;
  while (delivered() < count && ctx.now() < until) await waitUntil(ctx, ctx.now() + 10);
  return delivered() >= count;
}

const levels = ['Low', 'Normal', 'High', 'Critical'] as const;

/** Publishes a message for each priority, one after another, without the header where it is undefined. Returns the ids. */
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
