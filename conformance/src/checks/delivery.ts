// Checks of delivery, mostly from RoundRobin queues: selection of subscribers, order, and redelivery after a subscriber disconnects. The checks rely on a window of one unacknowledged message and not on more. Area: DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { frameAround } from '../wire/encode.ts';
import { fittingLength, publishBodyOf, sizedPayload } from './shared/bodies.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import {
  ackByReceiver,
  deliveredIds,
  expectOldPlaces,
  newSubscriber,
  queueWithSubscribers,
} from './shared/queue-with-subscribers.ts';
import {
  expectOnlySentinel,
  idsOf,
  publishSeries,
  resetSubscriber,
  takeAndAck,
} from './shared/subscribers.ts';

const distribution: CheckModule = [
  // DELIVERY-010 (MUST): When a subscription starts, the broker delivers the waiting messages of its queue to it
  // without waiting for another publish.
  {
    id: 'DELIVERY-010a',
    title: 'delivers waiting messages when a client subscribes, without another Publish',
    clauses: ['DELIVERY-010', 'DELIVERY-034'],
    profile: 'delivery',
    evidence: { frames: 7, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'backlog');
      const ids = await publishSeries(ctx, client, queue, 2);
      const subscriber = await ctx.connect();
      await subscriber.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(subscriber, queue, 2)), ids, 'the delivered messages');
    },
  },
  // DELIVERY-011 (MUST): In RoundRobin the broker delivers each message to exactly one subscriber.
  {
    id: 'DELIVERY-011a',
    title: 'delivers each message of a RoundRobin queue to exactly one of three subscribers',
    clauses: ['DELIVERY-011'],
    profile: 'delivery',
    evidence: { frames: 24, messages: 6 },
    run: async (ctx) => {
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 3);
      const ids: string[] = [];
      for (let round = 0; round < 6; round += 1) {
        const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
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
  // DELIVERY-012 (MUST): In RoundRobin, when n subscribers have no messages in flight and n messages are published one
  // after another, the broker delivers one message to each subscriber.
  {
    id: 'DELIVERY-012a',
    title: 'delivers three messages to three RoundRobin subscribers without messages in flight, one to each',
    clauses: ['DELIVERY-012', 'DELIVERY-011'],
    profile: 'delivery',
    evidence: { frames: 13, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 3);
      await publishSeries(ctx, publisher, queue, 3);
      await Promise.all(subscribers.map((subscriber) => subscriber.delivery({ queue })));
      await Promise.all(subscribers.map((subscriber) => subscriber.ping()));
      const counts = subscribers.map((subscriber) => deliveredIds(subscriber, queue).length);
      ctx.assert.deepEqual(counts, [1, 1, 1], 'number of deliveries to each subscriber');
    },
  },
  // DELIVERY-013 (SHOULD): In RoundRobin the broker selects subscribers in turn, in the order in which they subscribed.
  {
    id: 'DELIVERY-013a',
    title: 'delivers to the subscribers of a RoundRobin queue in the order in which they subscribed',
    clauses: ['DELIVERY-013', 'DELIVERY-012'],
    profile: 'delivery',
    evidence: { frames: 13, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 3);
      const ids = await publishSeries(ctx, publisher, queue, 3);
      const deliveries = await Promise.all(subscribers.map((subscriber) => subscriber.delivery({ queue })));
      ctx.assert.deepEqual(
        idsOf(deliveries),
        ids,
        'the messages that the first, second and third subscriber received',
      );
    },
  },
  // DELIVERY-013 (SHOULD): In RoundRobin the broker selects subscribers in turn, in the order in which they subscribed.
  {
    id: 'DELIVERY-013b',
    title: 'keeps the turn of the next subscriber of a RoundRobin queue when one before it unsubscribes',
    clauses: ['DELIVERY-013'],
    profile: 'delivery',
    evidence: { frames: 16, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 3);
      const ids = [...(await publishSeries(ctx, publisher, queue, 2))];
      for (const id of ids) await ackByReceiver(ctx, subscribers, id);
      const [first] = subscribers;
      await first?.unsubscribe(queue);
      ids.push(...(await publishSeries(ctx, publisher, queue, 1)));
      await ackByReceiver(ctx, subscribers, ids[2] ?? '');
      ctx.assert.deepEqual(
        subscribers.map((subscriber) => deliveredIds(subscriber, queue)),
        ids.map((id) => [id]),
        'the messages that the first, second and third subscriber received',
      );
    },
  },
  // DELIVERY-013 (SHOULD): In RoundRobin the broker selects subscribers in turn, in the order in which they subscribed.
  {
    id: 'DELIVERY-013d',
    title:
      'serves a subscriber of a RoundRobin queue once before each other one, also when another one joins',
    clauses: ['DELIVERY-013'],
    profile: 'delivery',
    evidence: { frames: 16, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 2);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await ackByReceiver(ctx, subscribers, id);
      const all = [...subscribers, await newSubscriber(ctx, queue)];
      for (const next of await publishSeries(ctx, publisher, queue, 2)) await ackByReceiver(ctx, all, next);
      const counts = all.map((subscriber) => deliveredIds(subscriber, queue).length);
      ctx.assert.deepEqual(counts, [1, 1, 1], 'number of deliveries to each subscriber');
    },
  },
  // DELIVERY-034 (MUST): In every delivery mode, messages wait as long as their queue has no subscriber.
  {
    id: 'DELIVERY-034a',
    title: 'keeps messages while a queue has no subscriber, in every delivery mode',
    clauses: ['DELIVERY-034', 'DELIVERY-010'],
    profile: 'delivery',
    evidence: { frames: 20, messages: 8 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const mode of [0, 1, 2, 3]) {
        const queue = await newQueue(ctx, client, `mode-${mode}`, { mode });
        const ids = await publishSeries(ctx, client, queue, 2);
        ctx.assert.equal(
          await messageCountOf(client, queue),
          2,
          `number of waiting messages in mode ${mode}`,
        );
        await client.subscribe(queue);
        const delivered = idsOf(await takeAndAck(client, queue, 2));
        ctx.assert.deepEqual([...delivered].sort(), [...ids].sort(), 'the delivered messages');
      }
    },
  },
  // DELIVERY-048 (MUST): A subscriber that does not read does not delay any other subscriber.
  {
    id: 'DELIVERY-048a',
    title: 'delivers to other subscribers while one does not read',
    clauses: ['DELIVERY-048'],
    profile: 'delivery',
    evidence: { frames: 40, messages: 10 },
    run: async (ctx) => {
      const slow = await ctx.connect({ own: true });
      await expectOthersServed(ctx, slow, () => slow.pauseReading());
    },
  },
  // DELIVERY-049 (MUST): A subscriber that does not acknowledge does not delay any other subscriber.
  {
    id: 'DELIVERY-049a',
    title: 'delivers to other subscribers while one does not acknowledge',
    clauses: ['DELIVERY-049'],
    profile: 'delivery',
    evidence: { frames: 40, messages: 10 },
    run: async (ctx) => {
      const slow = await ctx.connect({ own: true });
      await expectOthersServed(ctx, slow, () => {});
    },
  },
] satisfies readonly Check[];

