// Checks of how what was under way ends at an orderly stop: negative acknowledgments during the shutdown, repeats of a blocked Publish,
// clients that leave by themselves, and messages in flight that are settled one by one or deleted. Areas: SHUTDOWN, NACK, PUBLISH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { withBlockedPublish } from './blocking.ts';
import { durableBroker } from './shared/durable-broker.ts';
import { noteIfLate } from './shared/lateness.ts';
import { isPingAnswered } from './shared/ping-answered.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { newSubscriber } from './shared/queue-with-subscribers.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { publishSeries } from './shared/subscribers.ts';
import { messageInFlight, stopped } from './shutdown.ts';

export const shutdownEndingChecks: CheckModule = [
  // SHUTDOWN-006 (SHOULD): During a shutdown, the broker handles acks and pings.
  {
    id: 'SHUTDOWN-006b',
    title: 'dead-letters a message in flight after a negative acknowledgment during its shutdown',
    clauses: ['SHUTDOWN-006', 'NACK-006', 'NACK-005', 'SHUTDOWN-003'],
    ...durableBroker,
    requires: { ...durableBroker.requires, capabilities: ['nack'], profiles: ['retry-dlq'] },
    prefers: { timing: { shutdownTimeoutMs: 6000 } },
    accepts: [
      'after the start the message is a dead letter',
      'the broker does not handle the negative acknowledgment, with a warning',
    ],
    evidence: { frames: 16, messages: 2, assertions: 4 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const rows = [];
      for (const [reason, maxRetryAttempts] of [
        ['HandlerException', 1],
        ['DeserializationError', 5],
      ] as const) {
        const letters = await newQueue(ctx, publisher, `letters-${reason}`);
        const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
        const queue = await newQueue(ctx, publisher, `held-${reason}`, { maxRetryAttempts, ...withLetters });
        const subscriber = await newSubscriber(ctx, queue);
        const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
        await subscriber.delivery({ queue, id });
        rows.push({ reason, queue, letters, subscriber, id });
      }
      await ctx.broker.terminate();
      for (const { subscriber, reason, id } of rows) {
        await subscriber.expect('Disconnect', { clause: 'SHUTDOWN-011' });
        await subscriber.send({ command: Command.Ack, id, headers: { failureReason: reason } });
      }
      await ctx.broker.exited(ctx.target.shutdownTimeoutMs + ctx.timing.stopMs);
      await ctx.broker.start();
      const client = await ctx.connect();
      for (const { reason, queue, letters } of rows) {
        const waiting = await messageCountOf(client, queue);
        const dead = await messageCountOf(client, letters);
        const kept = `number of messages in the queue and its dead letter queue after ${reason}`;
        ctx.assert.equal(Number(waiting) + Number(dead), 1, kept, 'SHUTDOWN-003');
        ctx.assert.equal(waiting, 0, `number of messages in the queue after ${reason}`, 'SHUTDOWN-006');
      }
    },
  },
  // SHUTDOWN-007 (SHOULD): During a shutdown, the broker answers every command except Ack, Ping and Disconnect by Error
  // SHUTTING_DOWN.
  {
    id: 'SHUTDOWN-007c',
    title: 'answers also the repeat of a blocked Publish with SHUTTING_DOWN at its shutdown',
    clauses: ['SHUTDOWN-007', 'PUBLISH-007'],
    ...stopped,
    accepts: ['Error SHUTTING_DOWN', 'the broker reads no repeat while the queue is full (not applicable)'],
    evidence: { frames: 12, messages: 1, assertions: 2 },
    run: async (ctx) => {
      await messageInFlight(ctx);
      const { client, publisher, queue, id } = await withBlockedPublish(ctx);
      const repeater = await ctx.connect({ own: true });
      await repeater.send({ command: Command.Publish, id, queue, payload: '"repeated"' });
      const isRead = await isPingAnswered(ctx, repeater, client);
      if (!isRead) ctx.notApplicable('the broker reads no repeat while the queue is full');
      await ctx.broker.terminate();
      for (const [connection, what] of [
        [publisher, 'the answer to the blocked Publish'],
        [repeater, 'the answer to its repeat'],
      ] as const) {
        const answer = await connection.expect((frame) => frame.id === id, { what, clause: 'SHUTDOWN-007' });
        ctx.assert.equal(answer.errorCode, 'SHUTTING_DOWN', `the error code of ${what}`);
      }
    },
  },
  // SHUTDOWN-008 (SHOULD): During a shutdown, the broker immediately closes connections that have no messages in
  // flight, after the Disconnect that SHUTDOWN-004 requires.
  {
    id: 'SHUTDOWN-008c',
    title: 'closes a connection at the ack of its message, while it waits for an ack on another one',
    clauses: ['SHUTDOWN-008', 'SHUTDOWN-006'],
    ...stopped,
    evidence: { frames: 12, messages: 2, assertions: 2 },
    run: async (ctx) => {
      const { publisher, subscriber: holder } = await messageInFlight(ctx);
      const queue = await newQueue(ctx, publisher, 'acknowledged');
      const subscriber = await newSubscriber(ctx, queue);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue, id });
      const stoppedAt = ctx.now();
      await ctx.broker.terminate();
      await subscriber.expect('Disconnect', { clause: 'SHUTDOWN-011' });
      // The broker waits for acks by now.
      await waitUntil(ctx, ctx.now() + 100);
      const ackedAt = ctx.now();
      await subscriber.ack({ id, queue: '' });
      await expectClosedEarly(ctx, subscriber, ackedAt, 'SHUTDOWN-006');
      const { isClosed } = holder;
      noteIfLate(ctx, { sinceMs: stoppedAt, maxMs: ctx.target.shutdownTimeoutMs, step: 'the ack' });
      ctx.assert.equal(isClosed, false, 'the connection of the other message is closed', 'SHUTDOWN-002');
    },
  },
  // SHUTDOWN-012 (SHOULD): During a shutdown, the process ends as soon as no message is in flight, without waiting for
  // the rest of shutdownTimeout.
  {
    id: 'SHUTDOWN-012b',
    title: 'ends when the client of its last message in flight has left, with a Disconnect or without',
    clauses: ['SHUTDOWN-012'],
    ...stopped,
    evidence: { frames: 12, messages: 2, assertions: 2 },
    run: async (ctx) => {
      for (const ending of ['a Disconnect', 'the end of the connection'] as const) {
        if (ending !== 'a Disconnect') await ctx.broker.start();
        const { subscriber } = await messageInFlight(ctx);
        await ctx.broker.terminate();
        await subscriber.expect('Disconnect', { clause: 'SHUTDOWN-011' });
        // The broker waits for acks by now.
        await waitUntil(ctx, ctx.now() + 100);
        const leftAt = ctx.now();
        if (ending === 'a Disconnect') await subscriber.disconnect();
        else await subscriber.end();
        const { shutdownTimeoutMs } = ctx.target;
        await ctx.broker.exited(shutdownTimeoutMs + ctx.timing.stopMs);
        const durationMs = Math.round(ctx.now() - leftAt);
        ctx.assert.ok(durationMs < shutdownTimeoutMs / 2, `the process ends after ${ending} of the client`, {
          expected: 'less than half of shutdownTimeout',
          actual: `${durationMs} ms`,
        });
      }
    },
  },
  // SHUTDOWN-012 (SHOULD): During a shutdown, the process ends as soon as no message is in flight, without waiting for
  // the rest of shutdownTimeout.
  {
    id: 'SHUTDOWN-012c',
    title:
      'does not wait for the ack of a message whose subscriber unsubscribed before its queue was deleted',
    clauses: ['SHUTDOWN-012', 'SHUTDOWN-008'],
    ...stopped,
    evidence: { frames: 7, messages: 1, assertions: 1 },
    run: async (ctx) => {
      const { publisher, subscriber, queue } = await messageInFlight(ctx);
      await subscriber.unsubscribe(queue);
      await publisher.deleteQueue(queue);
      const stoppedAt = ctx.now();
      await ctx.broker.terminate();
      await expectClosedEarly(ctx, subscriber, stoppedAt);
    },
  },
  // SHUTDOWN-006 (SHOULD): During a shutdown, the broker handles acks and pings.
  {
    id: 'SHUTDOWN-006c',
    title: 'waits for the ack of a message that is in the pause before its next attempt',
    clauses: ['SHUTDOWN-006', 'DELIVERY-007'],
    ...stopped,
    requires: { capabilities: ['nack'] },
    prefers: { timing: { ...stopped.prefers.timing, retryDelayMs: 20_000 } },
    evidence: { frames: 6, messages: 1, assertions: 1 },
    run: async (ctx) => {
      const { subscriber, id } = await messageInFlight(ctx);
      const refusedAt = ctx.now();
      await subscriber.send({ command: Command.Ack, id, headers: { failureReason: 'HandlerException' } });
      await subscriber.ping();
      await ctx.broker.terminate();
      await subscriber.expect('Disconnect', { clause: 'SHUTDOWN-011' });
      noteIfLate(ctx, { sinceMs: refusedAt, maxMs: ctx.target.retryDelayMs, step: 'the stop' });
      await expectKeptOpen(ctx, subscriber, { id, clause: 'SHUTDOWN-006' });
    },
  },
  // SHUTDOWN-002 (MUST): The broker waits up to shutdownTimeout, 30 s by default, for the acks of messages in flight
  // before it closes their connections.
  {
    id: 'SHUTDOWN-002c',
    title: 'waits for the ack of a message that is in flight after an Unsubscribe',
    clauses: ['SHUTDOWN-002', 'DELIVERY-062'],
    ...stopped,
    accepts: [
      'the connection stays open',
      'the broker gives messages in flight back at an Unsubscribe (not applicable)',
    ],
    evidence: { frames: 8, messages: 1, assertions: 1 },
    run: async (ctx) => {
      const { publisher, subscriber, queue, id } = await messageInFlight(ctx);
      await subscriber.unsubscribe(queue);
      if ((await messageCountOf(publisher, queue)) !== 0)
        ctx.notApplicable('the broker gives messages in flight back at an Unsubscribe');
      await ctx.broker.terminate();
      await subscriber.expect('Disconnect', { clause: 'SHUTDOWN-011' });
      await expectKeptOpen(ctx, subscriber, { id, clause: 'SHUTDOWN-002' });
    },
  },
] satisfies readonly Check[];

