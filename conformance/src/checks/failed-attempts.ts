// Checks of the count of failed attempts and of the delays that follow from it, where something comes between two attempts: another
// subscriber, an Unsubscribe, the end of a connection, acks of other messages. Areas: RETRY, NACK, DLQ,
// PUBLISH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { largeCount, publishLarge } from './shared/large-messages.ts';
import { noteIfLate } from './shared/lateness.ts';
import { newQueue } from './shared/queue-state.ts';
import {
  deliveredIds,
  fanOutWithAck,
  fanOutWithoutAck,
  newSubscriber,
  otherModesWithAck,
  queueWithOneSubscriber,
  queueWithSubscribers,
  queueWithTwoSubscribers,
} from './shared/queue-with-subscribers.ts';
import {
  gapMs,
  longerAckTimeout,
  type MessageName,
  nextAttempt,
  retryDelayMs,
  shortTimings,
  subscribeToDeadLetters,
  takeAndLeave,
  takeDeadLetter,
  waitUntil,
} from './shared/retry-attempts.ts';
import { expectOnlySentinel, publishSeries } from './shared/subscribers.ts';

const waits = { profile: 'retry-dlq', prefers: shortTimings, waits: true } as const;

const counts: CheckModule = [
  // RETRY-007 (MUST): When maxRetryAttempts attempts of a message, in FanOutWithAck of a copy, have failed, the broker
  // does not send it again.
  {
    id: 'RETRY-007b',
    title: 'counts the failed attempts of a message over all its subscribers',
    clauses: ['RETRY-007', 'RETRY-008'],
    ...waits,
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const letters = ctx.queue('letters');
      const options = { maxRetryAttempts: 3, ...deadLettersTo(letters) };
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 2, options);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const afterMs = gapMs(ctx, 1) + gapMs(ctx, 2) + ctx.target.ackTimeoutMs;
      const reader = await subscribeToDeadLetters(ctx, letters, afterMs);
      const made = await attemptsOf(subscribers, { queue, id });
      ctx.assert.equal(made, 3, 'number of attempts to both subscribers');
      await takeFailed(ctx, reader, { queue: letters, id });
    },
  },
  // RETRY-007 (MUST): When maxRetryAttempts attempts of a message, in FanOutWithAck of a copy, have failed, the broker
  // does not send it again.
  {
    id: 'RETRY-007c',
    title: 'keeps the count of failed attempts when the connection of a later attempt ends',
    clauses: ['RETRY-007', 'RETRY-008', 'DELIVERY-040'],
    ...waits,
    accepts: ['the interrupted attempt does not count', 'it counts as failed: no further attempt'],
    evidence: { frames: 13, messages: 3 },
    run: async (ctx) => {
      const letters = ctx.queue('letters');
      const options = { maxRetryAttempts: 2, ...deadLettersTo(letters) };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, options);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await nextAttempt(ctx, subscriber, { queue, id });
      const later = await newSubscriber(ctx, queue);
      await subscriber.abort();
      const reader = await subscribeToDeadLetters(ctx, letters, ctx.target.ackTimeoutMs);
      const made = await attemptsOf([later], { queue, id });
      ctx.assert.between(made, 0, 1, 'number of attempts after the connection ended');
      await takeFailed(ctx, reader, { queue: letters, id });
    },
  },
  // RETRY-007 (MUST): When maxRetryAttempts attempts of a message, in FanOutWithAck of a copy, have failed, the broker
  // does not send it again.
  {
    id: 'RETRY-007d',
    title: 'keeps the count of failed attempts when an attempt fails after an Unsubscribe',
    clauses: ['RETRY-007', 'RETRY-008', 'DELIVERY-062'],
    ...waits,
    accepts: [
      'an attempt that times out after the Unsubscribe counts',
      'the message waits again immediately',
    ],
    evidence: { frames: 14, messages: 4 },
    run: async (ctx) => {
      const letters = ctx.queue('letters');
      const options = { maxRetryAttempts: 3, ...deadLettersTo(letters) };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, options);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      const second = await nextAttempt(ctx, subscriber, { queue, id });
      await subscriber.unsubscribe(queue);
      const later = await newSubscriber(ctx, queue);
      const subscribedMs = ctx.now() - second.atMs;
      const reader = await subscribeToDeadLetters(ctx, letters, 2 * ctx.target.ackTimeoutMs + gapMs(ctx, 2));
      const made = await attemptsOf([later], { queue, id });
      const third = later.received.find((frame) => frame.id === id && frame.queue === queue);
      const waitedMs = (third?.atMs ?? 0) - second.atMs;
      // A message that came only when the second attempt had timed out had two failed attempts by then. A subscriber that was late, on a
      // busy machine, cannot tell.
      const { ackTimeoutMs } = ctx.target;
      const hasTimedOut = subscribedMs < ackTimeoutMs / 2 && waitedMs > 0.9 * ackTimeoutMs;
      const mostMade = hasTimedOut ? 1 : 2;
      ctx.assert.between(made, 1, mostMade, 'number of attempts to the other subscriber');
      await takeFailed(ctx, reader, { queue: letters, id });
    },
  },
  // RETRY-001 (MUST): When no ack arrives within ackTimeout after an attempt, the broker sends the message again, as
  // long as RETRY-007 allows it.
  {
    id: 'RETRY-001c',
    title: 'sends a FanOutWithAck copy again whose next attempt was due while its subscriber did not read',
    clauses: ['RETRY-001'],
    ...waits,
    evidence: { frames: 30, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const options = { ...fanOutWithAck, maxRetryAttempts: 10 };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, options);
      const flood = await newQueue(ctx, publisher, 'flood', fanOutWithoutAck);
      await subscriber.subscribe(flood);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const first = await subscriber.delivery({ queue, id });
      subscriber.pauseReading();
      for (let count = 0; count < largeCount(ctx); count += 1) await publishLarge(ctx, publisher, flood);
      await waitUntil(ctx, Math.max(ctx.now(), first.atMs) + gapMs(ctx, 1) + ctx.timing.lateMs);
      subscriber.resumeReading();
      const withinMs = gapMs(ctx, 2) + ctx.timing.deliveryMs;
      const again = await subscriber.delivery({ queue, id }, { withinMs, clause: 'RETRY-001' });
      await subscriber.ack(again);
    },
  },
  // RETRY-001 (MUST): When no ack arrives within ackTimeout after an attempt, the broker sends the message again, as
  // long as RETRY-007 allows it.
  {
    id: 'RETRY-001b',
    title: 'makes maxRetryAttempts attempts of each copy of a FanOutWithAck message',
    clauses: ['RETRY-001', 'RETRY-007', 'DELIVERY-016'],
    ...waits,
    evidence: { frames: 10, messages: 4 },
    run: async (ctx) => {
      const options = { ...fanOutWithAck, maxRetryAttempts: 2 };
      const { publisher, queue, first, second } = await queueWithTwoSubscribers(ctx, options);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      for (const member of [first, second]) await member.delivery({ queue });
      for (const member of [first, second]) await member.ack(await nextAttempt(ctx, member, { queue, id }));
      // A broker that sends each retry to all members sends more.
      const made = await attemptsOf([first, second], { queue, id });
      ctx.assert.between(made, 4, Number.POSITIVE_INFINITY, 'number of attempts of both copies');
    },
  },
  // PUBLISH-006 (SHOULD): The broker answers a Publish with the id of a message of the same queue that is in flight by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-006b',
    title: 'confirms a repeat of a message after its first attempt has failed and adds no message',
    clauses: ['PUBLISH-006'],
    ...waits,
    evidence: { frames: 7, messages: 3, assertions: 1 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 9 });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      const second = await nextAttempt(ctx, subscriber, { queue, id });
      await publisher.publish(queue, '1', { id });
      await subscriber.ack(second);
      await expectOnlySentinel(ctx, subscriber, queue, { text: 'the repeat adds no second message' });
    },
  },
  // DLQ-015 (SHOULD): A dead letter has header deadLetterAttempts with the number of attempts that failed, as a decimal
  // number.
  {
    id: 'DLQ-015a',
    title: 'names the failed attempts of a message that expires while it waits again',
    clauses: ['DLQ-015'],
    ...waits,
    accepts: ['1', '2: the interrupted attempt counts as failed'],
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const ttlMs = 3000;
      const publisher = await ctx.connect();
      const letters = await newQueue(ctx, publisher, 'letters');
      const reader = await newSubscriber(ctx, letters);
      const options = { maxRetryAttempts: 5, messageTtl: '00:00:03', ...deadLettersTo(letters) };
      const queue = await newQueue(ctx, publisher, 'expiring', options);
      const holder = await newSubscriber(ctx, queue);
      const publishedAtMs = ctx.now();
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await holder.delivery({ queue });
      await nextAttempt(ctx, holder, { queue, id });
      await holder.abort();
      noteIfLate(ctx, { sinceMs: publishedAtMs, maxMs: ttlMs / 2, step: 'the end of the connection' });
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: letters, id }, ttlMs);
      await reader.ack(deadLetter);
      const attempts = deadLetter.header('deadLetterAttempts');
      ctx.assert.oneOf(attempts, ['1', '2'], 'header deadLetterAttempts');
    },
  },
  // DELIVERY-040 (SHOULD): The broker does not count a delivery that is interrupted, because its connection ended or
  // the broker stopped, as a failed attempt.
  {
    id: 'DELIVERY-040d',
    title: 'names no failed attempt of a message that expires after two subscribers in turn have left it',
    clauses: ['DELIVERY-040', 'DLQ-015'],
    ...waits,
    accepts: ['0', 'no header deadLetterAttempts (not applicable)'],
    evidence: { frames: 14, messages: 3, assertions: 1 },
    run: async (ctx) => {
      const ttlMs = 3000;
      const publisher = await ctx.connect();
      const letters = await newQueue(ctx, publisher, 'letters');
      const reader = await newSubscriber(ctx, letters);
      const options = { maxRetryAttempts: 9, messageTtl: '00:00:03', ...deadLettersTo(letters) };
      const queue = await newQueue(ctx, publisher, 'expiring', options);
      const publishedAtMs = ctx.now();
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      for (let count = 0; count < 2; count += 1) await takeAndLeave(ctx, publisher, queue, count);
      noteIfLate(ctx, { sinceMs: publishedAtMs, maxMs: ttlMs / 2, step: 'the end of two connections' });
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: letters, id }, ttlMs);
      await reader.ack(deadLetter);
      const attempts = deadLetter.header('deadLetterAttempts');
      if (attempts === undefined) ctx.notApplicable('the broker adds no header deadLetterAttempts');
      ctx.assert.equal(attempts, '0', 'header deadLetterAttempts');
    },
  },
  // DLQ-015 (SHOULD): A dead letter has header deadLetterAttempts with the number of attempts that failed, as a decimal
  // number.
  {
    id: 'DLQ-015b',
    title: 'names the failed attempts of a FanOutWithAck or PriorityBased message',
    clauses: ['DLQ-015'],
    ...waits,
    evidence: { frames: 14, messages: 6 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModesWithAck)) {
        const letters = await newQueue(ctx, publisher, `letters-${name}`);
        const reader = await newSubscriber(ctx, letters);
        const options = { ...mode, maxRetryAttempts: 2, ...deadLettersTo(letters) };
        const queue = await newQueue(ctx, publisher, name, options);
        const holder = await newSubscriber(ctx, queue);
        const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
        await holder.delivery({ queue });
        await nextAttempt(ctx, holder, { queue, id });
        const letter = { queue: letters, id };
        const deadLetter = await takeDeadLetter(ctx, reader, letter, ctx.target.ackTimeoutMs);
        await reader.ack(deadLetter);
        ctx.assert.equal(deadLetter.header('deadLetterAttempts'), '2', 'header deadLetterAttempts');
      }
    },
  },
  // DLQ-016 (SHOULD): A dead letter has header deadLetteredAt with the time at which it was dead-lettered, as a
  // timestamp (BODY-041).
  {
    id: 'DLQ-016a',
    title: 'names the time of the dead-lettering, not that of the publish or of an attempt',
    clauses: ['DLQ-016'],
    ...waits,
    prefers: longerAckTimeout,
    accepts: ['a later time for the message that failed later', 'no header deadLetteredAt (not applicable)'],
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const letters = await newQueue(ctx, publisher, 'letters');
      const reader = await newSubscriber(ctx, letters);
      const options = {
        maxQueueSize: 1,
        overflowStrategy: 3,
        maxRetryAttempts: 1,
        ...deadLettersTo(letters),
      };
      const queue = await newQueue(ctx, publisher, 'failing', options);
      // The first one fails after the ack timeout, the second one is redirected at once.
      const [first = '', second = ''] = await publishSeries(ctx, publisher, queue, 2);
      const redirected = await takeDeadLetter(ctx, reader, { queue: letters, id: second }, 0, 'OVERFLOW-022');
      await reader.ack(redirected);
      const holder = await newSubscriber(ctx, queue);
      await holder.delivery({ queue });
      const afterMs = ctx.target.ackTimeoutMs;
      const failed = await takeDeadLetter(ctx, reader, { queue: letters, id: first }, afterMs, 'RETRY-008');
      await reader.ack(failed);
      const times = [redirected, failed].map((one) => one.header('deadLetteredAt') ?? '');
      const [sooner = Number.NaN, later = Number.NaN] = times.map((time) => Date.parse(time));
      if (Number.isNaN(sooner) || Number.isNaN(later)) ctx.notApplicable('there is no header deadLetteredAt');
      // A broker that names the publish, or the attempt, is a whole ack timeout off.
      const maxMs = (2 / 3) * ctx.target.ackTimeoutMs;
      const isOfWholeSeconds = times.some((time) => !time.includes('.'));
      if (isOfWholeSeconds && maxMs < 2000)
        ctx.notApplicable('times of whole seconds do not tell one ack timeout');
      const offMs = Math.abs(later - sooner - (failed.atMs - redirected.atMs));
      const what = 'difference between the times of deadLetteredAt and those of the deliveries';
      ctx.assert.betweenMs(offMs, 0, maxMs, what);
    },
  },
] satisfies readonly Check[];