const order: CheckModule = [
  // DELIVERY-035 (MUST): In every mode except PriorityBased, the broker delivers the messages of one publisher to one
  // subscriber through one queue for the first time in the order in which they were published.
  {
    id: 'DELIVERY-035a',
    title: 'delivers the messages of one publisher to one subscriber in publish order',
    clauses: ['DELIVERY-035', 'CONN-031'],
    profile: 'delivery',
    evidence: { frames: 84, messages: 40 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const subscriber = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'in-order');
      const ids = Array.from({ length: 40 }, () => ctx.id('m'));
      await subscriber.subscribe(queue);
      const published = ids.map((id) => publisher.publish(queue, '1', { id }));
      const delivered = idsOf(await takeAndAck(subscriber, queue, ids.length));
      await Promise.all(published);
      ctx.assert.deepEqual(delivered, ids, 'the delivered messages, in order');
    },
  },
  // DELIVERY-037 (SHOULD): The broker delivers the messages of several publishers for the first time in the order of
  // their PublishAcks.
  {
    id: 'DELIVERY-037a',
    title: 'delivers the messages of several publishers in the order of their PublishAcks',
    clauses: ['DELIVERY-037'],
    profile: 'delivery',
    evidence: { frames: 16, messages: 6 },
    run: async (ctx) => {
      const publishers = [await ctx.connect(), await ctx.connect({ own: true })];
      const [first] = publishers;
      if (first === undefined) return;
      const queue = await newQueue(ctx, first, 'by-ack');
      const ids: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        for (const publisher of publishers) ids.push(...(await publishSeries(ctx, publisher, queue, 1)));
      }
      await first.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(first, queue, 6)), ids, 'the delivered messages');
    },
  },
] satisfies readonly Check[];

