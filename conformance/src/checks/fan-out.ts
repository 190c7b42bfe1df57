// Checks of the delivery modes FanOutWithAck and FanOutWithoutAck: which subscribers receive a copy, how acks of one subscriber affect
// the others, and when a message waits again or is removed after subscribers disconnect. Area: DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { largeCount, publishLarge } from './shared/large-messages.ts';
import { eventually, messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import {
  deliveredIds,
  fanOutWithAck,
  fanOutWithoutAck,
  newSubscriber,
  queueWithOneSubscriber,
  queueWithSubscribers,
  queueWithTwoSubscribers,
} from './shared/queue-with-subscribers.ts';
import {
  expectOnlySentinel,
  idsOf,
  publishSeries,
  resetSubscriber,
  takeAndAck,
} from './shared/subscribers.ts';

const withAck: CheckModule = [
  // DELIVERY-055 (SHOULD): When the broker sends a message for the second time or more often, Deliver has header
  // deliveryAttempts: the number of times that the message was sent, this time included, as a decimal number.
  {
    id: 'DELIVERY-055b',
    title:
      'counts in deliveryAttempts the copy of a subscriber that has left, when a FanOutWithAck message waits again',
    clauses: ['DELIVERY-055'],
    profile: 'delivery',
    evidence: { frames: 10, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, fanOutWithAck);
      await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await resetSubscriber(ctx, subscriber, { witness: publisher, queue, remaining: 0 });
      const later = await newSubscriber(ctx, queue);
      const again = await later.delivery({ queue }, { clause: 'DELIVERY-022' });
      ctx.assert.equal(again.header('deliveryAttempts'), '2', 'header deliveryAttempts');
      await later.ack(again);
    },
  },
  // DELIVERY-055 (SHOULD): When the broker sends a message for the second time or more often, Deliver has header
  // deliveryAttempts: the number of times that the message was sent, this time included, as a decimal number.
  {
    id: 'DELIVERY-055c',
    title: 'counts in deliveryAttempts no copies of other subscribers',
    clauses: ['DELIVERY-055'],
    profile: 'delivery',
    accepts: ['the first copy to a subscriber has no header deliveryAttempts', 'the header is 1'],
    evidence: { frames: 24, messages: 6 },
    run: async (ctx) => {
      for (const [name, options] of Object.entries({ fanOutWithAck, fanOutWithoutAck })) {
        const publisher = await ctx.connect();
        const queue = await newQueue(ctx, publisher, name, options);
        const subscribers: Connection[] = [];
        while (subscribers.length < 3) subscribers.push(await newSubscriber(ctx, queue));
        await publishSeries(ctx, publisher, queue, 1);
        for (const subscriber of subscribers) {
          const copy = await subscriber.delivery({ queue });
          const attempts = copy.header('deliveryAttempts') ?? '1';
          ctx.assert.equal(attempts, '1', 'header deliveryAttempts of the first copy to a subscriber');
          if (options === fanOutWithAck) await subscriber.ack(copy);
        }
      }
    },
  },
  // DELIVERY-014 (MUST): In FanOutWithAck the broker delivers each message once to every subscriber that is subscribed
  // when it sends the first copy.
  {
    id: 'DELIVERY-014a',
    title: 'delivers each message of a FanOutWithAck queue to all three subscribers, once to each, in order',
    clauses: ['DELIVERY-014', 'DELIVERY-035'],
    profile: 'delivery',
    evidence: { frames: 24, messages: 12 },
    run: async (ctx) => {
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 3, fanOutWithAck);
      const ids = [...(await publishSeries(ctx, publisher, queue, 4))];
      const taken = await Promise.all(subscribers.map((subscriber) => takeAndAck(subscriber, queue, 4)));
      for (const deliveries of taken)
        ctx.assert.deepEqual(idsOf(deliveries), ids, 'the messages that a subscriber received');
      for (const subscriber of subscribers) {
        await subscriber.expectNothingBeforePong(
          { command: 'Deliver' },
          'each message is delivered only once',
        );
      }
    },
  },
  // DELIVERY-015 (MUST): In FanOutWithAck the broker sends no copy of a message to a subscriber that subscribes after
  // the first copy was sent.
  {
    id: 'DELIVERY-015a',
    title:
      'sends no copy of a FanOutWithAck message to a subscriber that subscribes after the first copy was sent',
    clauses: ['DELIVERY-015'],
    profile: 'delivery',
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, subscriber: early } = await queueWithOneSubscriber(ctx, fanOutWithAck);
      await publishSeries(ctx, publisher, queue, 1);
      const held = await early.delivery({ queue });
      const late = await newSubscriber(ctx, queue);
      const [next] = await publishSeries(ctx, publisher, queue, 1);
      await early.ack(held);
      const delivered = await late.delivery({ queue });
      ctx.assert.equal(delivered.id, next, 'the first message that the later subscriber receives');
      await late.ack(delivered);
      await early.ack(await early.delivery({ queue }));
      await late.expectNothingBeforePong(
        { command: 'Deliver' },
        'the later subscriber receives no other message',
      );
    },
  },
  // DELIVERY-049 (MUST): A subscriber that does not acknowledge does not delay any other subscriber.
  {
    id: 'DELIVERY-049b',
    title: 'delivers to one subscriber of a FanOutWithAck queue while the other acknowledges nothing',
    clauses: ['DELIVERY-049', 'DELIVERY-014'],
    profile: 'delivery',
    evidence: { frames: 45, messages: 21 },
    run: async (ctx) => {
      await withSlowMember(ctx);
    },
  },
  // DELIVERY-017 (SHOULD): In FanOutWithAck the broker sends a copy to a subscriber without room as soon as the
  // subscriber has room.
  {
    id: 'DELIVERY-017a',
    title: 'sends the remaining copies to a FanOutWithAck subscriber when its window has room',
    clauses: ['DELIVERY-017', 'DELIVERY-014', 'DELIVERY-035'],
    profile: 'delivery',
    evidence: { frames: 64, messages: 40 },
    run: async (ctx) => {
      const { slow, queue, ids } = await withSlowMember(ctx);
      ctx.assert.deepEqual(
        idsOf(await takeAndAck(slow, queue, ids.length)),
        ids,
        'the copies that the slow subscriber received',
      );
      await slow.expectNothingBeforePong({ command: 'Deliver' }, 'each copy is delivered only once');
    },
  },
  // DELIVERY-018 (SHOULD): The broker treats a FanOutWithAck message as waiting until it has sent all its copies.
  {
    id: 'DELIVERY-018a',
    title: 'counts a FanOutWithAck message as waiting until its last copy has been sent',
    clauses: ['DELIVERY-018', 'DELIVERY-017'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 13, messages: 4 },
    run: async (ctx) => {
      const { publisher, queue, fast, slow, held } = await withFullMember(ctx, fanOutWithAck);
      const [owed] = await publishSeries(ctx, publisher, queue, 1);
      await takeAndAck(fast, queue, 1);
      await waitForInfo(ctx, publisher, queue, { field: 'messageCount', value: 1 });
      await slow.ack(held);
      const copy = await slow.delivery({ queue });
      ctx.assert.equal(copy.id, owed, 'the copy that had not been sent');
      await waitForInfo(ctx, publisher, queue, { field: 'messageCount', value: 0 });
      await slow.ack(copy);
    },
  },
  // PUBLISH-005 (SHOULD): The broker answers a Publish with the id of a message that waits in the same queue by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-005d',
    title: 'confirms a repeat of a FanOutWithAck message of which one copy is not sent yet, and adds none',
    clauses: ['PUBLISH-005', 'PUBLISH-006'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 14, messages: 6 },
    run: async (ctx) => {
      const { publisher, queue, fast, slow, held } = await withFullMember(ctx, fanOutWithAck);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await takeAndAck(fast, queue, 1);
      await publisher.publish(queue, '1', { id });
      await slow.ack(held);
      await slow.ack(await slow.delivery({ queue, id }));
      const [last] = await publishSeries(ctx, publisher, queue, 1);
      for (const [which, subscriber] of [
        ['had its copy', fast],
        ['was owed its copy', slow],
      ] as const) {
        const next = await subscriber.delivery({ queue });
        ctx.assert.equal(next.id, last, `the next message of the subscriber that ${which}`);
        await subscriber.ack(next);
      }
    },
  },
  // DELIVERY-019 (SHOULD): When DropOldest evicts a FanOutWithAck message, the broker drops the copies that it has not
  // sent, and only these.
  {
    id: 'DELIVERY-019a',
    title: 'drops only the unsent copies when it evicts a FanOutWithAck message',
    clauses: ['DELIVERY-019', 'OVERFLOW-002'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 14, messages: 5 },
    run: async (ctx) => {
      const { publisher, queue, fast, slow, held } = await withFullMember(ctx, {
        ...fanOutWithAck,
        maxQueueSize: 1,
      });
      await publishSeries(ctx, publisher, queue, 1);
      await takeAndAck(fast, queue, 1);
      const [last] = await publishSeries(ctx, publisher, queue, 1);
      await takeAndAck(fast, queue, 1);
      await slow.ack(held);
      const copy = await slow.delivery({ queue });
      ctx.assert.equal(copy.id, last, 'the next copy that the subscriber with the full window receives');
      await slow.ack(copy);
    },
  },
  // DELIVERY-021 (SHOULD): When all copies of a FanOutWithAck message have ended, none of them failed and at least one
  // was acknowledged, the broker removes the message.
  {
    id: 'DELIVERY-021a',
    title: 'removes a FanOutWithAck message that one subscriber acknowledged when the other disconnects',
    clauses: ['DELIVERY-021'],
    profile: 'delivery',
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, first, second } = await queueWithTwoSubscribers(ctx, fanOutWithAck);
      await publishSeries(ctx, publisher, queue, 1);
      await second.delivery({ queue });
      await takeAndAck(first, queue, 1);
      await first.unsubscribe(queue);
      await resetSubscriber(ctx, second, { witness: publisher, queue, remaining: 0 });
      const third = await newSubscriber(ctx, queue);
      await expectOnlySentinel(ctx, third, queue, { text: 'the message is not delivered again' });
    },
  },
  // DELIVERY-022 (SHOULD): When all copies of a FanOutWithAck message ended because their subscribers left, the message
  // becomes waiting again, unless it was evicted or purged.
  {
    id: 'DELIVERY-022a',
    title: 'returns a FanOutWithAck message to the waiting messages when all its subscribers disconnect',
    clauses: ['DELIVERY-022', 'DELIVERY-038', 'DELIVERY-006'],
    profile: 'delivery',
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const { publisher, queue, first, second } = await queueWithTwoSubscribers(ctx, fanOutWithAck);
      const [id] = await publishSeries(ctx, publisher, queue, 1);
      await Promise.all([first, second].map((subscriber) => subscriber.delivery({ queue })));
      await resetSubscriber(ctx, first, { witness: publisher, queue, remaining: 1 });
      await resetSubscriber(ctx, second, { witness: publisher, queue, remaining: 0 });
      const third = await newSubscriber(ctx, queue);
      const again = await third.delivery({ queue });
      ctx.assert.equal(again.id, id, 'the message delivered to the next subscriber');
      await third.ack(again);
      await expectOnlySentinel(ctx, third, queue, { text: 'the message is delivered only once' });
    },
  },
  // DELIVERY-022 (SHOULD): When all copies of a FanOutWithAck message ended because their subscribers left, the message
  // becomes waiting again, unless it was evicted or purged.
  {
    id: 'DELIVERY-022b',
    title:
      'does not return an evicted FanOutWithAck message when the subscribers that have its copies disconnect',
    clauses: ['DELIVERY-022', 'DELIVERY-019', 'OVERFLOW-002'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 14, messages: 4 },
    run: async (ctx) => {
      const { publisher, queue, fast, slow, held } = await withFullMember(ctx, {
        ...fanOutWithAck,
        maxQueueSize: 1,
      });
      const [evicted, last] = await publishSeries(ctx, publisher, queue, 2);
      for (const id of [evicted, last]) await fast.delivery({ queue, id: id ?? '' });
      await resetSubscriber(ctx, fast, { witness: publisher, queue, remaining: 1 });
      await slow.ack(held);
      const copy = await slow.delivery({ queue });
      ctx.assert.ok(copy.id === last, 'The other subscriber receives the message that was published last.', {
        expected: last,
        actual: copy.id,
        possibleCauses: ['DELIVERY-018', 'DELIVERY-019'],
      });
      await slow.ack(copy);
      await expectOnlySentinel(ctx, slow, queue, { text: 'the evicted message is not delivered' });
    },
  },
] satisfies readonly Check[];

