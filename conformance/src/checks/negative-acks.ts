// Checks of negative acknowledgment, an Ack with header failureReason. They run when the target declares capability nack. The ack
// timeout is long, so only the negative acknowledgment can cause the next attempt. Areas: NACK, DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { ConfigurationRequest } from '../configuration.ts';
import type { Connection } from '../connection.ts';
import { announcedBy } from '../observation/capabilities.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { noteIfLate } from './shared/lateness.ts';
import { messageCountOf } from './shared/queue-state.ts';
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
  expectDeadLetterReason,
  expectNotRedelivered,
  nextAttempt,
  retryDelayMs,
  shortTimings,
  takeDeadLetter,
  waitUntil,
} from './shared/retry-attempts.ts';
import { expectOnlySentinel, publishSeries, resetSubscriber } from './shared/subscribers.ts';

/** Only a negative acknowledgment causes the next attempt. */
export const longTimeout: ConfigurationRequest = { timing: { ackTimeoutMs: 20_000, retryDelayMs: 200 } };

const optional = { profile: 'retry-dlq', requires: { capabilities: ['nack'] } } as const;
const waitingForRetry = { ...optional, prefers: longTimeout, waits: true } as const;

export const negativeAckChecks: CheckModule = [
  // NACK-001 (MUST): A broker that announces nack treats an Ack with header failureReason as a negative acknowledgment.
  {
    id: 'NACK-001a',
    title: 'sends a message again after an Ack with header failureReason, and lists nack in the capabilities',
    clauses: ['NACK-001', 'NACK-002'],
    ...waitingForRetry,
    evidence: { frames: 7, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx);
      const isAnnounced = announcedBy(subscriber.connectAck).has('nack');
      ctx.assert.ok(isAnnounced, 'header capabilities of ConnectAck contains nack', {
        actual: subscriber.connectAck.header('capabilities'),
        clause: 'NACK-002',
      });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await sendNack(subscriber, await subscriber.delivery({ queue }), 'HandlerException');
      const again = await attemptAfterNack(ctx, subscriber, { queue, id }, 1);
      await subscriber.ack(again);
      await subscriber.ping();
      await expectNotRedelivered(ctx, subscriber, queue, {
        text: 'the message is not delivered again after an Ack without failureReason',
      });
    },
  },
  // NACK-003 (MUST): A broker that announces nack makes attempt n+1 retryDelay(n) after a HandlerException for attempt
  // n, without waiting for the ack timeout, unless the subscriber leaves before.
  {
    id: 'NACK-003a',
    title: 'makes the next attempt retryDelay(n) after HandlerException, without waiting for the ack timeout',
    clauses: ['NACK-003', 'RETRY-014'],
    ...waitingForRetry,
    evidence: { frames: 8, messages: 3, assertions: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 5 });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      let delivery = await subscriber.delivery({ queue });
      for (const n of [1, 2]) {
        const sentAt = ctx.now();
        await sendNack(subscriber, delivery, 'HandlerException');
        delivery = await attemptAfterNack(ctx, subscriber, { queue, id }, n);
        const pause = delivery.atMs - sentAt;
        const minMs = retryDelayMs(ctx, n) - ctx.timing.earlyMs;
        ctx.assert.betweenMs(
          pause,
          minMs,
          ctx.target.ackTimeoutMs,
          `time from negative acknowledgment ${n} to the next attempt`,
        );
        const isInTime = pause <= retryDelayMs(ctx, n) + ctx.timing.lateMs;
        ctx.should(isInTime, 'RETRY-014', 'the next attempt is made in time', {
          actual: `the attempt was made after ${Math.round(pause)} ms`,
        });
      }
      await subscriber.ack(delivery);
    },
  },
  // NACK-004 (MUST): A broker that announces nack treats an unknown failureReason as HandlerException.
  {
    id: 'NACK-004a',
    title: 'treats an unknown failureReason as HandlerException',
    clauses: ['NACK-004', 'NACK-007'],
    ...waitingForRetry,
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, deadLetterQueue } = await withDeadLetterQueue(ctx, {
        maxRetryAttempts: 2,
      });
      await sendNack(subscriber, await subscriber.delivery({ queue }), 'NoSuchReason');
      await sendNack(
        subscriber,
        await attemptAfterNack(ctx, subscriber, { queue, id }, 1),
        'handler exception',
      );
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id }, 0, 'NACK-006');
      expectDeadLetterReason(ctx, deadLetter, 'HandlerException');
      await reader.ack(deadLetter);
    },
  },
  // NACK-005 (MUST): A broker that announces nack makes no further attempt after a DeserializationError: it
  // dead-letters the message immediately, or discards it when its queue has no dead letter queue.
  {
    id: 'NACK-005a',
    title: 'dead-letters a message immediately after DeserializationError, even if attempts remain',
    clauses: ['NACK-005', 'NACK-007', 'DLQ-013'],
    ...optional,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, deadLetterQueue } = await withDeadLetterQueue(ctx, {
        maxRetryAttempts: 3,
      });
      await sendNack(subscriber, await subscriber.delivery({ queue }), 'DeserializationError');
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id });
      expectDeadLetterReason(ctx, deadLetter, 'DeserializationError');
      await reader.ack(deadLetter);
      await subscriber.expectNothingBeforePong({ command: 'Deliver' }, 'there is no second attempt');
    },
  },
  // NACK-006 (MUST): A broker that announces nack does not wait after a negative acknowledgment of the last attempt: it
  // dead-letters the message immediately, or discards it when its queue has no dead letter queue.
  {
    id: 'NACK-006a',
    title: 'dead-letters a message immediately after a negative acknowledgment of its last attempt',
    clauses: ['NACK-006', 'NACK-007', 'RETRY-007'],
    ...optional,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, deadLetterQueue } = await withDeadLetterQueue(ctx, {
        maxRetryAttempts: 1,
      });
      await sendNack(subscriber, await subscriber.delivery({ queue }), 'HandlerException');
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id }, 0, 'NACK-006');
      expectDeadLetterReason(ctx, deadLetter, 'HandlerException');
      const attempts = deadLetter.header('deadLetterAttempts');
      ctx.should(attempts === '1', 'DLQ-015', 'header deadLetterAttempts is the number of failed attempts', {
        actual: attempts,
      });
      await reader.ack(deadLetter);
    },
  },
  // NACK-007 (MUST): A broker that announces nack, and that sends header deadLetterReason, gives a dead letter the
  // reason of its last failure.
  {
    id: 'NACK-007a',
    title: 'sends a dead letter with the reason of its last failure',
    clauses: ['NACK-007', 'NACK-005', 'DLQ-013'],
    ...waitingForRetry,
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, deadLetterQueue } = await withDeadLetterQueue(ctx, {
        maxRetryAttempts: 2,
      });
      await sendNack(subscriber, await subscriber.delivery({ queue }), 'HandlerException');
      const second = await attemptAfterNack(ctx, subscriber, { queue, id }, 1);
      await sendNack(subscriber, second, 'DeserializationError');
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id });
      expectDeadLetterReason(ctx, deadLetter, 'DeserializationError');
      const attempts = deadLetter.header('deadLetterAttempts');
      ctx.should(attempts === '2', 'DLQ-015', 'header deadLetterAttempts is the number of failed attempts', {
        actual: attempts,
      });
      await reader.ack(deadLetter);
    },
  },
  // NACK-008 (MUST): A broker that announces nack lets a negative acknowledgment of a FanOutWithAck message fail only
  // the copy of the subscriber that sent it.
  {
    id: 'NACK-008a',
    title: 'retries only the negatively acknowledged copy of a FanOutWithAck message',
    clauses: ['NACK-008', 'RETRY-012'],
    ...waitingForRetry,
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, first, second } = await queueWithTwoSubscribers(ctx, fanOutWithAck);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await second.ack(await second.delivery({ queue }));
      await sendNack(first, await first.delivery({ queue }), 'HandlerException');
      await first.ack(await attemptAfterNack(ctx, first, { queue, id }, 1));
      await first.ping();
      await second.ping();
      ctx.assert.deepEqual(
        deliveredIds(second, queue),
        [id],
        'the messages that the other subscriber received',
      );
    },
  },
  // NACK-008 (MUST): A broker that announces nack lets a negative acknowledgment of a FanOutWithAck message fail only
  // the copy of the subscriber that sent it.
  {
    id: 'NACK-008b',
    title: 'sends a copy to a subscriber that had no room when another one refused the message for good',
    clauses: ['NACK-008', 'NACK-005'],
    profile: 'retry-dlq',
    requires: { capabilities: ['nack', 'maxInFlight'] },
    evidence: { frames: 10, messages: 4 },
    run: async (ctx) => {
      const { publisher, queue } = await queueWithSubscribers(ctx, 0, fanOutWithAck);
      const full = await newSubscriber(ctx, queue, { maxInFlight: '1' });
      const other = await newSubscriber(ctx, queue);
      const [first = '', second = ''] = await publishSeries(ctx, publisher, queue, 2);
      const held = await full.delivery({ queue, id: first });
      await other.ack(await other.delivery({ queue, id: first }));
      await sendNack(other, await other.delivery({ queue, id: second }), 'DeserializationError');
      await other.ping();
      await full.ack(held);
      const about = { what: 'the copy of the other subscriber', clause: 'NACK-008' };
      const copy = await full.delivery({ queue }, about);
      ctx.assert.equal(copy.id, second, 'the next delivery');
      await full.ack(copy);
    },
  },
  // DELIVERY-067 (SHOULD): An Ack that names a queue acknowledges only a delivery of that queue.
  {
    id: 'DELIVERY-067b',
    title: 'ignores a negative acknowledgment that names another queue than that of the delivery',
    clauses: ['DELIVERY-067', 'NACK-010'],
    ...optional,
    evidence: { frames: 7, messages: 1 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader } = await withDeadLetterQueue(ctx, { maxRetryAttempts: 3 });
      const held = await subscriber.delivery({ queue });
      const headers = { failureReason: 'DeserializationError' };
      const other = ctx.queue('other');
      await subscriber.send({ command: Command.Ack, id, queue: other, headers });
      await subscriber.ping();
      await reader.expectNothingBeforePong('Deliver', 'the message is not dead-lettered');
      await subscriber.ack(held);
    },
  },
  // NACK-009 (MUST): A broker that announces nack ignores a negative acknowledgment of a FanOutWithoutAck message.
  {
    id: 'NACK-009a',
    title: 'ignores a negative acknowledgment in a FanOutWithoutAck queue',
    clauses: ['NACK-009', 'DELIVERY-026'],
    ...waitingForRetry,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, fanOutWithoutAck);
      await publishSeries(ctx, publisher, queue, 1);
      await sendNack(subscriber, await subscriber.delivery({ queue }), 'HandlerException');
      await subscriber.expectNothingBeforePong(() => true, 'no frame answers the negative acknowledgment');
      await waitUntil(ctx, ctx.now() + retryDelayMs(ctx, 1) + ctx.timing.silenceMs);
      await expectOnlySentinel(ctx, subscriber, queue, { text: 'the message is not delivered again' });
    },
  },
  // NACK-010 (MUST): A broker that announces nack ignores a negative acknowledgment of an unknown delivery.
  {
    id: 'NACK-010a',
    title: 'ignores a negative acknowledgment of a message that is not in flight, without an answer',
    clauses: ['NACK-010', 'DELIVERY-058'],
    ...optional,
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx);
      await publishSeries(ctx, publisher, queue, 1);
      const delivery = await subscriber.delivery({ queue });
      await subscriber.ack(delivery);
      await sendNack(subscriber, delivery, 'HandlerException');
      await sendNack(subscriber, { id: ctx.id('never') }, 'DeserializationError');
      await subscriber.expectNothingBeforePong(() => true, 'no frame answers the negative acknowledgment');
      await expectOnlySentinel(ctx, subscriber, queue, {
        text: 'the settled message is not delivered again',
      });
    },
  },
  // DELIVERY-020 (SHOULD): When all copies of a FanOutWithAck message have ended and at least one failed, the broker
  // dead-letters the message once, with the reason of the first failure, or discards it if the queue has no dead letter
  // queue.
  {
    id: 'DELIVERY-020b',
    title: 'dead-letters a FanOutWithAck message with the reason of the first of two failures',
    clauses: ['DELIVERY-020', 'NACK-005'],
    ...optional,
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const deadLetterQueueName = ctx.queue('letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName, maxRetryAttempts: 1 };
      const { publisher, queue, subscribers } = await queueWithSubscribers(ctx, 2, {
        ...fanOutWithAck,
        ...withLetters,
      });
      const reader = await newSubscriber(ctx, deadLetterQueueName);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      for (const [index, subscriber] of subscribers.entries()) {
        const failureReason = index === 0 ? 'DeserializationError' : 'HandlerException';
        await subscriber.delivery({ queue, id });
        await subscriber.send({ command: Command.Ack, id, queue, headers: { failureReason } });
        await subscriber.ping();
      }
      const letter = { queue: deadLetterQueueName, id };
      // It comes if both negative acks, which name their queue, are read.
      const deadLetter = await takeDeadLetter(ctx, reader, letter, 0, 'DELIVERY-067');
      const reason = deadLetter.header('deadLetterReason');
      if (reason === undefined) ctx.notApplicable('a dead letter has no header deadLetterReason');
      ctx.assert.ok(
        reason === 'DeserializationError',
        'the reason of the dead letter is that of the first failure',
        {
          expected: 'DeserializationError',
          actual: reason,
          possibleCauses: ['NACK-005', 'DLQ-013'],
        },
      );
      await reader.ack(deadLetter);
    },
  },
  // DELIVERY-008 (SHOULD): The broker handles a negative ack that arrives during the pause before the next attempt.
  {
    id: 'DELIVERY-008a',
    title: 'dead-letters a message immediately when DeserializationError arrives during its retry delay',
    clauses: ['DELIVERY-008', 'NACK-005'],
    ...optional,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, deadLetterQueue } = await withDeadLetterQueue(ctx, {
        maxRetryAttempts: 3,
      });
      const held = await subscriber.delivery({ queue });
      await sendNack(subscriber, held, 'HandlerException');
      await sendNack(subscriber, held, 'DeserializationError');
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id });
      expectDeadLetterReason(ctx, deadLetter, 'DeserializationError');
      await reader.ack(deadLetter);
      await subscriber.ping();
      ctx.assert.deepEqual(deliveredIds(subscriber, queue), [id], 'the attempts');
    },
  },
  // QUEUE-025 (MUST): messageCount is the number of waiting messages only.
  {
    id: 'QUEUE-025e',
    title: 'does not count a message in the pause before its next attempt as waiting',
    clauses: ['QUEUE-025', 'DELIVERY-002'],
    ...optional,
    waits: true,
    prefers: { timing: { ackTimeoutMs: 300, retryDelayMs: 2000 } },
    evidence: { frames: 8, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const held = await subscriber.delivery({ queue });
      const sinceMs = ctx.now();
      await sendNack(subscriber, held, 'HandlerException');
      await subscriber.ping();
      const waiting = await messageCountOf(publisher, queue);
      noteIfLate(ctx, { sinceMs, maxMs: retryDelayMs(ctx, 1), step: 'QueueInfo' });
      ctx.assert.equal(waiting, 0, 'messageCount in the pause before the next attempt');
      await subscriber.ack(await attemptAfterNack(ctx, subscriber, { queue, id }, 1));
    },
  },
  // NACK-003 (MUST): A broker that announces nack makes attempt n+1 retryDelay(n) after a HandlerException for attempt
  // n, without waiting for the ack timeout, unless the subscriber leaves before.
  {
    id: 'NACK-003d',
    title: 'counts an attempt without ack for the pause after a HandlerException',
    clauses: ['NACK-003'],
    ...optional,
    waits: true,
    prefers: shortTimings,
    evidence: { frames: 8, messages: 3, assertions: 1 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, { maxRetryAttempts: 5 });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      const second = await nextAttempt(ctx, subscriber, { queue, id });
      const sentAt = ctx.now();
      await sendNack(subscriber, second, 'HandlerException');
      const third = await attemptAfterNack(ctx, subscriber, { queue, id }, 2);
      const minMs = retryDelayMs(ctx, 2) - ctx.timing.earlyMs;
      const what = 'time from the negative acknowledgment of attempt 2 to attempt 3';
      ctx.assert.betweenMs(third.atMs - sentAt, minMs, minMs + ctx.timing.deliveryMs, what);
      await subscriber.ack(third);
    },
  },
  // DELIVERY-040 (SHOULD): The broker does not count a delivery that is interrupted, because its connection ended or
  // the broker stopped, as a failed attempt.
  {
    id: 'DELIVERY-040c',
    title:
      'does not count an interrupted delivery as a failed attempt when a later one gets a HandlerException',
    clauses: ['DELIVERY-040', 'RETRY-007'],
    ...waitingForRetry,
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const options = { maxRetryAttempts: 2 };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, options);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await resetSubscriber(ctx, subscriber, { witness: publisher, queue, remaining: 0 });
      const other = await newSubscriber(ctx, queue);
      await other.delivery({ queue, id });
      const headers = { failureReason: 'HandlerException' };
      await other.send({ command: Command.Ack, id, queue, headers });
      const withinMs = retryDelayMs(ctx, 1) + ctx.timing.deliveryMs;
      const until = ctx.now() + withinMs;
      const attempts = (): number => deliveredIds(other, queue).length;
      while (attempts() < 2 && ctx.now() < until) await waitUntil(ctx, ctx.now() + 15);
      ctx.assert.ok(attempts() === 2, 'another attempt follows the one that failed', {
        actual: `${attempts()} attempts after the interrupted one`,
        possibleCauses: ['DELIVERY-067', 'NACK-003'],
      });
      await other.ack(await other.delivery({ queue, id }));
    },
  },
  // DLQ-017 (MUST): The broker dead-letters a message at most once, however many subscribers failed it.
  {
    id: 'DLQ-017b',
    title: 'dead-letters a FanOutWithAck message once when both subscribers refuse it for good',
    clauses: ['DLQ-017', 'NACK-005'],
    ...optional,
    evidence: { frames: 16, messages: 4 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, deadLetterQueue } = await withDeadLetterQueue(
        ctx,
        fanOutWithAck,
      );
      await subscriber.ack(await subscriber.delivery({ queue, id }));
      const other = await newSubscriber(ctx, queue);
      const [refused = ''] = await publishSeries(ctx, reader, queue, 1);
      const copies = await Promise.all(
        [subscriber, other].map((one) => one.delivery({ queue, id: refused })),
      );
      for (const [index, member] of [subscriber, other].entries()) {
        await sendNack(member, { id: copies[index]?.id ?? '' }, 'DeserializationError');
        await member.ping();
      }
      await reader.ack(await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id: refused }));
      await expectOnlySentinel(ctx, reader, deadLetterQueue, { text: 'there is no second dead letter' });
    },
  },
] satisfies readonly Check[];