const delays: CheckModule = [
  // RETRY-003 (SHOULD): Attempt n+1 is due ackTimeout + retryDelay(n) after attempt n, where retryDelay(n) =
  // min(retryDelay * 2^(n-1), maxRetryDelay).
  {
    id: 'RETRY-003a',
    title: 'makes the next attempt in time while the subscriber acknowledges other messages',
    clauses: ['RETRY-003'],
    ...waits,
    evidence: { frames: 12, messages: 4, assertions: 1 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx);
      // Another queue, because the message in flight may take the only place in the window of its own.
      const busy = await newQueue(ctx, publisher, 'busy');
      await subscriber.subscribe(busy);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const first = await subscriber.delivery({ queue });
      const dueAtMs = first.atMs + gapMs(ctx, 1);
      const again = (): ReceivedFrame | undefined =>
        subscriber.received.find((frame) => frame.id === id && frame.sequence !== first.sequence);
      while (again() === undefined && ctx.now() < dueAtMs + ctx.timing.lateMs) {
        await publisher.publish(busy, '1');
        await subscriber.ack(await subscriber.delivery({ queue: busy }));
        await waitUntil(ctx, ctx.now() + ctx.target.ackTimeoutMs / 8);
      }
      const second = again();
      ctx.assert.ok(second !== undefined, 'the unacknowledged message is sent again in time', {
        expected: `a second attempt within ${gapMs(ctx, 1) + ctx.timing.lateMs} ms`,
        actual: 'none while other messages were acknowledged',
      });
      await subscriber.ack(first);
    },
  },
  // RETRY-003 (SHOULD): Attempt n+1 is due ackTimeout + retryDelay(n) after attempt n, where retryDelay(n) =
  // min(retryDelay * 2^(n-1), maxRetryDelay).
  {
    id: 'RETRY-003b',
    title: 'delays the second attempt of a message by its own failures, not by those of others',
    clauses: ['RETRY-003'],
    ...waits,
    evidence: { frames: 14, messages: 10, assertions: 5 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 9 });
      const ids = await publishSeries(ctx, publisher, queue, 5);
      const until = ctx.now() + ctx.target.ackTimeoutMs / 2;
      while (deliveredIds(subscriber, queue).length < ids.length && ctx.now() < until)
        await waitUntil(ctx, ctx.now() + 5);
      if (deliveredIds(subscriber, queue).length < ids.length)
        ctx.notApplicable('the window of the subscriber has fewer than five places');
      for (const id of ids) {
        const first = await subscriber.delivery({ queue, id });
        const second = await subscriber.delivery(
          { queue, id },
          { withinMs: gapMs(ctx, 5) + ctx.timing.deliveryMs, what: 'the second attempt' },
        );
        await subscriber.ack(second);
        const maxMs = gapMs(ctx, 1) + ctx.timing.lateMs;
        ctx.assert.betweenMs(second.atMs - first.atMs, 0, maxMs, 'time from the first to the second attempt');
      }
    },
  },
  // DELIVERY-040 (SHOULD): The broker does not count a delivery that is interrupted, because its connection ended or
  // the broker stopped, as a failed attempt.
  {
    id: 'DELIVERY-040b',
    title:
      'waits only for retryDelay(1) after the first failed attempt of a message that was interrupted before',
    clauses: ['DELIVERY-040', 'RETRY-003'],
    ...waits,
    evidence: { frames: 20, messages: 6, assertions: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'interrupted', { maxRetryAttempts: 20 });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      for (let count = 0; count < 4; count += 1) await takeAndLeave(ctx, publisher, queue, count);
      const subscriber = await newSubscriber(ctx, queue);
      const failing = await nextAttempt(ctx, subscriber, { queue, id }, 4);
      const next = await nextAttempt(ctx, subscriber, { queue, id }, 5);
      await subscriber.ack(next);
      const maxMs = gapMs(ctx, 1) + ctx.timing.lateMs;
      noteIfLate(ctx, { sinceMs: failing.atMs, maxMs, step: 'the first failed attempt' });
      ctx.assert.betweenMs(
        next.atMs - failing.atMs,
        0,
        maxMs,
        'time from the failed attempt to the next one',
      );
    },
  },
  // NACK-003 (MUST): A broker that announces nack makes attempt n+1 retryDelay(n) after a HandlerException for attempt
  // n, without waiting for the ack timeout, unless the subscriber leaves before.
  {
    id: 'NACK-003b',
    title: 'counts the delay from the negative acknowledgment, not from the attempt',
    clauses: ['NACK-003'],
    profile: 'retry-dlq',
    requires: { capabilities: ['nack'] },
    prefers: { timing: { ackTimeoutMs: 20_000, retryDelayMs: 200 } },
    waits: true,
    evidence: { frames: 7, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const first = await subscriber.delivery({ queue });
      await waitUntil(ctx, first.atMs + 2 * retryDelayMs(ctx, 1));
      const refusedAtMs = ctx.now();
      await refuse(subscriber, first);
      const second = await subscriber.delivery({ queue, id }, { what: 'the second attempt' });
      await subscriber.ack(second);
      const minMs = retryDelayMs(ctx, 1) - ctx.timing.earlyMs;
      const what = 'time from the negative acknowledgment to the next attempt';
      ctx.assert.betweenMs(second.atMs - refusedAtMs, minMs, ctx.target.ackTimeoutMs, what);
    },
  },
  // NACK-003 (MUST): A broker that announces nack makes attempt n+1 retryDelay(n) after a HandlerException for attempt
  // n, without waiting for the ack timeout, unless the subscriber leaves before.
  {
    id: 'NACK-003c',
    title: 'still waits for maxRetryDelay before each attempt after more than 32 failures',
    clauses: ['NACK-003', 'RETRY-004'],
    profile: 'retry-dlq',
    requires: {
      capabilities: ['nack'],
      configuration: { timing: { ackTimeoutMs: 20_000, retryDelayMs: 10, maxRetryDelayMs: 60 } },
    },
    waits: true,
    evidence: { frames: 40, messages: 36, assertions: 30 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 50 });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      let attempt = await subscriber.delivery({ queue });
      for (let n = 1; n <= 35; n += 1) {
        const refusedAtMs = ctx.now();
        await refuse(subscriber, attempt);
        attempt = await subscriber.delivery({ queue, id }, { what: `attempt ${n + 1}` });
        const minMs = retryDelayMs(ctx, n) - ctx.timing.earlyMs;
        const what = `time from negative acknowledgment ${n} to the next attempt`;
        ctx.assert.betweenMs(attempt.atMs - refusedAtMs, minMs, ctx.target.ackTimeoutMs, what);
      }
      await subscriber.ack(attempt);
    },
  },
] satisfies readonly Check[];

export const failedAttemptChecks: CheckModule = [...counts, ...delays];

function deadLettersTo(deadLetterQueueName: string) {
  return { enableDeadLetterQueue: true, deadLetterQueueName } as const;
}

/** Takes the dead letter that the last failed attempt made. */
async function takeFailed(ctx: CheckContext, reader: Connection, letter: MessageName): Promise<void> {
  await reader.ack(await takeDeadLetter(ctx, reader, letter, 0, 'RETRY-008'));
}

/** The number of deliveries of the message that the subscribers have received. */
async function attemptsOf(subscribers: readonly Connection[], { queue, id }: MessageName): Promise<number> {
  await Promise.all(subscribers.map((subscriber) => subscriber.ping()));
  return subscribers.flatMap((subscriber) => deliveredIds(subscriber, queue)).filter((one) => one === id)
    .length;
}

function refuse(subscriber: Connection, { id }: Pick<ReceivedFrame, 'id'>): Promise<void> {
  const headers = { failureReason: 'HandlerException' };
  return subscriber.send({ command: Command.Ack, id, headers });
}