const withoutAck: CheckModule = [
  // DELIVERY-024 (MUST): In FanOutWithoutAck the broker delivers each message to every subscriber that is subscribed
  // and whose connection is draining.
  {
    id: 'DELIVERY-024a',
    title: 'delivers each message of a FanOutWithoutAck queue to all three subscribers, without acks',
    clauses: ['DELIVERY-024', 'DELIVERY-025', 'DELIVERY-035'],
    profile: 'delivery',
    evidence: { frames: 100, messages: 90 },
    run: async (ctx) => {
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 3, fanOutWithoutAck);
      const ids = await publishSeries(ctx, publisher, queue, 30);
      for (const subscriber of subscribers) {
        await subscriber.delivery({ queue, id: ids.at(-1) ?? '' });
        await subscriber.ping();
        ctx.assert.deepEqual(deliveredIds(subscriber, queue), ids, 'the messages that a subscriber received');
      }
    },
  },
  // DELIVERY-025 (MUST): In FanOutWithoutAck the broker settles a message by sending it, and does not send it again
  // when no ack arrives.
  {
    id: 'DELIVERY-025a',
    title: 'does not deliver a FanOutWithoutAck message again when its subscriber disconnects without an ack',
    clauses: ['DELIVERY-025'],
    profile: 'delivery',
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, fanOutWithoutAck);
      const ids = await publishSeries(ctx, publisher, queue, 2);
      await subscriber.delivery({ queue, id: ids[1] ?? '' });
      await resetSubscriber(ctx, subscriber, { witness: publisher, queue, remaining: 0 });
      const next = await newSubscriber(ctx, queue);
      await expectOnlySentinel(ctx, next, queue, { text: 'the messages are not delivered again' });
    },
  },
  // DELIVERY-026 (MUST): The broker ignores acks for FanOutWithoutAck messages.
  {
    id: 'DELIVERY-026a',
    title: 'ignores acks for FanOutWithoutAck messages, without an answer',
    clauses: ['DELIVERY-026', 'CONN-036'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, fanOutWithoutAck);
      await publishSeries(ctx, publisher, queue, 1);
      const delivery = await subscriber.delivery({ queue });
      await subscriber.ack(delivery);
      await subscriber.ack(delivery, { withQueue: true });
      await subscriber.expectNothingBeforePong(() => true, 'no frame answers the Acks');
      await expectOnlySentinel(ctx, subscriber, queue, { text: 'the next message is delivered' });
    },
  },
  // DELIVERY-048 (MUST): A subscriber that does not read does not delay any other subscriber.
  {
    id: 'DELIVERY-048b',
    title: 'delivers to one subscriber of a FanOutWithoutAck queue while the other does not read',
    clauses: ['DELIVERY-048'],
    profile: 'delivery',
    evidence: { frames: 52, messages: 24 },
    run: async (ctx) => {
      const {
        publisher,
        queue,
        first: notReading,
        second: reader,
      } = await queueWithTwoSubscribers(ctx, fanOutWithoutAck);
      notReading.pauseReading();
      for (let count = 0; count < largeCount(ctx); count += 1) {
        const id = await publishLarge(ctx, publisher, queue);
        await reader.delivery({ queue, id }, { clause: 'DELIVERY-048' });
      }
      ctx.assert.equal(
        deliveredIds(reader, queue).length,
        largeCount(ctx),
        'number of messages that the reading subscriber received',
      );
    },
  },
  // DELIVERY-027 (SHOULD): In FanOutWithoutAck the broker skips a subscriber whose connection is not draining, and
  // sends the message to the others.
  {
    id: 'DELIVERY-027a',
    title: 'does not keep FanOutWithoutAck messages for a subscriber that does not read',
    clauses: ['DELIVERY-027'],
    profile: 'delivery',
    evidence: { frames: 52, messages: 24 },
    run: async (ctx) => {
      const two = await queueWithTwoSubscribers(ctx, fanOutWithoutAck);
      const { publisher, queue, first: notReading, second: reader } = two;
      notReading.pauseReading();
      for (let count = 0; count < largeCount(ctx); count += 1) {
        const id = await publishLarge(ctx, publisher, queue);
        await reader.delivery({ queue, id }, { clause: 'DELIVERY-027' });
      }
      notReading.resumeReading();
      await notReading.ping();
      const receivedCount = deliveredIds(notReading, queue).length;
      ctx.assert.between(
        receivedCount,
        0,
        largeCount(ctx) - 1,
        'number of messages that the other subscriber received',
      );
    },
  },
  // DELIVERY-028 (SHOULD): In FanOutWithoutAck the broker lets a message wait as long as no subscriber has a draining
  // connection.
  {
    id: 'DELIVERY-028a',
    title: 'keeps FanOutWithoutAck messages while their only subscriber does not read',
    clauses: ['DELIVERY-028', 'DELIVERY-024', 'DELIVERY-035'],
    profile: 'delivery',
    evidence: { frames: 50, messages: 24 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, fanOutWithoutAck);
      subscriber.pauseReading();
      const ids: string[] = [];
      while (ids.length < largeCount(ctx)) ids.push(await publishLarge(ctx, publisher, queue));
      subscriber.resumeReading();
      for (const id of ids) await subscriber.delivery({ queue, id });
      ctx.assert.deepEqual(
        deliveredIds(subscriber, queue),
        ids,
        'the messages that the subscriber received when it read again',
      );
    },
  },
  // DELIVERY-028 (SHOULD): In FanOutWithoutAck the broker lets a message wait as long as no subscriber has a draining
  // connection.
  {
    id: 'DELIVERY-028b',
    title:
      'delivers what waited in each of two FanOutWithoutAck queues when their only subscriber reads again',
    clauses: ['DELIVERY-028', 'DELIVERY-024'],
    profile: 'delivery',
    evidence: { frames: 30, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, fanOutWithoutAck);
      const other = await newQueue(ctx, publisher, 'other', fanOutWithoutAck);
      await subscriber.subscribe(other);
      subscriber.pauseReading();
      for (let count = 0; count < largeCount(ctx); count += 1) await publishLarge(ctx, publisher, queue);
      const waiting = await publishSeries(ctx, publisher, other, 2);
      // What waits is due as soon as the subscriber drains; that it waits, and is not dropped, is only recommended.
      const isWaiting = (await messageCountOf(publisher, other)) === waiting.length;
      subscriber.resumeReading();
      const clause = isWaiting ? 'DELIVERY-024' : 'DELIVERY-028';
      for (const id of waiting) await subscriber.delivery({ queue: other, id }, { clause });
      ctx.assert.deepEqual(deliveredIds(subscriber, other), waiting, 'the messages of the other queue');
    },
  },
] satisfies readonly Check[];

