// Checks of retries: the times, the number and the receivers of attempts, and acks during the retry delay. The earliest allowed time
// counts from the sending of the Publish, because no attempt can be made before it. Areas: RETRY, DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { noteIfLate } from './shared/lateness.ts';
import { messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import {
  deliveredIds,
  fanOutWithAck,
  newSubscriber,
  priorityBased,
  queueWithOneSubscriber,
  queueWithSubscribers,
  queueWithTwoSubscribers,
  receiverOf,
} from './shared/queue-with-subscribers.ts';
import {
  acknowledgedInPause,
  acknowledgedInTime,
  delayAfterInterruptions,
  expectNotRedelivered,
  gapMs,
  nextAttempt,
  retryDelayMs,
  shortTimings,
  subscribeToDeadLetters,
  takeDeadLetter,
  waitUntil,
} from './shared/retry-attempts.ts';
import { measureSteadily } from './shared/steady-measure.ts';
import { expectOnlySentinel, publishSeries } from './shared/subscribers.ts';

const waits = { profile: 'retry-dlq', prefers: shortTimings, waits: true } as const;

const schedule: CheckModule = [
  // RETRY-001 (MUST): When no ack arrives within ackTimeout after an attempt, the broker sends the message again, as
  // long as RETRY-007 allows it.
  {
    id: 'RETRY-001a',
    title: 'sends a message again until it is acknowledged',
    clauses: ['RETRY-001', 'RETRY-015', 'DELIVERY-055', 'DELIVERY-001'],
    ...waits,
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const { queue, subscriber, first, again } = await acknowledgedInTime(ctx, async (number) => {
        const ownQueue = await newQueue(ctx, publisher, `again-${number}`);
        const receiver = await newSubscriber(ctx, ownQueue);
        const delivery = await expectImmediate(ctx, publisher, receiver, ownQueue);
        const second = await nextAttempt(ctx, receiver, { queue: ownQueue, id: delivery.id });
        return { queue: ownQueue, subscriber: receiver, first: delivery, again: second };
      });
      ctx.assert.sameJson(again.payload, first.payload, 'the payload of the second attempt');
      const attempts = again.header('deliveryAttempts');
      ctx.should(attempts === '2', 'DELIVERY-055', 'header deliveryAttempts is 2', { actual: attempts });
      await expectNotRedelivered(ctx, subscriber, queue, {
        text: 'the acknowledged message is not delivered again',
        clause: 'DELIVERY-001',
      });
    },
  },
  // RETRY-002 (MUST): Until maxRetryDelay caps it, the gap between attempts n and n+1 is c + d * 2^(n-1) with constants
  // c >= 0 and d > 0.
  {
    id: 'RETRY-002a',
    title: 'makes five attempts with gaps of c + d * 2^(n-1)',
    clauses: ['RETRY-002', 'RETRY-003'],
    ...waits,
    accepts: [
      'attempt n+1 is made ackTimeout + retryDelay(n) after attempt n, at most 10 ms early and 1 s late',
      'the gaps are c + d * 2^(n-1) with another c or d, with a warning',
    ],
    evidence: { frames: 9, messages: 5, assertions: 6 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 6 });
      const measure = async (): Promise<readonly number[]> => {
        const sentAt = ctx.now();
        const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
        const instants = [(await subscriber.delivery({ queue })).atMs];
        for (const n of [1, 2, 3, 4]) {
          instants.push((await nextAttempt(ctx, subscriber, { queue, id }, n)).atMs);
        }
        await subscriber.ack({ id, queue });
        return [sentAt, ...instants];
      };
      // So little lateness does not hide attempts that are noticeably early. Between the attempts it changes nothing.
      const maxDelayMs = ctx.target.ackTimeoutMs / 10;
      const moments = (times: readonly number[]): readonly number[] => times;
      const [sentAt = 0, ...instants] = await measureSteadily(ctx, maxDelayMs, measure, { moments });
      judgeSchedule(ctx, scheduleOf(ctx, sentAt, instants));
    },
  },
  // RETRY-004 (SHOULD): retryDelay(n) never exceeds maxRetryDelay.
  {
    id: 'RETRY-004a',
    title: 'limits the delay between attempts to maxRetryDelay',
    clauses: ['RETRY-004', 'RETRY-013'],
    profile: 'retry-dlq',
    requires: {
      configuration: { timing: { ackTimeoutMs: 500, retryDelayMs: 800, maxRetryDelayMs: 800 } },
    },
    waits: true,
    evidence: { frames: 8, messages: 4, assertions: 5 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 5 });
      const sentAt = ctx.now();
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await nextAttempt(ctx, subscriber, { queue, id });
      const third = await nextAttempt(ctx, subscriber, { queue, id });
      const fourth = await nextAttempt(ctx, subscriber, { queue, id }, 3);
      const gap = gapMs(ctx, 1);
      const whole = fourth.atMs - sentAt;
      const minMs = 3 * (gap - ctx.timing.earlyMs);
      ctx.assert.ok(whole >= minMs, 'the fourth attempt is not made early', {
        expected: `the fourth attempt after ${minMs} ms or later`,
        actual: `the attempt was made after ${Math.round(whole)} ms`,
        clause: 'RETRY-013',
      });
      ctx.assert.betweenMs(
        fourth.atMs - third.atMs,
        0,
        gap + ctx.timing.lateMs,
        'time from the third to the fourth attempt',
      );
      await subscriber.ack(fourth);
    },
  },
  // RETRY-007 (MUST): When maxRetryAttempts attempts of a message, in FanOutWithAck of a copy, have failed, the broker
  // does not send it again.
  {
    id: 'RETRY-007a',
    title: 'makes maxRetryAttempts attempts and then moves the message to the dead letter queue',
    clauses: ['RETRY-007', 'RETRY-008'],
    ...waits,
    evidence: { frames: 13, messages: 4 },
    run: async (ctx) => {
      const deadLetterQueue = ctx.queue('letters');
      const deadLetterOptions = { enableDeadLetterQueue: true, deadLetterQueueName: deadLetterQueue };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, {
        maxRetryAttempts: 2,
        ...deadLetterOptions,
      });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await nextAttempt(ctx, subscriber, { queue, id });
      const reader = await subscribeToDeadLetters(ctx, deadLetterQueue, ctx.target.ackTimeoutMs);
      await reader.ack(await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id }, 0, 'RETRY-008'));
      await expectOnlySentinel(ctx, subscriber, queue, { text: 'there is no third attempt' });
      const made = deliveredIds(subscriber, queue).filter((one) => one === id);
      ctx.assert.equal(made.length, 2, 'number of attempts');
    },
  },
  // RETRY-009 (SHOULD): After its last failed attempt, the broker discards a message of a queue without dead letter
  // queue.
  {
    id: 'RETRY-009a',
    title: 'discards a message after its last attempt when there is no dead letter queue',
    clauses: ['RETRY-009', 'RETRY-007', 'DELIVERY-006'],
    ...waits,
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 1 });
      await publishSeries(ctx, publisher, queue, 1);
      const { atMs } = await subscriber.delivery({ queue });
      await waitUntil(ctx, atMs + ctx.target.ackTimeoutMs + ctx.timing.lateMs);
      ctx.assert.equal(deliveredIds(subscriber, queue).length, 1, 'number of attempts', 'RETRY-007');
      ctx.assert.equal(await messageCountOf(publisher, queue), 0, 'number of waiting messages');
      await expectNotRedelivered(ctx, subscriber, queue, {
        text: 'the discarded message is not delivered again',
      });
    },
  },
] satisfies readonly Check[];

