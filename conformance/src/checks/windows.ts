// Checks of the window of a subscription with header maxInFlight: which Subscribe sets it, and that each message that ends gives its own place
// back. They run when the target declares capability maxInFlight. Area: DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { withFullMember } from './fan-out.ts';
import { noteIfLate } from './shared/lateness.ts';
import { infoField, messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import {
  ackByReceiver,
  deliveredIds,
  fanOutWithAck,
  fanOutWithoutAck,
  newSubscriber,
  priorityBased,
  receiverOf,
} from './shared/queue-with-subscribers.ts';
import {
  gapMs,
  longerAckTimeout,
  type MessageName,
  nextAttempt,
  shortTimings,
  waitUntil,
} from './shared/retry-attempts.ts';
import { publishSeries, takeAndAck } from './shared/subscribers.ts';

const withWindow = { profile: 'delivery', requires: { capabilities: ['maxInFlight'] } } as const;
const onePlace = { maxInFlight: '1' } as const;

export const windowChecks: CheckModule = [
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046b',
    title: 'uses maxInFlight of the Subscribe that follows an Unsubscribe, not that of the first',
    clauses: ['DELIVERY-046'],
    ...withWindow,
    evidence: { frames: 18, messages: 7, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'again');
      await client.subscribe(queue, { headers: onePlace });
      await publishSeries(ctx, client, queue, 1);
      await takeAndAck(client, queue, 1);
      await client.unsubscribe(queue);
      await publishSeries(ctx, client, queue, 6);
      await client.subscribe(queue, { headers: { maxInFlight: '3' } });
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 3 });
      await takeAndAck(client, queue, 6);
    },
  },
  // DELIVERY-064 (SHOULD): The broker answers a second Subscribe to the same queue on one connection by SubscribeAck
  // and changes nothing.
  {
    id: 'DELIVERY-064b',
    title: 'keeps the window of a subscription at a second Subscribe with another maxInFlight',
    clauses: ['DELIVERY-064'],
    ...withWindow,
    evidence: { frames: 18, messages: 6, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'twice');
      await publishSeries(ctx, client, queue, 6);
      await client.subscribe(queue, { headers: onePlace });
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 5 });
      await client.subscribe(queue, { headers: { maxInFlight: '3' } });
      await client.ping();
      ctx.assert.equal(await messageCountOf(client, queue), 5, 'number of waiting messages');
      await takeAndAck(client, queue, 6);
    },
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046c',
    title: 'gives the only place of a window to the next message when the last attempt of one has failed',
    clauses: ['DELIVERY-046', 'RETRY-007'],
    ...withWindow,
    profile: 'retry-dlq',
    prefers: shortTimings,
    waits: true,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'given-up', { maxRetryAttempts: 1 });
      const subscriber = await newSubscriber(ctx, queue, onePlace);
      const [, second = ''] = await publishSeries(ctx, publisher, queue, 2);
      await subscriber.delivery({ queue });
      const withinMs = ctx.target.ackTimeoutMs + ctx.timing.deliveryMs;
      const about = { withinMs, what: 'the next message', clause: 'DELIVERY-046' };
      const next = await subscriber.delivery({ queue }, about);
      ctx.assert.equal(next.id, second, 'the next delivery');
      await subscriber.ack(next);
    },
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046d',
    title: 'gives the only place of a window to the next message when the subscriber refuses one for good',
    clauses: ['DELIVERY-046', 'NACK-005'],
    profile: 'retry-dlq',
    requires: { capabilities: ['maxInFlight', 'nack'] },
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'refused');
      const subscriber = await newSubscriber(ctx, queue, onePlace);
      const [, second = ''] = await publishSeries(ctx, publisher, queue, 2);
      const { id } = await subscriber.delivery({ queue });
      const failureReason = 'DeserializationError';
      await subscriber.send({ command: Command.Ack, id, headers: { failureReason } });
      const next = await subscriber.delivery({ queue }, { what: 'the next message', clause: 'DELIVERY-046' });
      ctx.assert.equal(next.id, second, 'the next delivery');
      await subscriber.ack(next);
    },
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046e',
    title: 'keeps the size of a window that a Subscribe fixed after acks were missing',
    clauses: ['DELIVERY-046', 'RETRY-007'],
    ...withWindow,
    profile: 'retry-dlq',
    prefers: longerAckTimeout,
    waits: true,
    evidence: { frames: 14, messages: 8, assertions: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'timed-out', { maxRetryAttempts: 1 });
      const subscriber = await newSubscriber(ctx, queue, { maxInFlight: '3' });
      await publishSeries(ctx, publisher, queue, 8);
      for (let count = 0; count < 3; count += 1) await subscriber.delivery({ queue });
      const withinMs = ctx.target.ackTimeoutMs + ctx.timing.lateMs + ctx.timing.deliveryMs;
      const about = { withinMs, what: 'a message for each that was given up', clause: 'DELIVERY-046' };
      const next = [];
      for (let count = 0; count < 3; count += 1) next.push(await subscriber.delivery({ queue }, about));
      const [first, , third] = next;
      const tookMs = (third?.atMs ?? 0) - (first?.atMs ?? 0);
      // In a smaller window the last one comes when the ack of the first one is missing too.
      const maxMs = 0.8 * ctx.target.ackTimeoutMs;
      ctx.assert.betweenMs(tookMs, 0, maxMs, 'time in which the window is full again');
      for (const delivery of next) await subscriber.ack(delivery);
      await takeAndAck(subscriber, queue, 2);
    },
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046f',
    title: 'gives the only place of a window back when the queue of its message is deleted and created again',
    clauses: ['DELIVERY-046', 'QUEUE-016'],
    ...withWindow,
    accepts: ['the next message is delivered', 'the subscription ends with the queue (not applicable)'],
    evidence: { frames: 14, messages: 4 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'deleted');
      const subscriber = await newSubscriber(ctx, queue, onePlace);
      await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await publisher.deleteQueue(queue);
      await publisher.createQueue(queue);
      if ((await infoField(publisher, queue, 'subscriberCount')) === 0)
        ctx.notApplicable('the subscription ends with the queue');
      const [id = ''] = await publishSeries(ctx, publisher, queue, 3);
      const about = { what: 'the first message of the new queue', clause: 'DELIVERY-046' };
      const first = await subscriber.delivery({ queue, id }, about);
      await waitForInfo(ctx, publisher, queue, { field: 'messageCount', value: 2 });
      await subscriber.ack(first);
      await takeAndAck(subscriber, queue, 2);
    },
  },
  // DELIVERY-017 (SHOULD): In FanOutWithAck the broker sends a copy to a subscriber without room as soon as the
  // subscriber has room.
  {
    id: 'DELIVERY-017b',
    title:
      'sends the next copy of a FanOutWithAck queue when the copy in the only place of a window has failed',
    clauses: ['DELIVERY-017', 'RETRY-007'],
    ...withWindow,
    profile: 'retry-dlq',
    prefers: shortTimings,
    waits: true,
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'copies', { ...fanOutWithAck, maxRetryAttempts: 1 });
      const slow = await newSubscriber(ctx, queue, onePlace);
      const fast = await newSubscriber(ctx, queue);
      const [, second = ''] = await publishSeries(ctx, publisher, queue, 2);
      await takeAndAck(fast, queue, 2);
      await slow.delivery({ queue });
      const withinMs = ctx.target.ackTimeoutMs + ctx.timing.lateMs + ctx.timing.deliveryMs;
      const about = { withinMs, what: 'the copy of the next message', clause: 'DELIVERY-017' };
      await slow.ack(await slow.delivery({ queue, id: second }, about));
    },
  },
  // DELIVERY-024 (MUST): In FanOutWithoutAck the broker delivers each message to every subscriber that is subscribed
  // and whose connection is draining.
  {
    id: 'DELIVERY-024d',
    title: 'delivers FanOutWithoutAck messages without acks to a subscriber with header maxInFlight',
    clauses: ['DELIVERY-024', 'DELIVERY-025', 'DELIVERY-046'],
    ...withWindow,
    evidence: { frames: 12, messages: 5, assertions: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'without-acks', fanOutWithoutAck);
      const subscriber = await newSubscriber(ctx, queue, onePlace);
      const ids = await publishSeries(ctx, publisher, queue, 5);
      for (const id of ids) {
        const about = { what: 'each message, of which none is acknowledged', clause: 'DELIVERY-024' };
        await subscriber.delivery({ queue, id }, about);
      }
      ctx.assert.deepEqual(deliveredIds(subscriber, queue), ids, 'the messages that the subscriber received');
    },
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046k',
    title: 'gives no place of a subscription back for the ack of a message of the one before it',
    clauses: ['DELIVERY-046', 'DELIVERY-062'],
    ...withWindow,
    evidence: { frames: 12, messages: 3, assertions: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'before');
      const subscriber = await newSubscriber(ctx, queue, onePlace);
      await publishSeries(ctx, publisher, queue, 1);
      const held = await subscriber.delivery({ queue });
      await subscriber.unsubscribe(queue);
      if ((await messageCountOf(publisher, queue)) !== 0)
        ctx.notApplicable('the broker gives messages in flight back at an Unsubscribe');
      await subscriber.subscribe(queue, { headers: onePlace });
      const [first = '', second = ''] = await publishSeries(ctx, publisher, queue, 2);
      await subscriber.ack(held);
      const next = await subscriber.delivery({ queue, id: first });
      const text = 'the second message comes only after the ack of the first';
      await subscriber.expectNothingBeforePong({ command: 'Deliver', id: second }, text);
      await subscriber.ack(next);
      await takeAndAck(subscriber, queue, 1);
    },
  },
  // DELIVERY-046 (MUST): A broker that announces maxInFlight uses the number in header maxInFlight of a Subscribe, from
  // 1 to maxInFlightPerSubscriber, as the fixed window of that subscription.
  {
    id: 'DELIVERY-046l',
    title:
      'gives the only place of a window back when the next attempt of its message goes to another subscriber',
    clauses: ['DELIVERY-046', 'RETRY-015', 'RETRY-011'],
    ...withWindow,
    profile: 'retry-dlq',
    prefers: shortTimings,
    waits: true,
    accepts: ['both subscribers have room', 'no attempt goes to another subscriber (not applicable)'],
    evidence: { frames: 38, messages: 8, assertions: 2 },
    run: async (ctx) => {
      for (const [name, mode] of Object.entries({ RoundRobin: {}, PriorityBased: priorityBased })) {
        const publisher = await ctx.connect();
        const queue = await newQueue(ctx, publisher, name, { ...mode, maxRetryAttempts: 9 });
        const first = await newSubscriber(ctx, queue, onePlace);
        const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
        const { atMs } = await first.delivery({ queue, id });
        const both = [first, await newSubscriber(ctx, queue, onePlace)] as const;
        noteIfLate(ctx, { sinceMs: atMs, maxMs: ctx.target.ackTimeoutMs, step: 'the second Subscribe' });
        await acknowledgeRetry(ctx, both, { queue, id });
        const publishedAtMs = ctx.now();
        const ids = await publishSeries(ctx, publisher, queue, 2);
        const receivers = [];
        for (const one of ids) receivers.push(await receiverOf(ctx, both, one));
        noteIfLate(ctx, {
          sinceMs: publishedAtMs,
          maxMs: ctx.target.ackTimeoutMs,
          step: 'the delivery to both',
        });
        const text = `number of subscribers of the ${name} queue that have one of the two messages`;
        ctx.assert.equal(new Set(receivers).size, 2, text);
        for (const one of ids) await ackByReceiver(ctx, both, one);
      }
    },
  },
  // RETRY-003 (SHOULD): Attempt n+1 is due ackTimeout + retryDelay(n) after attempt n, where retryDelay(n) =
  // min(retryDelay * 2^(n-1), maxRetryDelay).
  {
    id: 'RETRY-003c',
    title:
      'counts the ack timeout of a FanOutWithAck copy from its own sending, when its subscriber had no room before',
    clauses: ['RETRY-003', 'RETRY-013', 'DELIVERY-017'],
    ...withWindow,
    profile: 'retry-dlq',
    prefers: shortTimings,
    waits: true,
    evidence: { frames: 12, messages: 5, assertions: 1 },
    run: async (ctx) => {
      const { publisher, queue, fast, slow, held } = await withFullMember(ctx, fanOutWithAck);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await takeAndAck(fast, queue, 1);
      await waitUntil(ctx, ctx.now() + ctx.target.ackTimeoutMs / 3);
      const roomAtMs = ctx.now();
      await slow.ack(held);
      await slow.delivery({ queue, id }, { what: 'the copy that waited for room', clause: 'DELIVERY-017' });
      // After its ack timeout the message before it may have left its place earlier.
      noteIfLate(ctx, {
        sinceMs: held.atMs,
        maxMs: 0.8 * ctx.target.ackTimeoutMs,
        step: 'the ack that makes room',
      });
      const again = await nextAttempt(ctx, slow, { queue, id });
      const minMs = gapMs(ctx, 1) - ctx.timing.earlyMs;
      ctx.assert.ok(again.atMs - roomAtMs >= minMs, 'the second attempt of the copy is not made early', {
        expected: `${minMs} ms or more after the ack that made room for the first`,
        actual: `${Math.round(again.atMs - roomAtMs)} ms`,
      });
      await slow.ack(again);
    },
  },
] satisfies readonly Check[];

/** Waits for the second attempt of a message, and acknowledges it. Not applicable if it is made to the first subscriber again. */
async function acknowledgeRetry(
  ctx: CheckContext,
  [first, other]: readonly [Connection, Connection],
  { queue, id }: MessageName,
): Promise<void> {
  const until = ctx.now() + gapMs(ctx, 1) + ctx.timing.deliveryMs;
  const isBack = (): boolean => deliveredIds(first, queue).length > 1;
  while (!isBack() && !deliveredIds(other, queue).includes(id) && ctx.now() < until)
    await waitUntil(ctx, ctx.now() + 15);
  if (isBack()) ctx.notApplicable('the next attempt goes to the same subscriber');
  await other.ack(await other.delivery({ queue, id }, { what: 'the second attempt', clause: 'RETRY-001' }));
  await other.ping();
}
