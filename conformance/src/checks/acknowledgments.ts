// Checks of acknowledgments and subscriptions: which delivery an Ack settles, and what the broker sends after Subscribe and Unsubscribe.
// Area: DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { announcedBy } from '../observation/capabilities.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import {
  eventually,
  messageCountOf,
  newQueue,
  waitForDeliveries,
  waitForInfo,
} from './shared/queue-state.ts';
import {
  expectOnlySentinel,
  fillingEnds,
  idsOf,
  maxKnownWindow,
  publishSeries,
  resetSubscriber,
  takeAndAck,
} from './shared/subscribers.ts';

const acks: CheckModule = [
  // DELIVERY-001 (MUST): The broker removes an acknowledged message from its queue, in FanOutWithAck an acknowledged
  // copy, and does not deliver it again.
  {
    id: 'DELIVERY-001a',
    title: 'does not deliver a message again after an Ack that names its queue',
    clauses: ['DELIVERY-001', 'DELIVERY-067'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: (ctx) => expectSettled(ctx, (holder, held) => holder.ack(held, { withQueue: true })),
  },
  // DELIVERY-065 (MUST): An Ack without header messageId acknowledges the delivery whose message id equals the Ack's
  // id.
  {
    id: 'DELIVERY-065a',
    title: 'accepts an Ack that contains only the message id, as existing clients send it',
    clauses: ['DELIVERY-065', 'DELIVERY-001'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: (ctx) => expectSettled(ctx, (holder, held) => holder.ack(held)),
  },
  // DELIVERY-066 (SHOULD): An Ack with header messageId acknowledges the delivery whose message id equals that header.
  {
    id: 'DELIVERY-066a',
    title: 'accepts an Ack that names its message in header messageId',
    clauses: ['DELIVERY-066'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: (ctx) =>
      expectSettled(ctx, (holder, { id }) =>
        holder.send({ command: Command.Ack, id: ctx.id('ack'), headers: { messageId: id } }),
      ),
  },
  // DELIVERY-003 (MUST): The broker does not count messages in flight towards maxQueueSize.
  {
    id: 'DELIVERY-003a',
    title: 'does not count a message in flight towards maxQueueSize',
    clauses: ['DELIVERY-003', 'DELIVERY-002'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'room-for-one', { maxQueueSize: 1, overflowStrategy: 1 });
      await holder.subscribe(queue);
      // While no message waits the queue has room, whatever the number of messages in flight. When the window is full, one message waits.
      const until = fillingEnds(ctx);
      const ids = [...(await publishSeries(ctx, client, queue, 1))];
      const first = await holder.delivery({ queue });
      let waiting = await messageCountOf(client, queue);
      ctx.assert.equal(waiting, 0, 'messageCount while the only message is in flight', 'DELIVERY-002');
      while (ids.length < 2 || (waiting === 0 && ids.length < maxKnownWindow && ctx.now() < until)) {
        ids.push(...(await publishSeries(ctx, client, queue, 1)));
        await waitForDeliveries(ctx, client, queue);
        waiting = await messageCountOf(client, queue);
      }
      await holder.ack(first);
      const others = await takeAndAck(holder, queue, ids.length - 1);
      ctx.assert.deepEqual(idsOf([first, ...others]), ids, 'the delivered messages');
    },
  },
  // DELIVERY-006 (MUST): The broker never loses a message in flight: the message is acknowledged, dead-lettered,
  // discarded by a rule of this specification, deleted with its queue, or becomes waiting again.
  {
    id: 'DELIVERY-006a',
    title: 'does not lose a message in flight when its subscriber unsubscribes and disconnects',
    clauses: ['DELIVERY-006', 'DELIVERY-062', 'DELIVERY-038'],
    profile: 'delivery',
    accepts: [
      'the broker redelivers it after the connection ends',
      'the broker redelivers it after the Unsubscribe',
    ],
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'left-behind');
      const { held } = await deliverUnacknowledged(ctx, { publisher: client, holder, queue });
      await holder.unsubscribe(queue);
      await client.subscribe(queue);
      await holder.abort();
      const again = await client.delivery({ queue });
      ctx.assert.equal(again.id, held.id, 'the redelivered message');
      await client.ack(again);
    },
  },
  // DELIVERY-006 (MUST): The broker never loses a message in flight: the message is acknowledged, dead-lettered,
  // discarded by a rule of this specification, deleted with its queue, or becomes waiting again.
  {
    id: 'DELIVERY-006c',
    title: 'settles only the delivery that an Ack names, and no older one of its queue or connection',
    clauses: ['DELIVERY-006', 'DELIVERY-038', 'DELIVERY-065'],
    profile: 'delivery',
    evidence: { frames: 40, messages: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const withQueue of [false, true]) {
        const holder = await ctx.connect({ own: true });
        const kind = withQueue ? 'named' : 'unnamed';
        const older = await newQueue(ctx, client, `older-${kind}`);
        const queue = await newQueue(ctx, client, kind);
        for (const subscribed of [older, queue]) await holder.subscribe(subscribed);
        const ids = [
          ...(await publishSeries(ctx, client, older, 3)),
          ...(await publishSeries(ctx, client, queue, 3)),
        ];
        for (const subscribed of [older, queue]) await holder.delivery({ queue: subscribed });
        for (const subscribed of [older, queue]) await waitForDeliveries(ctx, client, subscribed);
        await holder.ping();
        // With a window of one message the last one in flight is the first of its queue.
        const last = holder.received.findLast(
          (frame) => frame.command === Command.Deliver && frame.queue === queue,
        );
        if (last === undefined) return;
        await holder.ack(last, { withQueue });
        await holder.ping();
        await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
        await waitForInfo(ctx, client, older, { field: 'subscriberCount', value: 0 });
        for (const [name, count] of [
          [older, 3],
          [queue, 2],
        ] as const) {
          await eventually(
            ctx,
            () => messageCountOf(client, name),
            (seen) => seen === count,
            {
              text: 'the messages that were not acknowledged wait again',
              clause: 'DELIVERY-006',
            },
          );
          await client.subscribe(name);
        }
        const rest = [...(await takeAndAck(client, older, 3)), ...(await takeAndAck(client, queue, 2))];
        const wanted = ids.filter((id) => id !== last.id);
        ctx.assert.deepEqual([...idsOf(rest)].sort(), wanted.sort(), 'the messages that are delivered again');
      }
    },
  },
  // DELIVERY-057 (SHOULD): In RoundRobin and PriorityBased the broker accepts an ack only from the connection to which
  // it delivered the message.
  {
    id: 'DELIVERY-057a',
    title: 'ignores the Ack of a connection to which the message was not delivered',
    clauses: ['DELIVERY-057'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'not-yours');
      const { held } = await deliverUnacknowledged(ctx, { publisher: client, holder, queue });
      await client.ack(held);
      await client.ping();
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      await client.subscribe(queue);
      const again = await client.delivery({ queue });
      ctx.assert.equal(again.id, held.id, 'the redelivered message');
      await client.ack(again);
    },
  },
  // DELIVERY-058 (MUST): The broker ignores an ack for an unknown message and does not answer it.
  {
    id: 'DELIVERY-058a',
    title: 'ignores an Ack for an unknown message without an answer',
    clauses: ['DELIVERY-058', 'CONN-036'],
    profile: 'delivery',
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'unknown');
      await client.ack({ id: ctx.id('never'), queue });
      await client.ack({ id: ctx.id('never'), queue }, { withQueue: true });
      await client.expectNothingBeforePong(() => true, 'no frame answers the Acks');
    },
  },
  // DELIVERY-059 (MUST): The broker ignores a repeated ack and does not answer it.
  {
    id: 'DELIVERY-059a',
    title: 'ignores a repeated Ack without an answer',
    clauses: ['DELIVERY-059', 'CONN-036'],
    profile: 'delivery',
    evidence: { frames: 6, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'repeated');
      await client.subscribe(queue);
      await publishSeries(ctx, client, queue, 1);
      const delivery = await client.delivery({ queue });
      for (let count = 0; count < 3; count += 1) await client.ack(delivery);
      await client.expectNothingBeforePong(() => true, 'no frame answers the Acks');
      await expectOnlySentinel(ctx, client, queue, { text: 'the next message is delivered' });
    },
  },
  // DELIVERY-067 (SHOULD): An Ack that names a queue acknowledges only a delivery of that queue.
  {
    id: 'DELIVERY-067a',
    title: 'settles only the delivery from the queue that an Ack names',
    clauses: ['DELIVERY-067'],
    profile: 'delivery',
    evidence: { frames: 11, messages: 3 },
    run: (ctx) =>
      expectNamedQueueSettled(ctx, (holder, { id, queue }) => holder.ack({ id, queue }, { withQueue: true })),
  },
  // DELIVERY-067 (SHOULD): An Ack that names a queue acknowledges only a delivery of that queue.
  {
    id: 'DELIVERY-067c',
    title:
      'settles only the delivery from the queue that an Ack names, when header messageId names the message',
    clauses: ['DELIVERY-067', 'DELIVERY-066'],
    profile: 'delivery',
    evidence: { frames: 11, messages: 3 },
    run: (ctx) =>
      expectNamedQueueSettled(ctx, (holder, { id, queue }) =>
        holder.send({ command: Command.Ack, id: ctx.id('ack'), queue, headers: { messageId: id } }),
      ),
  },
  // DELIVERY-068 (SHOULD): When several deliveries in flight on the connection have the acknowledged id, the broker
  // settles the oldest.
  {
    id: 'DELIVERY-068a',
    title: 'settles the oldest delivery when several have the acknowledged id',
    clauses: ['DELIVERY-068'],
    profile: 'delivery',
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const messages = await holdTwoWithSameId(ctx);
      const [first, second] = messages.queues;
      await messages.holder.ack({ id: messages.id, queue: '' });
      await messages.holder.ping();
      await expectOneSettled(ctx, messages, { unsettled: second, settled: first });
    },
  },
] satisfies readonly Check[];