const receivers: CheckModule = [
  // RETRY-011 (SHOULD): In RoundRobin and PriorityBased, the broker sends a retry to another subscriber than the
  // attempt before, if another one has room.
  {
    id: 'RETRY-011a',
    title: 'makes the next attempt of a RoundRobin message to another subscriber',
    clauses: ['RETRY-011'],
    ...waits,
    evidence: { frames: 9, messages: 2 },
    run: (ctx) => expectOtherReceiver(ctx, {}),
  },
  // RETRY-011 (SHOULD): In RoundRobin and PriorityBased, the broker sends a retry to another subscriber than the
  // attempt before, if another one has room.
  {
    id: 'RETRY-011b',
    title: 'makes the next attempt of a PriorityBased message to another subscriber',
    clauses: ['RETRY-011'],
    ...waits,
    evidence: { frames: 9, messages: 2 },
    run: (ctx) => expectOtherReceiver(ctx, priorityBased),
  },
  // DELIVERY-016 (MUST): In FanOutWithAck the broker settles by an ack only the copy of the subscriber that sent it.
  {
    id: 'DELIVERY-016a',
    title: 'sends a FanOutWithAck message again only to the subscriber that did not acknowledge it',
    clauses: ['DELIVERY-016', 'RETRY-012'],
    ...waits,
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, first, second } = await queueWithTwoSubscribers(ctx, fanOutWithAck);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await first.ack(await first.delivery({ queue }));
      await second.delivery({ queue });
      await second.ack(await nextAttempt(ctx, second, { queue, id }));
      await first.ping();
      const copies = deliveredIds(first, queue).length;
      ctx.should(
        copies === 1,
        'RETRY-012',
        'the subscriber that acknowledged the message receives no second copy',
      );
    },
  },
  // DELIVERY-056 (MUST): In FanOutWithAck the broker accepts an ack only from the connection to which it delivered the
  // copy.
  {
    id: 'DELIVERY-056a',
    title: 'accepts an ack of a FanOutWithAck message only from the connection that received the copy',
    clauses: ['DELIVERY-056', 'DELIVERY-016', 'DELIVERY-059'],
    ...waits,
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, first, second } = await queueWithTwoSubscribers(ctx, fanOutWithAck);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const copy = await first.delivery({ queue });
      await second.delivery({ queue });
      for (const connection of [first, first, publisher]) {
        await connection.ack(copy, { withQueue: true });
        await connection.ping();
      }
      const again = await nextAttempt(ctx, second, { queue, id });
      ctx.assert.equal(again.id, id, 'the second attempt of the unacknowledged copy');
      await second.ack(again);
    },
  },
  // DELIVERY-060 (SHOULD): After a message was sent on another connection, the broker ignores an ack of the earlier
  // receiver.
  {
    id: 'DELIVERY-060a',
    title: 'ignores the ack of the earlier receiver when a message was sent again to another',
    clauses: ['DELIVERY-060', 'DELIVERY-062', 'DELIVERY-038'],
    ...waits,
    evidence: { frames: 12, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, subscriber: earlier } = await queueWithOneSubscriber(ctx);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const held = await earlier.delivery({ queue });
      const later = await newSubscriber(ctx, queue);
      await earlier.unsubscribe(queue);
      const { atMs } = await nextAttempt(ctx, later, { queue, id });
      await earlier.ack(held);
      await earlier.ping();
      // During a retry delay, the ack would be ignored for another reason.
      noteIfLate(ctx, {
        sinceMs: atMs,
        maxMs: ctx.target.ackTimeoutMs,
        step: 'the ack of the earlier receiver',
      });
      await later.abort();
      await waitForInfo(ctx, publisher, queue, { field: 'subscriberCount', value: 0 });
      await publisher.subscribe(queue);
      const again = await nextAttempt(ctx, publisher, { queue, id });
      ctx.assert.equal(again.id, id, 'the next attempt of the unacknowledged message');
      await publisher.ack(again);
    },
  },
  // DELIVERY-062 (SHOULD): The broker keeps messages that are in flight at an Unsubscribe in flight until an ack, a
  // negative ack or the ack timeout, and then lets them wait for other subscribers.
  {
    id: 'DELIVERY-062a',
    title:
      'delivers a message in flight at an Unsubscribe to another subscriber, at its ack timeout at the latest',
    clauses: ['DELIVERY-062', 'DELIVERY-006'],
    ...waits,
    accepts: ['the message waits again after its ack timeout', 'the message waits again immediately'],
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber: holder } = await queueWithOneSubscriber(ctx);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const { atMs } = await holder.delivery({ queue });
      const other = await newSubscriber(ctx, queue);
      await holder.unsubscribe(queue);
      // A retry that was due before would go to the other subscriber.
      noteIfLate(ctx, { sinceMs: atMs, maxMs: ctx.target.ackTimeoutMs, step: 'the Unsubscribe' });
      const again = await nextAttempt(ctx, other, { queue, id });
      const maxMs = ctx.target.ackTimeoutMs + ctx.timing.lateMs;
      ctx.assert.betweenMs(
        again.atMs - atMs,
        0,
        maxMs,
        'time from the first delivery to the delivery to the other subscriber',
      );
      await other.ack(again);
    },
  },
] satisfies readonly Check[];

