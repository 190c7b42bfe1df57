// Checks of what becomes of a message that a subscriber refused, where the refusal, an earlier failure or another dead letter is special: it
// becomes a dead letter like any other. They run when the target declares capability nack. Areas: DELIVERY, NACK, PUBLISH.
import type { Check, CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import { noteIfLate } from './shared/lateness.ts';
import { eventually, messageCountIfShown, newQueue } from './shared/queue-state.ts';
import { newSubscriber, queueWithOneSubscriber } from './shared/queue-with-subscribers.ts';
import {
  expectDeadLetterReason,
  nextAttempt,
  shortTimings,
  takeDeadLetter,
} from './shared/retry-attempts.ts';
import { publishSeries, resetSubscriber } from './shared/subscribers.ts';

const optional = { profile: 'retry-dlq', requires: { capabilities: ['nack'] } } as const;

export const refusedMessageChecks: CheckModule = [
  // DELIVERY-066 (SHOULD): An Ack with header messageId acknowledges the delivery whose message id equals that header.
  {
    id: 'DELIVERY-066c',
    title: 'takes an Ack with headers messageId and failureReason for a negative acknowledgment',
    clauses: ['DELIVERY-066', 'NACK-001', 'NACK-005'],
    ...optional,
    evidence: { frames: 8, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const letters = ctx.queue('letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, withLetters);
      const [messageId = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue, id: messageId });
      const headers = { messageId, failureReason: 'DeserializationError' };
      await subscriber.send({ command: Command.Ack, id: ctx.id('nack'), headers });
      await subscriber.ping();
      // A message that was not refused waits again now.
      await resetSubscriber(ctx, subscriber, { witness: publisher, queue, remaining: 0 });
      const counts = async () => ({
        waiting: await messageCountIfShown(publisher, queue),
        deadLetters: await messageCountIfShown(publisher, letters),
      });
      const what = { text: 'the refused message is a dead letter or waits', clause: 'NACK-001' };
      const isKept = (seen: Awaited<ReturnType<typeof counts>>): boolean =>
        seen.waiting === 1 || seen.deadLetters === 1;
      const { deadLetters } = await eventually(ctx, counts, isKept, what);
      ctx.assert.equal(deadLetters, 1, 'number of dead letters');
    },
  },
  // NACK-007 (MUST): A broker that announces nack, and that sends header deadLetterReason, gives a dead letter the
  // reason of its last failure.
  {
    id: 'NACK-007b',
    title: 'sends a dead letter with the reason of an ack that did not come after a HandlerException',
    clauses: ['NACK-007', 'DLQ-018', 'DLQ-013'],
    ...optional,
    waits: true,
    prefers: shortTimings,
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      const letters = ctx.queue('letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const options = { ...withLetters, maxRetryAttempts: 2 };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, options);
      const reader = await newSubscriber(ctx, letters);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const { atMs: sinceMs } = await subscriber.delivery({ queue });
      await subscriber.send({ command: Command.Ack, id, headers: { failureReason: 'HandlerException' } });
      await subscriber.ping();
      noteIfLate(ctx, { sinceMs, maxMs: ctx.target.ackTimeoutMs, step: 'the negative acknowledgment' });
      await nextAttempt(ctx, subscriber, { queue, id });
      const letter = { queue: letters, id };
      const deadLetter = await takeDeadLetter(ctx, reader, letter, ctx.target.ackTimeoutMs, 'RETRY-008');
      expectDeadLetterReason(ctx, deadLetter, 'MaxRetriesExceeded');
      await reader.ack(deadLetter);
    },
  },
  // PUBLISH-012 (SHOULD): The broker adds a new message for a Publish with the id of a dead letter, to the queue that
  // it comes from and to the dead letter queue.
  {
    id: 'PUBLISH-012e',
    title: 'dead-letters a message with the id of a dead letter of the same queue, and one of another queue',
    clauses: ['PUBLISH-012', 'NACK-005', 'PUBLISH-010'],
    ...optional,
    evidence: { frames: 15, messages: 3, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = ctx.queue('letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const first = await newQueue(ctx, client, 'first', withLetters);
      const second = await newQueue(ctx, client, 'second', withLetters);
      const subscriber = await newSubscriber(ctx, first);
      await subscriber.subscribe(second);
      const id = ctx.id('m');
      for (const [queue, count, clause] of [
        [first, 1, 'DELIVERY-010'],
        [first, 2, 'PUBLISH-012'],
        [second, 3, 'PUBLISH-010'],
      ] as const) {
        await client.publish(queue, '1', { id });
        await subscriber.delivery({ queue, id }, { what: `the message for dead letter ${count}`, clause });
        const failureReason = 'DeserializationError';
        await subscriber.send({ command: Command.Ack, id, headers: { failureReason } });
        const look = (): Promise<unknown> => messageCountIfShown(client, letters);
        const what = { text: `the number of dead letters becomes ${count}`, clause: 'NACK-005' };
        await eventually(ctx, look, (seen) => seen === count, what);
      }
      // None is delivered: messages with one id look like one that is delivered several times.
      await client.deleteQueue(letters);
    },
  },
] satisfies readonly Check[];
