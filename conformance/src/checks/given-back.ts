// Checks of messages that come back to their queue more than once, or when something else happens to it, and of subscriptions that end while
// their queue does not exist: such a message waits, ages and counts like any other. Areas: QUEUE, OVERFLOW,
// DELIVERY, DASH, TTL, LIMIT.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { clockMarginMs, timeSpan } from './expiry.ts';
import { longTimeout } from './negative-acks.ts';
import { publishUntilRefused, smallMemory } from './resource-limits.ts';
import { listMessages, messagePath, remove } from './shared/dashboard-api.ts';
import { noteIfLate } from './shared/lateness.ts';
import {
  eventually,
  infoField,
  messageCountIfShown,
  messageCountOf,
  newQueue,
  waitForDeliveries,
  waitForInfo,
} from './shared/queue-state.ts';
import {
  fanOutWithAck,
  newSubscriber,
  queueWithOneSubscriber,
  queueWithTwoSubscribers,
} from './shared/queue-with-subscribers.ts';
import {
  gapMs,
  type MessageName,
  nextAttempt,
  retryDelayMs,
  shortTimings,
  takeAndLeave,
  waitUntil,
} from './shared/retry-attempts.ts';
import {
  expectOnlySentinel,
  idsOf,
  publishSeries,
  resetSubscriber,
  takeAndAck,
} from './shared/subscribers.ts';