const retryDelays: CheckModule = [
  // DELIVERY-004 (SHOULD): The broker counts a message towards the window of its subscriber also during the pause
  // before the next attempt.
  {
    id: 'DELIVERY-004a',
    title: 'keeps a message in the window during its retry delay, and sends no other message in its place',
    clauses: ['DELIVERY-004', 'DELIVERY-009'],
    ...waits,
    requires: { capabilities: ['maxInFlight'] },
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'one-place');
      const subscriber = await newSubscriber(ctx, queue, { maxInFlight: '1' });
      // Not from the first delivery on, which a busy runner may read late: what came when it was due would seem to have come before.
      const publishedAtMs = ctx.now();
      const [first, second] = await publishSeries(ctx, publisher, queue, 2);
      await subscriber.delivery({ queue });
      const next = await subscriber.delivery(
        { queue },
        { withinMs: gapMs(ctx, 1) + ctx.timing.deliveryMs, what: 'the second attempt' },
      );
      const isDue = next.atMs - publishedAtMs >= gapMs(ctx, 1) - ctx.timing.earlyMs;
      ctx.assert.equal(next.id, first, 'the next delivery', isDue ? 'DELIVERY-009' : 'DELIVERY-004');
      await subscriber.ack(next);
      const last = await subscriber.delivery({ queue });
      ctx.assert.equal(last.id, second, 'the delivery after the ack');
      await subscriber.ack(last);
    },
  },
  // DELIVERY-007 (SHOULD): The broker settles a delivery by an ack that arrives during the pause before the next
  // attempt.
  {
    id: 'DELIVERY-007a',
    title: 'settles a message when its ack arrives during the retry delay',
    clauses: ['DELIVERY-007', 'DELIVERY-001'],
    ...waits,
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const { queue, subscriber } = await acknowledgedInPause(ctx);
      await expectNotRedelivered(ctx, subscriber, queue, {
        text: 'the acknowledged message is not delivered again',
      });
    },
  },
  // DELIVERY-041 (MAY): When the delivery of a message is interrupted for the k-th time in a row, and k is at least 2,
  // the broker keeps the message waiting and does not offer it again before retryDelay(k) has passed.
  {
    id: 'DELIVERY-041a',
    title: 'delays a message by retryDelay(2) after its delivery was interrupted twice in a row',
    clauses: ['DELIVERY-041'],
    ...waits,
    evidence: { frames: 12, messages: 3 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const minMs = retryDelayMs(ctx, 2) - ctx.timing.earlyMs;
      const delayMs = await measureSteadily(ctx, minMs / 3, (number) =>
        delayAfterInterruptions(ctx, publisher, `left-twice-${number}`),
      );
      ctx.assert.ok(delayMs >= minMs, 'the message is not delivered again before retryDelay(2)', {
        expected: `${minMs} ms or later`,
        actual: `it was delivered after ${Math.round(delayMs)} ms`,
      });
    },
  },
  // QUEUE-017 (SHOULD): After a queue is deleted, the broker does not deliver its messages in flight again.
  {
    id: 'QUEUE-017b',
    title: 'makes no further attempt of a message whose queue was deleted and created again',
    clauses: ['QUEUE-017'],
    ...waits,
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx);
      const [old] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await publisher.deleteQueue(queue);
      await publisher.createQueue(queue);
      await subscriber.subscribe(queue);
      // The second attempt of a later message is the sentinel. The next attempt of the old message would be due before it.
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue, id });
      await subscriber.ack(await nextAttempt(ctx, subscriber, { queue, id }));
      ctx.assert.deepEqual(deliveredIds(subscriber, queue), [old, id, id], 'the deliveries from the queue');
    },
  },
] satisfies readonly Check[];