const returnedMessages: CheckModule = [
  // DELIVERY-038 (MUST): When a subscriber's connection ends, its unacknowledged messages immediately become waiting
  // again, and the broker offers them to other subscribers.
  {
    id: 'DELIVERY-038a',
    title: 'delivers the messages in flight to a subscriber to others when its connection is reset',
    clauses: ['DELIVERY-038', 'DELIVERY-006'],
    profile: 'delivery',
    evidence: { frames: 7, messages: 2 },
    run: (ctx) => expectRedelivered(ctx, (holder) => holder.abort()),
  },
  // DELIVERY-038 (MUST): When a subscriber's connection ends, its unacknowledged messages immediately become waiting
  // again, and the broker offers them to other subscribers.
  {
    id: 'DELIVERY-038b',
    title: 'delivers the messages in flight to a subscriber to others when it disconnects',
    clauses: ['DELIVERY-038', 'DELIVERY-006'],
    profile: 'delivery',
    evidence: { frames: 7, messages: 2 },
    run: (ctx) => expectRedelivered(ctx, (holder) => holder.disconnect()),
  },
  // DELIVERY-039 (SHOULD): The broker puts a message that is given back at its previous place in the queue.
  {
    id: 'DELIVERY-039a',
    title: 'returns the messages of a subscriber that disconnects to their previous places in the queue',
    clauses: ['DELIVERY-039', 'DELIVERY-038'],
    profile: 'delivery',
    evidence: { frames: 28, messages: 13 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'old-places');
      await expectOldPlaces(ctx, client, queue, 'the delivered messages');
    },
  },
  // DELIVERY-066 (SHOULD): An Ack with header messageId acknowledges the delivery whose message id equals that header.
  {
    id: 'DELIVERY-066b',
    title: 'does not settle the message with the id of an Ack whose header messageId names an unknown one',
    clauses: ['DELIVERY-066', 'DELIVERY-058'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'named-by-header');
      await holder.subscribe(queue);
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      await holder.delivery({ queue });
      await holder.send({ command: Command.Ack, id, headers: { messageId: ctx.id('never') } });
      await holder.ping();
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      await client.subscribe(queue);
      const about = { what: 'the message, which was not acknowledged', clause: 'DELIVERY-066' };
      await client.ack(await client.delivery({ queue, id }, about));
    },
  },
  // DELIVERY-066 (SHOULD): An Ack with header messageId acknowledges the delivery whose message id equals that header.
  {
    id: 'DELIVERY-066d',
    title: 'settles a message whose id begins and ends with a blank when header messageId of an Ack names it',
    clauses: ['DELIVERY-066', 'BODY-017'],
    profile: 'delivery',
    evidence: { frames: 11, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'blanks');
      await holder.subscribe(queue);
      const id = ` ${ctx.id('m')} `;
      await client.publish(queue, '1', { id });
      await holder.delivery({ queue, id });
      await holder.send({ command: Command.Ack, id: ctx.id('ack'), headers: { messageId: id } });
      await holder.ping();
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      await client.subscribe(queue);
      await expectOnlySentinel(ctx, client, queue, {
        text: 'the acknowledged message is not delivered again',
      });
    },
  },
  // DELIVERY-040 (SHOULD): The broker does not count a delivery that is interrupted, because its connection ended or
  // the broker stopped, as a failed attempt.
  {
    id: 'DELIVERY-040a',
    title: 'does not count an interrupted delivery as a failed attempt',
    clauses: ['DELIVERY-040', 'DELIVERY-038'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'one-attempt', { maxRetryAttempts: 1 });
      await holder.subscribe(queue);
      const [id] = await publishSeries(ctx, client, queue, 1);
      await holder.delivery({ queue });
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      await client.subscribe(queue);
      const delivery = await client.delivery({ queue });
      ctx.assert.equal(delivery.id, id, 'the redelivered message');
      await client.ack(delivery);
    },
  },
  // DELIVERY-055 (SHOULD): When the broker sends a message for the second time or more often, Deliver has header
  // deliveryAttempts: the number of times that the message was sent, this time included, as a decimal number.
  {
    id: 'DELIVERY-055a',
    title:
      'sets header deliveryAttempts from the second delivery on, and replaces a published header of that name',
    clauses: ['DELIVERY-055', 'FRAME-024'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const headers = { deliveryAttempts: 'of the publisher' };
      const again = await secondDelivery(ctx, (publisher, queue) =>
        publisher.publish(queue, '1', { headers }),
      );
      const attempts = again.header('deliveryAttempts');
      ctx.assert.notEqual(attempts, headers.deliveryAttempts, 'header deliveryAttempts', 'FRAME-024');
      ctx.assert.equal(attempts, '2', 'header deliveryAttempts');
    },
  },
  // FRAME-023 (SHOULD): The broker does not count headers that it adds towards the limit of 50 headers.
  {
    id: 'FRAME-023a',
    title: 'adds header deliveryAttempts to a message that was published with fifty headers',
    clauses: ['FRAME-023', 'DELIVERY-055', 'DELIVERY-052'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const names = Array.from({ length: 50 }, (_, index) => `h${index}`);
      const headers = Object.fromEntries(names.map((name) => [name, 'v']));
      const again = await secondDelivery(ctx, (publisher, queue) =>
        publisher.publish(queue, '1', { headers }),
      );
      const kept = names.filter((name) => again.header(name) === 'v');
      ctx.assert.equal(kept.length, 50, "number of the publisher's headers", 'DELIVERY-052');
      ctx.assert.equal(again.header('deliveryAttempts'), '2', 'header deliveryAttempts');
    },
  },
  // FRAME-018 (MUST): A broker never sends a frame with a body length over MaxMessageSize.
  {
    id: 'FRAME-018a',
    title: 'sends no frame over MaxMessageSize, even when it delivers the largest message again',
    clauses: ['FRAME-018', 'FRAME-022'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const totalBytes = ctx.target.maxMessageSizeBytes;
      const again = await secondDelivery(ctx, async (publisher, queue) => {
        await publisher.sendRaw(frameAround(publishBodyOf({ id: ctx.id('m'), queue, totalBytes })));
        await publisher.expect('PublishAck');
      });
      ctx.assert.between(again.bodyLengthBytes, 1000, totalBytes, 'the length of the body in bytes');
      ctx.should(
        again.header('deliveryAttempts') === undefined,
        'FRAME-022',
        'header deliveryAttempts is omitted',
      );
    },
  },
] satisfies readonly Check[];