const subscriptions: CheckModule = [
  // DELIVERY-061 (MUST): After UnsubscribeAck the broker sends no message of that queue on the connection, until the
  // client subscribes to the queue again.
  {
    id: 'DELIVERY-061a',
    title: 'sends no message of a queue after UnsubscribeAck, while more messages are published',
    clauses: ['DELIVERY-061'],
    profile: 'delivery',
    evidence: { frames: 23, messages: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const subscriber = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, publisher, 'no-more');
      await subscriber.subscribe(queue);
      await publishSeries(ctx, publisher, queue, 1);
      await subscriber.ack(await subscriber.delivery({ queue }));
      const published = publishSeries(ctx, publisher, queue, 10);
      const ack = await subscriber.unsubscribe(queue);
      await published;
      await publishSeries(ctx, publisher, queue, 5);
      await subscriber.ping();
      const late = subscriber.received.filter(
        (frame) => frame.command === Command.Deliver && frame.sequence > ack.sequence,
      );
      ctx.assert.deepEqual(idsOf(late), [], 'ids of messages that are delivered after UnsubscribeAck');
    },
  },
  // CONN-034 (MUST): The broker sends the last Deliver of a subscription before its UnsubscribeAck.
  {
    id: 'CONN-034a',
    title: 'sends no message after UnsubscribeAck that was published just before the Unsubscribe',
    clauses: ['CONN-034'],
    profile: 'delivery',
    evidence: { frames: 32, messages: 4, assertions: 4 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      for (const name of ['first', 'second', 'third', 'fourth']) {
        const queue = await newQueue(ctx, client, name);
        await client.subscribe(queue);
        // The subscription delivers, until it ends.
        await client.publish(queue, '0');
        await client.ack(await client.delivery({ queue }));
        const [id, publish] = [ctx.id(), { command: Command.Publish, queue, payload: '1' }];
        await client.sendTogether([
          { ...publish, id: ctx.id('m') },
          { ...publish, id: ctx.id('m') },
          { command: Command.Unsubscribe, id, queue },
        ]);
        const ack = await client.expect({ command: 'UnsubscribeAck', id });
        await client.ping();
        const late = client.received.filter(
          (frame) =>
            frame.command === Command.Deliver && frame.queue === queue && frame.sequence > ack.sequence,
        );
        ctx.assert.deepEqual(idsOf(late), [], 'ids of messages that are delivered after UnsubscribeAck');
      }
    },
  },
  // DELIVERY-069 (MUST): A subscription lasts from SubscribeAck until UnsubscribeAck, the end of its connection, or the
  // loss of the right to it (AUTH-026).
  {
    id: 'DELIVERY-069a',
    title: 'keeps a subscription when the same connection ends another one, until it ends this one too',
    clauses: ['DELIVERY-069'],
    profile: 'delivery',
    evidence: { frames: 10, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const [kept, ended] = [await newQueue(ctx, client, 'kept'), await newQueue(ctx, client, 'ended')];
      for (const queue of [kept, ended]) await client.subscribe(queue);
      for (const isLast of [false, true]) {
        const [id = ''] = await publishSeries(ctx, client, kept, 1);
        const delivery = await client.delivery({ queue: kept }, { clause: 'DELIVERY-069' });
        ctx.assert.equal(delivery.id, id, 'the delivered message');
        await client.ack(delivery);
        if (!isLast) await client.unsubscribe(ended);
      }
    },
  },
  // DELIVERY-063 (SHOULD): The broker answers an Unsubscribe without a subscription by UnsubscribeAck.
  {
    id: 'DELIVERY-063a',
    title: 'answers Unsubscribe with UnsubscribeAck when there is no subscription',
    clauses: ['DELIVERY-063'],
    profile: 'delivery',
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'never-subscribed');
      for (const name of [queue, ctx.queue('missing')]) {
        const answer = await client.request({ command: Command.Unsubscribe, id: ctx.id(), queue: name });
        ctx.assert.equal(answer.commandName, 'UnsubscribeAck', 'the answer to Unsubscribe');
        ctx.assert.equal(answer.queue, name, 'the queue in UnsubscribeAck', 'CONN-010');
      }
    },
  },
  // DELIVERY-064 (SHOULD): The broker answers a second Subscribe to the same queue on one connection by SubscribeAck
  // and changes nothing.
  {
    id: 'DELIVERY-064a',
    title: 'answers a second Subscribe with SubscribeAck and delivers each message once',
    clauses: ['DELIVERY-064'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'subscribed-twice');
      await client.subscribe(queue);
      await client.subscribe(queue);
      await waitForInfo(ctx, client, queue, { field: 'subscriberCount', value: 1 });
      await expectOnlySentinel(ctx, client, queue, { text: 'the message is delivered only once' });
    },
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046a',
    title: 'keeps exactly maxInFlight messages in flight for a Subscribe with that header',
    clauses: ['DELIVERY-046', 'DELIVERY-047'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 14, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const isAnnounced = announcedBy(client.connectAck).has('maxInFlight');
      ctx.assert.ok(isAnnounced, 'header capabilities of ConnectAck contains maxInFlight', {
        actual: client.connectAck.header('capabilities'),
        clause: 'DELIVERY-047',
      });
      for (const window of [1, 3]) {
        const queue = await newQueue(ctx, client, `window-${window}`);
        await publishSeries(ctx, client, queue, 6);
        await client.subscribe(queue, { headers: { maxInFlight: String(window) } });
        await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 6 - window });
        await takeAndAck(client, queue, 6);
      }
    },
  },
] satisfies readonly Check[];