export const retryChecks: CheckModule = [...schedule, ...receivers, ...retryDelays];

type Schedule = { readonly isOnTime: boolean; readonly growth: number; readonly gaps: readonly number[] };

/**
 * The gaps between five attempts. `growth` is (gap 4 - gap 2) / (gap 3 - gap 1): 2 when d * 2^(n-1) doubles, 1 when the gaps increase by a
 * constant, 3 when the increase triples.
 */
function scheduleOf(ctx: CheckContext, sentAt: number, instants: readonly number[]): Schedule {
  const gaps = instants.slice(1).map((instant, index) => instant - (instants[index] ?? 0));
  const [first = 0, second = 0, third = 0, fourth = 0] = gaps;
  const growth = (fourth - second) / (third - first);
  return { isOnTime: isOnTime(ctx, sentAt, instants), growth, gaps: gaps.map(Math.round) };
}

function isDoubling({ growth, gaps: [first = 0, second = 0] }: Schedule): boolean {
  return second > first && growth > 1.5 && growth < 2.5;
}

function judgeSchedule(ctx: CheckContext, schedule: Schedule): void {
  ctx.acceptable<Schedule>(
    schedule,
    [
      {
        title: 'ackTimeout + retryDelay(n) after attempt n',
        when: (seen) => seen.isOnTime,
      },
      {
        title: 'c + d * 2^(n-1) with another c or d, or attempts early or late',
        when: isDoubling,
        difference: { clause: 'RETRY-003', text: 'the gaps are not ackTimeout + retryDelay(n)' },
      },
    ],
    'the gaps between the attempts',
  );
}

