// What the checks of retries, expiry and dead letters share: short timings, the schedule of the attempts, and waits for the broker's
// timers. Early is judged by what cannot have been earlier (the sending of our own command), late by the table of waits.
// Areas: RETRY, TTL, DLQ, NACK.
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../../check.ts';
import type { ConfigurationRequest } from '../../configuration.ts';
import type { Connection } from '../../connection.ts';
import type { ReceivedFrame } from '../../wire/frame.ts';
import { messageCountIfShown } from './queue-state.ts';
import { newSubscriber } from './queue-with-subscribers.ts';
import { expectOnlySentinel, resetSubscriber } from './subscribers.ts';

/** The same for all that can do with it, so that they share a broker. */
export const shortTimings: ConfigurationRequest = { timing: { ackTimeoutMs: 500, retryDelayMs: 150 } };

export type MessageName = { readonly queue: string; readonly id: string };

/** The pause after the n-th failed attempt, 1 or more, below the longest one. */
export function retryDelayMs({ target }: CheckContext, n: number): number {
  return target.retryDelayMs * 2 ** (n - 1);
}

/** Milliseconds from the n-th attempt to the next one, where no ack comes. */
export function gapMs(ctx: CheckContext, n: number): number {
  return ctx.target.ackTimeoutMs + retryDelayMs(ctx, n);
}

/** Takes the attempt that follows the n-th one. How late it may be is another question. */
export function nextAttempt(
  ctx: CheckContext,
  subscriber: Connection,
  { queue, id }: MessageName,
  n = 1,
): Promise<ReceivedFrame> {
  const withinMs = gapMs(ctx, n) + ctx.timing.deliveryMs;
  return subscriber.delivery({ queue, id }, { withinMs, what: `attempt ${n + 1} of the message` });
}

/**
 * Takes the dead letter of a message on a connection that has subscribed to the dead letter queue: the first one that comes, since that
 * it keeps its id is only recommended.
 */
export async function takeDeadLetter(
  ctx: CheckContext,
  subscriber: Connection,
  { queue, id }: MessageName,
  afterMs = 0,
): Promise<ReceivedFrame> {
  const withinMs = afterMs + ctx.timing.deliveryMs;
  const deadLetter = await subscriber.delivery({ queue }, { withinMs, what: 'the dead letter' });
  ctx.should(deadLetter.id === id, 'DLQ-012', 'a dead letter keeps its id', {
    expected: id,
    actual: deadLetter.id,
  });
  return deadLetter;
}

/** The reason that a dead letter tells, where it tells one: that it does is only recommended. */
export function expectDeadLetterReason(ctx: CheckContext, deadLetter: ReceivedFrame, reason: string): void {
  ctx.acceptable(
    deadLetter.header('deadLetterReason'),
    [
      { title: reason, when: (actual) => actual === reason },
      {
        title: 'none',
        when: (actual) => actual === undefined,
        difference: { clause: 'DLQ-013', text: 'a dead letter does not tell its reason' },
      },
    ],
    'the reason of the dead letter',
  );
}

/**
 * Waits until a dead letter is there, and only then subscribes: whether the dead letter queue can be subscribed before its first
 * letter is no MUST.
 */
export async function subscribeToDeadLetters(
  ctx: CheckContext,
  deadLetterQueue: string,
  afterMs = 0,
): Promise<Connection> {
  const client = await ctx.connect({ own: true });
  const limit = ctx.now() + afterMs + ctx.timing.deliveryMs;
  while ((await messageCountIfShown(client, deadLetterQueue)) !== 1 && ctx.now() < limit)
    await waitUntil(ctx, ctx.now() + 15);
  await client.subscribe(deadLetterQueue);
  return client;
}

/** Lets time pass until the instant (`ctx.now`): where the broker's clock is what a check is about, nothing else tells it. */
export async function waitUntil(ctx: CheckContext, atMs: number): Promise<void> {
  for (let restMs = atMs - ctx.now(); restMs > 0; restMs = atMs - ctx.now()) await pause(Math.ceil(restMs));
}

/** Shows at once that nothing is left of what a subscriber was sent: it leaves, and another one gets only a later message. */
export async function expectNotRedelivered(
  ctx: CheckContext,
  holder: Connection,
  queue: string,
  what: { readonly text: string; readonly clause?: string },
): Promise<void> {
  const witness = await ctx.connect();
  await resetSubscriber(ctx, holder, { witness, queue, left: 0 });
  await witness.subscribe(queue);
  await expectOnlySentinel(ctx, witness, queue, what);
}

/** Shows that the queue has nothing to deliver to a subscriber that comes now. */
export async function expectEmpty(
  ctx: CheckContext,
  queue: string,
  what: { readonly text: string; readonly clause?: string },
): Promise<void> {
  await expectOnlySentinel(ctx, await newSubscriber(ctx, queue), queue, what);
}
