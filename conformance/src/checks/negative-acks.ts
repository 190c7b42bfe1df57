// Checks of negative acknowledgment, which a broker may offer: an Ack with header failureReason. They run where the target declares it;
// the ack timeout is then long, so that only the refusal can have brought the next attempt. Areas: NACK, DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { ConfigurationRequest } from '../configuration.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { deadLetter, expectNothingLeft, expectReason, pauseMs, waitUntil } from './shared/attempts.ts';
import {
  deliveredIds,
  fanOutWithAck,
  fanOutWithoutAck,
  newSubscriber,
  pair,
  single,
} from './shared/audience.ts';
import { expectOnlySentinel, publishSeries } from './shared/subscribers.ts';

const longTimeout: ConfigurationRequest = { timing: { ackTimeoutMs: 20_000, retryDelayMs: 200 } };

const optional = { profile: 'retry-dlq', requires: { capabilities: ['nack'] } } as const;
const pausing = { ...optional, prefers: longTimeout, waits: true } as const;

export const negativeAcks: CheckModule = [
  {
    id: 'NACK-001a',
    title: 'sends a message again after an Ack with header failureReason, and lists nack in the capabilities',
    clauses: ['NACK-001', 'NACK-002'],
    ...pausing,
    evidence: { frames: 7, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await single(ctx);
      const capabilities = subscriber.connectAck.header('capabilities')?.split(',') ?? [];
      ctx.assert.ok(capabilities.includes('nack'), 'capabilities of ConnectAck', {
        actual: capabilities,
        clause: 'NACK-002',
      });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await refuse(subscriber, await subscriber.delivery({ queue }), 'HandlerException');
      const again = await afterPause(ctx, subscriber, { queue, id }, 1);
      await subscriber.ack(again);
      await subscriber.ping();
      await expectNothingLeft(ctx, subscriber, queue, { text: 'an Ack without the header settles it' });
    },
  },
  {
    id: 'NACK-003a',
    title: 'makes the next attempt retryDelay(n) after HandlerException, without the ack timeout',
    clauses: ['NACK-003', 'RETRY-013', 'RETRY-014'],
    ...pausing,
    evidence: { frames: 8, messages: 3, assertions: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await single(ctx, { maxRetryAttempts: 5 });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      let delivery = await subscriber.delivery({ queue });
      for (const n of [1, 2]) {
        const refusedAt = ctx.now();
        await refuse(subscriber, delivery, 'HandlerException');
        delivery = await afterPause(ctx, subscriber, { queue, id }, n);
        const pause = delivery.atMs - refusedAt;
        const leastMs = pauseMs(ctx, n) - ctx.timing.earlyMs;
        ctx.assert.betweenMs(pause, leastMs, ctx.target.ackTimeoutMs, `the pause after refusal ${n}`);
        const isInTime = pause <= pauseMs(ctx, n) + ctx.timing.lateMs;
        ctx.should(isInTime, 'RETRY-014', 'the attempt is not late', {
          actual: `it came after ${Math.round(pause)} ms`,
        });
      }
      await subscriber.ack(delivery);
    },
  },
  {
    id: 'NACK-004a',
    title: 'treats an unknown failureReason as HandlerException',
    clauses: ['NACK-004', 'NACK-006', 'NACK-007'],
    ...pausing,
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, letters } = await withLetters(ctx, { maxRetryAttempts: 2 });
      await refuse(subscriber, await subscriber.delivery({ queue }), 'NoSuchReason');
      await refuse(subscriber, await afterPause(ctx, subscriber, { queue, id }, 1), 'handler exception');
      const letter = await deadLetter(ctx, reader, { queue: letters, id });
      expectReason(ctx, letter, 'HandlerException');
      await reader.ack(letter);
    },
  },
  {
    id: 'NACK-005a',
    title: 'dead-letters a message immediately after DeserializationError, although it has attempts left',
    clauses: ['NACK-005', 'NACK-007', 'DLQ-013'],
    ...optional,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, letters } = await withLetters(ctx, { maxRetryAttempts: 3 });
      await refuse(subscriber, await subscriber.delivery({ queue }), 'DeserializationError');
      const letter = await deadLetter(ctx, reader, { queue: letters, id });
      expectReason(ctx, letter, 'DeserializationError');
      await reader.ack(letter);
      await subscriber.expectNothingBeforePong({ command: 'Deliver' }, 'there is no second attempt');
    },
  },
  {
    id: 'NACK-006a',
    title: 'dead-letters a message immediately after a negative acknowledgment of its last attempt',
    clauses: ['NACK-006', 'NACK-007', 'RETRY-007'],
    ...optional,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, letters } = await withLetters(ctx, { maxRetryAttempts: 1 });
      await refuse(subscriber, await subscriber.delivery({ queue }), 'HandlerException');
      const letter = await deadLetter(ctx, reader, { queue: letters, id });
      expectReason(ctx, letter, 'HandlerException');
      const attempts = letter.header('deadLetterAttempts');
      ctx.should(attempts === '1', 'DLQ-015', 'header deadLetterAttempts is the number of failed attempts', {
        actual: attempts,
      });
      await reader.ack(letter);
    },
  },
  {
    id: 'NACK-007a',
    title: 'gives a dead letter the reason of its last failure',
    clauses: ['NACK-007', 'NACK-005', 'DLQ-013'],
    ...pausing,
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, letters } = await withLetters(ctx, { maxRetryAttempts: 2 });
      await refuse(subscriber, await subscriber.delivery({ queue }), 'HandlerException');
      const second = await afterPause(ctx, subscriber, { queue, id }, 1);
      await refuse(subscriber, second, 'DeserializationError');
      const letter = await deadLetter(ctx, reader, { queue: letters, id });
      expectReason(ctx, letter, 'DeserializationError');
      const attempts = letter.header('deadLetterAttempts');
      ctx.should(attempts === '2', 'DLQ-015', 'header deadLetterAttempts is the number of failed attempts', {
        actual: attempts,
      });
      await reader.ack(letter);
    },
  },
  {
    id: 'NACK-008a',
    title: 'fails one copy of a FanOutWithAck message only',
    clauses: ['NACK-008', 'RETRY-012'],
    ...pausing,
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const { publisher, queue, first, second } = await pair(ctx, fanOutWithAck);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await second.ack(await second.delivery({ queue }));
      await refuse(first, await first.delivery({ queue }), 'HandlerException');
      await first.ack(await afterPause(ctx, first, { queue, id }, 1));
      await first.ping();
      await second.ping();
      ctx.assert.deepEqual(deliveredIds(second, queue), [id], 'what the other subscriber got');
    },
  },
  {
    id: 'NACK-009a',
    title: 'ignores a negative acknowledgment in a FanOutWithoutAck queue',
    clauses: ['NACK-009', 'DELIVERY-026'],
    ...pausing,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await single(ctx, fanOutWithoutAck);
      await publishSeries(ctx, publisher, queue, 1);
      await refuse(subscriber, await subscriber.delivery({ queue }), 'HandlerException');
      await subscriber.expectNothingBeforePong(() => true, 'no frame answers it');
      await waitUntil(ctx, ctx.now() + pauseMs(ctx, 1) + ctx.timing.silenceMs);
      await expectOnlySentinel(ctx, subscriber, queue, { text: 'the message is not delivered again' });
    },
  },
  {
    id: 'NACK-010a',
    title: 'ignores a negative acknowledgment of a message that is not in flight, without an answer',
    clauses: ['NACK-010', 'DELIVERY-058'],
    ...optional,
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      const { publisher, queue, subscriber } = await single(ctx);
      await publishSeries(ctx, publisher, queue, 1);
      const delivery = await subscriber.delivery({ queue });
      await subscriber.ack(delivery);
      await refuse(subscriber, delivery, 'HandlerException');
      await refuse(subscriber, { id: ctx.id('never') }, 'DeserializationError');
      await subscriber.expectNothingBeforePong(() => true, 'no frame answers it');
      await expectOnlySentinel(ctx, subscriber, queue, {
        text: 'the settled message is not delivered again',
      });
    },
  },
  {
    id: 'DELIVERY-008a',
    title:
      'dead-letters a message immediately after DeserializationError during the pause before its next attempt',
    clauses: ['DELIVERY-008', 'NACK-005'],
    ...optional,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { queue, id, subscriber, reader, letters } = await withLetters(ctx, { maxRetryAttempts: 3 });
      const held = await subscriber.delivery({ queue });
      await refuse(subscriber, held, 'HandlerException');
      await refuse(subscriber, held, 'DeserializationError');
      const letter = await deadLetter(ctx, reader, { queue: letters, id });
      expectReason(ctx, letter, 'DeserializationError');
      await reader.ack(letter);
      await subscriber.ping();
      ctx.assert.deepEqual(deliveredIds(subscriber, queue), [id], 'attempts made');
    },
  },
] satisfies readonly Check[];

/** Sends a negative acknowledgment. */
function refuse(
  subscriber: Connection,
  { id }: Pick<ReceivedFrame, 'id'>,
  failureReason: string,
): Promise<void> {
  return subscriber.send({ command: Command.Ack, id, headers: { failureReason } });
}

/** Takes the attempt after the n-th refusal: sooner than any ack timeout would bring it. */
function afterPause(
  ctx: CheckContext,
  subscriber: Connection,
  { queue, id }: { readonly queue: string; readonly id: string },
  n: number,
): Promise<ReceivedFrame> {
  const withinMs = pauseMs(ctx, n) + ctx.timing.deliveryMs;
  return subscriber.delivery({ queue, id }, { withinMs, what: `attempt ${n + 1} of the message` });
}

/** A queue with a dead letter queue, a subscriber of each, and a message published. */
async function withLetters(ctx: CheckContext, options: Readonly<Record<string, unknown>>) {
  const letters = ctx.queue('letters');
  const deadLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
  const { publisher, queue, subscriber } = await single(ctx, { ...options, ...deadLetters });
  const reader = await newSubscriber(ctx, letters);
  const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
  return { queue, id, subscriber, reader, letters };
}