function isOnTime(ctx: CheckContext, sentAt: number, instants: readonly number[]): boolean {
  const { earlyMs, lateMs } = ctx.timing;
  let dueAt = sentAt;
  return instants.slice(1).every((instant, index) => {
    const gap = gapMs(ctx, index + 1);
    dueAt += gap - earlyMs;
    return instant >= dueAt && instant - (instants[index] ?? 0) <= gap + lateMs;
  });
}

/** Publishes one message to two subscribers and asserts that the second attempt is made to the other subscriber. */
async function expectOtherReceiver(
  ctx: CheckContext,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 2, {
    maxRetryAttempts: 3,
    ...options,
  });
  const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
  const holder = await receiverOf(ctx, subscribers, id);
  const other = subscribers.find((subscriber) => subscriber !== holder) ?? holder;
  const again = await nextAttempt(ctx, other, { queue, id });
  ctx.assert.notEqual(other.name, holder.name, 'the connection that receives the second attempt');
  await other.ack(again);
}

/**
 * Publishes a message and asserts that the broker made the first attempt without waiting for a timer. A busy machine may delay a delivery,
 * so up to three messages are measured. A broker that waits for a timer is late each time.
 */
async function expectImmediate(
  ctx: CheckContext,
  publisher: Connection,
  subscriber: Connection,
  queue: string,
): Promise<ReceivedFrame> {
  const measure = async () => {
    const { atMs, id } = await publisher.publish(queue, '1');
    const delivery = await subscriber.delivery({ queue, id }, { clause: 'RETRY-015' });
    return { delivery, delayMs: delivery.atMs - atMs };
  };
  let { delivery, delayMs } = await measure();
  for (let again = 0; again < 2 && delayMs > ctx.timing.lateMs; again += 1) {
    await subscriber.ack(delivery);
    ({ delivery, delayMs } = await measure());
  }
  ctx.assert.ok(delayMs <= ctx.timing.lateMs, 'the first attempt is made without waiting for a timer', {
    expected: `at most ${ctx.timing.lateMs} ms after PublishAck`,
    actual: `after ${Math.round(delayMs)} ms`,
    clause: 'RETRY-015',
  });
  return delivery;
}
