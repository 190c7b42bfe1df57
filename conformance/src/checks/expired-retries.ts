// Checks of messages that become too old in the pause before their next attempt, where another subscriber could take it, or where a publisher uses
// the id again. Areas: TTL, PUBLISH.
import type { CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { timeSpan } from './expiry.ts';
import { noteIfLate } from './shared/lateness.ts';
import { newQueue } from './shared/queue-state.ts';
import { newSubscriber } from './shared/queue-with-subscribers.ts';
import { gapMs, longerAckTimeout, reasonOf, takeDeadLetter, waitUntil } from './shared/retry-attempts.ts';
import { idsOf, publishSeries } from './shared/subscribers.ts';

const waitsForAcks = { profile: 'retry-dlq', waits: true, prefers: longerAckTimeout } as const;

/** So long before the next attempt that the message has expired by then even where it expires late. */
const ttlMs = 1000;

export const expiredRetryChecks: CheckModule = [
  // TTL-010 (SHOULD): A message over its TTL expires when it would be sent again, is given back or is recovered.
  {
    id: 'TTL-010d',
    title: 'expires a message older than messageTtl instead of its next attempt at another subscriber',
    clauses: ['TTL-010', 'TTL-001'],
    ...waitsForAcks,
    evidence: { frames: 24, messages: 4, assertions: 4 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const inMode = (mode: number): Promise<Expired> =>
        expiredInPause(ctx, publisher, { mode, audience: 2 });
      for (const { queue, subscribers, letter, acceptedAt } of await Promise.all([inMode(0), inMode(3)])) {
        for (const subscriber of subscribers) await subscriber.ping();
        const received = subscribers.flatMap((subscriber) => subscriber.received);
        const again = received
          .filter((frame) => frame.command === Command.Deliver && frame.queue === queue)
          .sort((first, second) => first.atMs - second.atMs)
          .slice(1);
        const late = again.filter(({ atMs }) => atMs > acceptedAt + ttlMs + ctx.timing.lateMs);
        ctx.assert.deepEqual(
          idsOf(late),
          [],
          'the messages that are delivered when they are too old',
          'TTL-001',
        );
        ctx.should(again.length === 0, 'TTL-010', 'a message that is too old is not sent again');
        ctx.assert.equal(reasonOf(ctx, await letter()), 'MessageExpired', 'header deadLetterReason');
      }
    },
  },
  // PUBLISH-012 (SHOULD): The broker adds a new message for a Publish with the id of a dead letter, to the queue that
  // it comes from and to the dead letter queue.
  {
    id: 'PUBLISH-012f',
    title: 'adds a new message for a Publish with the id of a message that expired before its next attempt',
    clauses: ['PUBLISH-012', 'PUBLISH-011'],
    ...waitsForAcks,
    evidence: { frames: 12, messages: 3, assertions: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const { queue, id, subscribers, letter } = await expiredInPause(ctx, publisher, {
        mode: 0,
        audience: 1,
      });
      const [subscriber] = subscribers as [Connection];
      await subscriber.delivery({ queue, id });
      await letter();
      // Of the same content: two messages with one id look like one that is delivered twice.
      await publisher.publish(queue, '0', { id, headers: { label: id } });
      const again = await subscriber.delivery(
        { queue, id },
        { what: 'the new message', clause: 'PUBLISH-012' },
      );
      ctx.assert.equal(again.id, id, 'the id of the new message');
      await subscriber.ack(again);
    },
  },
];

type Expired = {
  readonly queue: string;
  readonly id: string;
  readonly subscribers: readonly Connection[];
  /** When its Publish was answered. */
  readonly acceptedAt: number;
  /** Waits for its dead letter, and acknowledges it. */
  readonly letter: () => Promise<ReceivedFrame>;
};

/** A message that was sent to one of the subscribers, and is too old when its next attempt is due, which has passed. */
async function expiredInPause(
  ctx: CheckContext,
  publisher: Connection,
  { mode, audience }: { readonly mode: number; readonly audience: number },
): Promise<Expired> {
  const letters = await newQueue(ctx, publisher, `letters-${mode}`);
  const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
  const options = { mode, messageTtl: timeSpan(ttlMs), maxRetryAttempts: 6, ...withLetters };
  const queue = await newQueue(ctx, publisher, `source-${mode}`, options);
  const reader = await newSubscriber(ctx, letters);
  const subscribers: Connection[] = [];
  while (subscribers.length < audience) subscribers.push(await newSubscriber(ctx, queue));
  const sentAt = ctx.now();
  const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
  const acceptedAt = ctx.now();
  noteIfLate(ctx, { sinceMs: sentAt, maxMs: ttlMs / 2, step: 'the Publish to a subscriber' });
  // The time of the next attempt and of all allowed lateness: what is sent again has come by then.
  await waitUntil(ctx, ctx.now() + gapMs(ctx, 1) + ctx.timing.lateMs);
  const letter = async (): Promise<ReceivedFrame> => {
    const deadLetter = await takeDeadLetter(ctx, reader, { queue: letters, id }, 0, 'TTL-007');
    await reader.ack(deadLetter);
    return deadLetter;
  };
  return { queue, id, subscribers, acceptedAt, letter };
}