/** Sends a negative acknowledgment. */
function sendNack(
  subscriber: Connection,
  { id }: Pick<ReceivedFrame, 'id'>,
  failureReason: string,
): Promise<void> {
  return subscriber.send({ command: Command.Ack, id, headers: { failureReason } });
}

/** Waits for the attempt after the n-th negative acknowledgment, for a shorter time than the ack timeout. */
function attemptAfterNack(
  ctx: CheckContext,
  subscriber: Connection,
  { queue, id }: { readonly queue: string; readonly id: string },
  n: number,
): Promise<ReceivedFrame> {
  const withinMs = retryDelayMs(ctx, n) + ctx.timing.deliveryMs;
  return subscriber.delivery({ queue, id }, { withinMs, what: `attempt ${n + 1} of the message` });
}

/** A queue with one message, its dead letter queue, and a subscriber of each. */
async function withDeadLetterQueue(ctx: CheckContext, options: Readonly<Record<string, unknown>>) {
  const deadLetterQueue = ctx.queue('letters');
  const deadLetterOptions = { enableDeadLetterQueue: true, deadLetterQueueName: deadLetterQueue };
  const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, {
    ...options,
    ...deadLetterOptions,
  });
  const reader = await newSubscriber(ctx, deadLetterQueue);
  const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
  return { queue, id, subscriber, reader, deadLetterQueue };
}