/** Waits until the connection is closed, and asserts that this is long before shutdownTimeout. `possibleCauses`: rules that would explain it if not. */
async function expectClosedEarly(
  ctx: CheckContext,
  connection: Connection,
  sinceMs: number,
  ...possibleCauses: readonly string[]
): Promise<void> {
  const { shutdownTimeoutMs } = ctx.target;
  await connection.closed({ withinMs: shutdownTimeoutMs + ctx.timing.closeMs, clause: 'SHUTDOWN-002' });
  const durationMs = Math.round(ctx.now() - sinceMs);
  ctx.assert.ok(durationMs < shutdownTimeoutMs / 2, 'a connection with nothing in flight is closed', {
    expected: 'less than half of shutdownTimeout',
    actual: `${durationMs} ms`,
    possibleCauses,
  });
}

/** Asserts that a connection that was just sent its Disconnect is still open after a quarter of shutdownTimeout. Then acknowledges its message. */
async function expectKeptOpen(
  ctx: CheckContext,
  connection: Connection,
  { id, clause }: { readonly id: string; readonly clause: string },
): Promise<void> {
  const sinceMs = ctx.now();
  const { shutdownTimeoutMs } = ctx.target;
  await waitUntil(ctx, sinceMs + shutdownTimeoutMs / 4);
  const { isClosed } = connection;
  noteIfLate(ctx, { sinceMs, maxMs: shutdownTimeoutMs / 2, step: 'the wait for the ack' });
  ctx.assert.ok(!isClosed, 'the connection stays open while an ack is awaited on it', {
    clause,
    actual: 'the broker closed it',
  });
  await connection.ack({ id, queue: '' });
}