export const givenBackChecks: CheckModule = [
  // QUEUE-025 (MUST): messageCount is the number of waiting messages only.
  {
    id: 'QUEUE-025b',
    title: 'counts a message as waiting that three subscribers in turn have left',
    clauses: ['QUEUE-025', 'DELIVERY-038'],
    profile: 'delivery',
    evidence: { frames: 13, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'left', { maxRetryAttempts: 10 });
      await publishSeries(ctx, client, queue, 1);
      // A broker may count them as failed attempts. Between the second and the third the broker may wait for retryDelay(2), which is shorter than the delay after the third.
      for (let count = 0; count < 3; count += 1) await takeAndLeave(ctx, client, queue, count);
      const until = ctx.now() + Math.min(ctx.timing.lateMs, retryDelayMs(ctx, 3) / 2);
      while ((await messageCountOf(client, queue)) !== 1 && ctx.now() < until)
        await waitUntil(ctx, ctx.now() + 15);
      ctx.assert.equal(await messageCountOf(client, queue), 1, 'number of waiting messages');
    },
  },
  // OVERFLOW-001 (SHOULD): The broker checks for overflow after delivery: it never refuses a Publish that it can
  // deliver immediately to a subscriber with room, in FanOutWithAck to all subscribers.
  {
    id: 'OVERFLOW-001b',
    title:
      'accepts a Publish for a subscriber with room when the only other message has just been left twice',
    clauses: ['OVERFLOW-001'],
    profile: 'delivery',
    evidence: { frames: 13, messages: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const options = { overflowStrategy: 1, maxQueueSize: 1, maxRetryAttempts: 10 };
      const queue = await newQueue(ctx, client, 'left', options);
      await publishSeries(ctx, client, queue, 1);
      await leaveTwice(ctx, client, queue);
      const subscriber = await newSubscriber(ctx, queue);
      // After this the subscriber has the message, unless the broker keeps it waiting for a time (DELIVERY-041).
      await waitForDeliveries(ctx, client, queue);
      const id = ctx.id('new');
      const answer = await client.request({ command: Command.Publish, id, queue, payload: '1' });
      ctx.assert.equal(answer.commandName, 'PublishAck', 'the answer to the Publish');
      const about = { what: 'the new message', clause: 'OVERFLOW-001' };
      for (let delivery: ReceivedFrame | undefined; delivery?.id !== id; ) {
        delivery = await subscriber.delivery({ queue }, about);
        await subscriber.ack(delivery);
      }
    },
  },
  // OVERFLOW-002 (MUST): With DropOldest, the broker evicts the waiting message that was published first from the full
  // queue and adds the new message.
  {
    id: 'OVERFLOW-002c',
    title: 'evicts the message that was published first, also when two subscribers in turn have left it',
    clauses: ['OVERFLOW-002', 'DELIVERY-038'],
    profile: 'delivery',
    evidence: { frames: 14, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'left', { overflowStrategy: 0, maxQueueSize: 2 });
      await publishSeries(ctx, client, queue, 1);
      await leaveTwice(ctx, client, queue);
      const ids = await publishSeries(ctx, client, queue, 2);
      ctx.assert.equal(await messageCountOf(client, queue), 2, 'number of waiting messages');
      await client.subscribe(queue);
      for (const id of ids)
        ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, 1)), [id], 'the next delivered message');
    },
  },
  // DELIVERY-006 (MUST): The broker never loses a message in flight: the message is acknowledged, dead-lettered,
  // discarded by a rule of this specification, deleted with its queue, or becomes waiting again.
  {
    id: 'DELIVERY-006d',
    title: 'delivers a message to another subscriber when the first unsubscribes during its retry delay',
    clauses: ['DELIVERY-006', 'DELIVERY-062'],
    profile: 'retry-dlq',
    prefers: shortTimings,
    waits: true,
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 6 });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await unsubscribeInRetryDelay(ctx, subscriber, { queue, id });
      // Past the instant at which the next attempt was due: it finds no subscriber.
      await waitUntil(ctx, ctx.now() + retryDelayMs(ctx, 3));
      const other = await newSubscriber(ctx, queue);
      const withinMs = gapMs(ctx, 4) + ctx.timing.deliveryMs;
      const about = { withinMs, what: 'the message for the other subscriber', clause: 'DELIVERY-006' };
      const again = await other.delivery({ queue, id }, about);
      ctx.assert.equal(again.id, id, 'the delivered message');
      await other.ack(again);
    },
  },
  // DELIVERY-062 (SHOULD): The broker keeps messages that are in flight at an Unsubscribe in flight until an ack, a
  // negative ack or the ack timeout, and then lets them wait for other subscribers.
  {
    id: 'DELIVERY-062b',
    title:
      'lets a message that was in flight at the Unsubscribe of the only subscriber wait after its ack timeout',
    clauses: ['DELIVERY-062', 'QUEUE-025'],
    profile: 'retry-dlq',
    prefers: shortTimings,
    waits: true,
    accepts: ['the message waits after its ack timeout', 'the message waits immediately'],
    evidence: { frames: 9, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 9 });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const { atMs } = await subscriber.delivery({ queue });
      await subscriber.unsubscribe(queue);
      const until = atMs + gapMs(ctx, 1) + ctx.timing.lateMs;
      while ((await messageCountIfShown(publisher, queue)) !== 1 && ctx.now() < until)
        await waitUntil(ctx, ctx.now() + 15);
      ctx.assert.equal(await messageCountOf(publisher, queue), 1, 'number of waiting messages');
      await publisher.subscribe(queue);
      const what = 'the message for another subscriber';
      await publisher.ack(await publisher.delivery({ queue, id }, { what, clause: 'DELIVERY-006' }));
    },
  },
  // DELIVERY-062 (SHOULD): The broker keeps messages that are in flight at an Unsubscribe in flight until an ack, a
  // negative ack or the ack timeout, and then lets them wait for other subscribers.
  {
    id: 'DELIVERY-062c',
    title:
      'lets a message that was in flight at an Unsubscribe wait for others after a negative acknowledgment',
    clauses: ['DELIVERY-062', 'NACK-003'],
    profile: 'retry-dlq',
    requires: { capabilities: ['nack'] },
    prefers: longTimeout,
    waits: true,
    accepts: ['the message waits after the negative ack', 'the message waits immediately (not applicable)'],
    evidence: { frames: 9, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const { publisher, queue, subscriber: holder } = await queueWithOneSubscriber(ctx);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const held = await holder.delivery({ queue });
      await holder.unsubscribe(queue);
      if ((await messageCountOf(publisher, queue)) !== 0)
        ctx.notApplicable('the broker gives messages in flight back at an Unsubscribe');
      const other = await newSubscriber(ctx, queue);
      await holder.send({ command: Command.Ack, id, headers: { failureReason: 'HandlerException' } });
      const withinMs = retryDelayMs(ctx, 1) + ctx.timing.deliveryMs;
      const about = { withinMs, what: 'the message for the other subscriber', clause: 'DELIVERY-062' };
      const again = await other.delivery({ queue, id }, about);
      const maxMs = ctx.target.ackTimeoutMs - ctx.timing.earlyMs;
      ctx.assert.betweenMs(again.atMs - held.atMs, 0, maxMs, 'time until the message is sent to the other');
      await other.ack(again);
    },
  },
  // DELIVERY-001 (MUST): The broker removes an acknowledged message from its queue, in FanOutWithAck an acknowledged
  // copy, and does not deliver it again.
  {
    id: 'DELIVERY-001c',
    title: 'takes the ack of a message that is in flight at an Unsubscribe and stays so',
    clauses: ['DELIVERY-001', 'DELIVERY-062'],
    profile: 'delivery',
    evidence: { frames: 14, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber: holder } = await queueWithOneSubscriber(ctx);
      const watched = await newQueue(ctx, publisher, 'watched');
      await holder.subscribe(watched);
      await publishSeries(ctx, publisher, queue, 1);
      const held = await holder.delivery({ queue });
      await holder.unsubscribe(queue);
      if ((await messageCountOf(publisher, queue)) !== 0)
        ctx.notApplicable('the broker gives messages in flight back at an Unsubscribe');
      await holder.ack(held);
      await resetSubscriber(ctx, holder, { witness: publisher, queue: watched, remaining: 0 });
      await publisher.subscribe(queue);
      const text = 'the acknowledged message is not delivered again';
      await expectOnlySentinel(ctx, publisher, queue, { text, clause: 'DELIVERY-001' });
    },
  },
  // DELIVERY-021 (SHOULD): When all copies of a FanOutWithAck message have ended, none of them failed and at least one
  // was acknowledged, the broker removes the message.
  {
    id: 'DELIVERY-021b',
    title:
      'removes a FanOutWithAck message when the subscriber leaves that its last copy was not yet sent to',
    clauses: ['DELIVERY-021'],
    profile: 'delivery',
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 12, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, fanOutWithAck);
      const narrow = await newSubscriber(ctx, queue, { maxInFlight: '1' });
      await publishSeries(ctx, publisher, queue, 2);
      await takeAndAck(subscriber, queue, 2);
      await narrow.delivery({ queue });
      await narrow.unsubscribe(queue);
      const look = (): Promise<unknown> => messageCountOf(publisher, queue);
      const text = 'no message waits any more';
      await eventually(ctx, look, (count) => count === 0, { text, clause: 'DELIVERY-021' });
    },
  },
  // DELIVERY-021 (SHOULD): When all copies of a FanOutWithAck message have ended, none of them failed and at least one
  // was acknowledged, the broker removes the message.
  {
    id: 'DELIVERY-021c',
    title: 'does not dead-letter a FanOutWithAck message when a subscriber unsubscribes in its retry delay',
    clauses: ['DELIVERY-021'],
    profile: 'retry-dlq',
    prefers: shortTimings,
    waits: true,
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const letters = ctx.queue('letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const options = { ...fanOutWithAck, ...withLetters, maxRetryAttempts: 6 };
      const { publisher, queue, first, second } = await queueWithTwoSubscribers(ctx, options);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await takeAndAck(first, queue, 1);
      await unsubscribeInRetryDelay(ctx, second, { queue, id });
      await waitUntil(ctx, ctx.now() + retryDelayMs(ctx, 3));
      const count = await messageCountIfShown(publisher, letters);
      ctx.assert.oneOf(count, [0, undefined], 'number of dead letters');
    },
  },
  // DELIVERY-021 (SHOULD): When all copies of a FanOutWithAck message have ended, none of them failed and at least one
  // was acknowledged, the broker removes the message.
  {
    id: 'DELIVERY-021d',
    title: 'removes a FanOutWithAck message that one subscriber acknowledges when the other has disconnected',
    clauses: ['DELIVERY-021', 'DELIVERY-059'],
    profile: 'delivery',
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, first, second } = await queueWithTwoSubscribers(ctx, fanOutWithAck);
      await publishSeries(ctx, publisher, queue, 1);
      await first.delivery({ queue });
      const held = await second.delivery({ queue });
      await resetSubscriber(ctx, first, { witness: publisher, queue, remaining: 1 });
      // In both forms, of which the second is a repeat: the check relies on neither.
      for (const withQueue of [false, true]) await second.ack(held, { withQueue });
      const text = 'the acknowledged message is not delivered again';
      await expectOnlySentinel(ctx, second, queue, { text });
    },
  },
  // DASH-016 (MUST): DELETE /api/queues/{name}/messages/{messageId} removes a waiting message.
  {
    id: 'DASH-016b',
    title: 'removes a waiting message that two subscribers in turn have left',
    clauses: ['DASH-016', 'DELIVERY-038'],
    profile: 'dashboard',
    evidence: { frames: 10, messages: 2, responses: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'left', { maxRetryAttempts: 10 });
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      await leaveTwice(ctx, client, queue);
      await remove(ctx, messagePath(queue, id), 'DASH-016');
      ctx.assert.equal(await messageCountOf(client, queue), 0, 'number of waiting messages');
    },
  },
  // DASH-010 (MUST): Query parameter limit of a list of messages is the maximum number of listed messages, and offset
  // is the number of messages to skip.
  {
    id: 'DASH-010d',
    title: 'skips as many messages as offset says, also beside one that two subscribers in turn have left',
    clauses: ['DASH-010', 'DASH-008'],
    profile: 'dashboard',
    evidence: { frames: 13, messages: 2, responses: 5, assertions: 5 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'left', { maxRetryAttempts: 10 });
      await publishSeries(ctx, client, queue, 1);
      await leaveTwice(ctx, client, queue);
      await publishSeries(ctx, client, queue, 3);
      const all = await listMessages(ctx, queue);
      ctx.assert.equal(all.length, 4, 'number of messages without offset', 'DASH-008');
      // Only their number is judged: the broker may move the message that was left while the lists are read.
      for (const offset of [1, 2, 3, 4]) {
        const listed = await listMessages(ctx, queue, `?offset=${offset}`, 'DASH-010');
        const expected = all.length - offset;
        ctx.assert.ok(listed.length === expected, `the list with offset ${offset} has all other messages`, {
          expected,
          actual: listed.length,
          possibleCauses: ['DASH-008'],
        });
      }
    },
  },
  // TTL-002 (SHOULD): The age of a message starts when the broker accepts it.
  {
    id: 'TTL-002a',
    title: 'counts the age of a message from its acceptance also when its subscriber has left it',
    clauses: ['TTL-002', 'TTL-001', 'DELIVERY-038'],
    profile: 'retry-dlq',
    waits: true,
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      // What is left at four fifths of it would be delivered until nine fifths of it if its age began anew.
      const ttlMs = 3 * ctx.timing.lateMs;
      const queue = await newQueue(ctx, client, 'left', { messageTtl: timeSpan(ttlMs) });
      const holder = await newSubscriber(ctx, queue);
      const sinceMs = ctx.now();
      await publishSeries(ctx, client, queue, 1);
      const acceptedMs = ctx.now();
      await holder.delivery({ queue });
      await waitUntil(ctx, sinceMs + 0.8 * ttlMs);
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      noteIfLate(ctx, { sinceMs, maxMs: ttlMs, step: 'the end of the connection' });
      await waitUntil(ctx, acceptedMs + ttlMs + ctx.timing.lateMs + clockMarginMs);
      await client.subscribe(queue);
      noteIfLate(ctx, { sinceMs, maxMs: 1.8 * ttlMs, step: 'the Subscribe' });
      const [later] = await publishSeries(ctx, client, queue, 1);
      const next = await client.delivery({ queue });
      ctx.assert.ok(next.id === later, 'the expired message is not delivered', {
        expected: later,
        actual: next.id,
        possibleCauses: ['TTL-001'],
      });
      await client.ack(next);
    },
  },
  // TTL-005 (SHOULD): The broker lets a message expire at most 1 s after its messageTtl has passed, whether or not the
  // queue has subscribers.
  {
    id: 'TTL-005d',
    title: 'removes in time a message that is given back after an older one has become too old',
    clauses: ['TTL-005', 'DELIVERY-038'],
    profile: 'retry-dlq',
    waits: true,
    evidence: { frames: 12, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const ttlMs = 1500;
      const queue = await newQueue(ctx, client, 'aging', { messageTtl: timeSpan(ttlMs) });
      // Two, because each may have room for one message only.
      const holders = [await newSubscriber(ctx, queue), await newSubscriber(ctx, queue)];
      const olderAtMs = ctx.now();
      await publishSeries(ctx, client, queue, 1);
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 0 });
      await waitUntil(ctx, olderAtMs + 0.6 * ttlMs);
      const sinceMs = ctx.now();
      await publishSeries(ctx, client, queue, 1);
      const acceptedMs = ctx.now();
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 0 });
      await waitUntil(ctx, olderAtMs + 1.2 * ttlMs);
      for (const holder of holders) await holder.abort();
      await waitForInfo(ctx, client, queue, { field: 'subscriberCount', value: 0 });
      noteIfLate(ctx, { sinceMs, maxMs: ttlMs, step: 'the end of the connections' });
      await waitUntil(ctx, acceptedMs + ttlMs + ctx.timing.lateMs + clockMarginMs);
      const count = await messageCountOf(client, queue);
      ctx.assert.equal(count, 0, 'number of waiting messages when both are too old');
    },
  },
  // LIMIT-013 (SHOULD): The broker answers a Publish by Error MEMORY_LIMIT, when the bytes of all messages that it
  // holds would exceed maxQueuedBytes.
  {
    id: 'LIMIT-013e',
    title: 'counts the bytes of a message once towards maxQueuedBytes that its subscriber has left',
    clauses: ['LIMIT-013', 'DELIVERY-038'],
    ...smallMemory,
    evidence: { frames: 15, messages: 2, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'left');
      const { stored, refusal } = await publishUntilRefused(ctx, client, queue);
      ctx.assert.ok(refusal !== undefined, 'the broker refuses messages', {
        actual: `${stored.length} stored`,
      });
      const holder = await newSubscriber(ctx, queue);
      await holder.delivery({ queue });
      await holder.abort();
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: stored.length });
      await client.subscribe(queue);
      await takeAndAck(client, queue, stored.length);
      await client.ping();
      const again = await publishUntilRefused(ctx, client, await newQueue(ctx, client, 'next'));
      const what = 'number of messages that fit when the others have been acknowledged';
      ctx.assert.equal(again.stored.length, stored.length, what);
    },
  },
  // QUEUE-026 (MUST): subscriberCount is the number of subscriptions to the queue, including those that QUEUE-016
  // keeps.
  {
    id: 'QUEUE-026b',
    title: 'counts no subscription that ended while its queue was deleted',
    clauses: ['QUEUE-026'],
    profile: 'core',
    evidence: { frames: 12, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const [queue, watched] = [await newQueue(ctx, client, 'gone'), await newQueue(ctx, client, 'watched')];
      const leavers = [await newSubscriber(ctx, queue), await newSubscriber(ctx, queue)] as const;
      await leavers[1].subscribe(watched);
      await waitForInfo(ctx, client, queue, { field: 'subscriberCount', value: leavers.length });
      await client.deleteQueue(queue);
      await leavers[0].request({ command: Command.Unsubscribe, id: ctx.id(), queue });
      await leavers[1].abort();
      await waitForInfo(ctx, client, watched, { field: 'subscriberCount', value: 0 });
      await client.createQueue(queue);
      ctx.assert.equal(await infoField(client, queue, 'subscriberCount'), 0, 'number of subscriptions');
    },
  },
] satisfies readonly Check[];

/** Two subscribers in turn receive the message that waits alone in the queue and leave it. Then it waits again. */
async function leaveTwice(ctx: CheckContext, client: Connection, queue: string): Promise<void> {
  for (let count = 0; count < 2; count += 1) {
    await takeAndLeave(ctx, client, queue, count);
    await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 1 });
  }
}

/** In the middle of the delay after the third attempt, which is not acknowledged. */
async function unsubscribeInRetryDelay(
  ctx: CheckContext,
  subscriber: Connection,
  message: MessageName,
): Promise<void> {
  let { atMs } = await subscriber.delivery(message);
  for (const attempt of [1, 2]) ({ atMs } = await nextAttempt(ctx, subscriber, message, attempt));
  const [sinceMs, maxMs] = [atMs + ctx.target.ackTimeoutMs, retryDelayMs(ctx, 3)];
  await waitUntil(ctx, sinceMs + maxMs / 2);
  await subscriber.unsubscribe(message.queue);
  noteIfLate(ctx, { sinceMs, maxMs, step: 'the Unsubscribe' });
}