const leavingMembers: CheckModule = [
  // QUEUE-025 (MUST): messageCount is the number of waiting messages only.
  {
    id: 'QUEUE-025d',
    title:
      'does not count a FanOutWithAck message as waiting when the subscriber that was owed a copy has left',
    clauses: ['QUEUE-025', 'DELIVERY-018'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 12, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, fast, slow } = await withFullMember(ctx, fanOutWithAck);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const held = await fast.delivery({ queue, id });
      await resetSubscriber(ctx, slow, { witness: publisher, queue, remaining: 1 });
      await waitForInfo(ctx, publisher, queue, { field: 'messageCount', value: 0 });
      await fast.ack(held);
    },
  },
] satisfies readonly Check[];

export const fanOutChecks: CheckModule = [...withAck, ...withoutAck, ...leavingMembers];

type SlowMember = { readonly slow: Connection; readonly queue: string; readonly ids: readonly string[] };

/** Publishes twenty messages to two subscribers, of which one acknowledges all messages and the other none. */
async function withSlowMember(ctx: CheckContext): Promise<SlowMember> {
  const { publisher, queue, first: slow, second: fast } = await queueWithTwoSubscribers(ctx, fanOutWithAck);
  const [ids, taken] = await Promise.all([
    publishSeries(ctx, publisher, queue, 20),
    takeAndAck(fast, queue, 20),
  ]);
  ctx.assert.deepEqual(idsOf(taken), ids, 'the messages that the fast subscriber received');
  const firstCopy = async (): Promise<string | undefined> => {
    await slow.ping();
    return deliveredIds(slow, queue)[0];
  };
  const first = await eventually(ctx, firstCopy, (id) => id !== undefined, {
    text: 'the slow subscriber receives a copy',
    causesOf: () => ['DELIVERY-014'],
  });
  ctx.assert.equal(first, ids[0], 'the first copy that the slow subscriber received');
  return { slow, queue, ids };
}

/** Two subscribers, of which the slow one has maxInFlight 1 and one message in flight. */
export async function withFullMember(ctx: CheckContext, options: Readonly<Record<string, unknown>>) {
  const publisher = await ctx.connect();
  const queue = await newQueue(ctx, publisher, 'full-member', options);
  const fast = await newSubscriber(ctx, queue);
  const slow = await newSubscriber(ctx, queue, { maxInFlight: '1' });
  await publishSeries(ctx, publisher, queue, 1);
  await takeAndAck(fast, queue, 1);
  return { publisher, queue, fast, slow, held: await slow.delivery({ queue }) };
}