export const acknowledgmentChecks: CheckModule = [...acks, ...subscriptions];

type Roles = { readonly publisher: Connection; readonly holder: Connection; readonly queue: string };

/** Publishes one message and waits until the holder, which does not acknowledge it, receives it. */
async function deliverUnacknowledged(
  ctx: CheckContext,
  { publisher, holder, queue }: Roles,
): Promise<{ readonly held: ReceivedFrame }> {
  await holder.subscribe(queue);
  await publishSeries(ctx, publisher, queue, 1);
  return { held: await holder.delivery({ queue }) };
}

/** Acknowledges in the given way, then disconnects the subscriber. The message must not be delivered again. */
async function expectSettled(
  ctx: CheckContext,
  acknowledge: (holder: Connection, held: ReceivedFrame) => Promise<void>,
): Promise<void> {
  const client = await ctx.connect();
  const holder = await ctx.connect({ own: true });
  const queue = await newQueue(ctx, client, 'settled');
  const { held } = await deliverUnacknowledged(ctx, { publisher: client, holder, queue });
  await acknowledge(holder, held);
  await holder.ping();
  await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
  await client.subscribe(queue);
  await expectOnlySentinel(ctx, client, queue, { text: 'the acknowledged message is not delivered again' });
}

type SameIdMessages = {
  readonly client: Connection;
  readonly holder: Connection;
  readonly queues: readonly [string, string];
  readonly id: string;
};