export const deliveryChecks: CheckModule = [...distribution, ...order, ...returnedMessages];

/**
 * Publishes thirty messages to two subscribers, one of which acknowledges or reads nothing. Whatever the window is, that one receives at
 * most half of them in turn, so the other one must receive ten. A broker with a window of 8 that waits for the first does not reach ten.
 */
async function expectOthersServed(
  ctx: CheckContext,
  slow: Connection,
  stopReading: () => void,
): Promise<void> {
  const client = await ctx.connect();
  const queue = await newQueue(ctx, client, 'stuck');
  await slow.subscribe(queue);
  stopReading();
  await client.subscribe(queue);
  const payload = sizedPayload({ id: '', queue, totalBytes: fittingLength(ctx.target, 20_000) });
  const published = Array.from({ length: 30 }, () => client.publish(queue, payload));
  const delivered = await takeAndAck(client, queue, 10);
  await Promise.all(published);
  ctx.assert.equal(delivered.length, 10, 'number of messages delivered to the other subscriber');
  await client.ping();
  // The remaining messages must not be delivered to this connection, which a later check may use.
  await client.deleteQueue(queue);
}

async function expectRedelivered(
  ctx: CheckContext,
  disconnect: (holder: Connection) => Promise<void>,
): Promise<void> {
  const client = await ctx.connect();
  const holder = await ctx.connect({ own: true });
  const queue = await newQueue(ctx, client, 'given-back');
  await holder.subscribe(queue);
  const [id] = await publishSeries(ctx, client, queue, 1);
  await holder.delivery({ queue });
  await client.subscribe(queue);
  await disconnect(holder);
  const again = await client.delivery({ queue });
  ctx.assert.equal(again.id, id, 'the redelivered message');
  await client.ack(again);
  await expectOnlySentinel(ctx, client, queue, { text: 'the message is delivered only once' });
}

/** Publishes one message, disconnects its first receiver without an ack, and returns the second Deliver. */
async function secondDelivery(
  ctx: CheckContext,
  publish: (publisher: Connection, queue: string) => Promise<unknown>,
) {
  const client = await ctx.connect();
  const holder = await ctx.connect({ own: true });
  const queue = await newQueue(ctx, client, 'twice');
  await holder.subscribe(queue);
  await publish(client, queue);
  await holder.delivery({ queue });
  await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
  await client.subscribe(queue);
  const again = await client.delivery({ queue });
  await client.ack(again);
  return again;
}