/** Two messages with the same id in two queues, both in flight to one connection. The delivery from the first queue is the older one. */
async function holdTwoWithSameId(ctx: CheckContext, name = 'twins'): Promise<SameIdMessages> {
  const client = await ctx.connect();
  const holder = await ctx.connect({ own: true });
  const queues = [
    await newQueue(ctx, client, `${name}-1`),
    await newQueue(ctx, client, `${name}-2`),
  ] as const;
  const id = ctx.id('twin');
  for (const queue of queues) {
    await holder.subscribe(queue);
    await client.publish(queue, '1', { id });
    await holder.delivery({ queue, id });
  }
  return { client, holder, queues, id };
}

/** Each of two deliveries of one id is settled by an Ack that names its queue, whichever is older. */
async function expectNamedQueueSettled(
  ctx: CheckContext,
  ack: (holder: Connection, delivery: { readonly id: string; readonly queue: string }) => Promise<void>,
): Promise<void> {
  for (const named of ['older', 'younger']) {
    const messages = await holdTwoWithSameId(ctx, named);
    const [unsettled, settled] = named === 'younger' ? messages.queues : [...messages.queues].reverse();
    if (unsettled === undefined || settled === undefined) return;
    await ack(messages.holder, { id: messages.id, queue: settled });
    await messages.holder.ping();
    await expectOneSettled(ctx, messages, { unsettled, settled });
  }
}

async function expectOneSettled(
  ctx: CheckContext,
  { client, holder, id }: SameIdMessages,
  queues: { readonly unsettled: string; readonly settled: string },
): Promise<void> {
  await resetSubscriber(ctx, holder, { witness: client, queue: queues.unsettled, remaining: 0 });
  await waitForInfo(ctx, client, queues.settled, { field: 'subscriberCount', value: 0 });
  await client.subscribe(queues.unsettled);
  const again = await client.delivery({ queue: queues.unsettled });
  ctx.assert.equal(again.id, id, 'the unacknowledged message is delivered again');
  await client.ack(again);
  await client.subscribe(queues.settled);
  await expectOnlySentinel(ctx, client, queues.settled, {
    text: 'the acknowledged message is not delivered again',
  });
}
