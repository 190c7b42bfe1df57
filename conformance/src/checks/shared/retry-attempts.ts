// Shared by the checks of retries, expiry and dead letters: short timings, the schedule of attempts, and waits for the broker's timers.
// The earliest allowed time counts from the sending of our own command; the latest one uses the allowances of `ctx.timing`. Areas:
// RETRY, TTL, DLQ, NACK.
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../../check.ts';
import type { ConfigurationRequest } from '../../configuration.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import type { ReceivedFrame } from '../../wire/frame.ts';
import { messageCountIfShown, newQueue, waitForInfo } from './queue-state.ts';
import { newSubscriber } from './queue-with-subscribers.ts';
import { measureSteadily } from './steady-measure.ts';
import { expectOnlySentinel, publishSeries, resetSubscriber } from './subscribers.ts';

/** Short timings. Checks with the same timings share a broker. */
export const shortTimings: ConfigurationRequest = { timing: { ackTimeoutMs: 500, retryDelayMs: 150 } };

/** For times that tell one ack timeout from the second by which a timer, or a delivery, may be late. */
export const longerAckTimeout: ConfigurationRequest = { timing: { ackTimeoutMs: 3000, retryDelayMs: 150 } };

export type MessageName = { readonly queue: string; readonly id: string };

/** The delay after the n-th failed attempt (n is at least 1): retryDelay(n) of RETRY-003. */
export function retryDelayMs({ target }: CheckContext, n: number): number {
  return Math.min(target.retryDelayMs * 2 ** (n - 1), target.maxRetryDelayMs);
}

/** Milliseconds from the n-th attempt to the next one when no ack arrives. */
export function gapMs(ctx: CheckContext, n: number): number {
  return ctx.target.ackTimeoutMs + retryDelayMs(ctx, n);
}

/** Waits for the attempt after the n-th one. Does not judge its lateness. */
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
 * Waits for the dead letter of a message on a connection that has subscribed to the dead letter queue. Takes the first delivery, because it
 * is only recommended that a dead letter keeps its id. `clause`: the requirement by which the dead letter must come, if it is not DLQ-001.
 */
export async function takeDeadLetter(
  ctx: CheckContext,
  subscriber: Connection,
  { queue, id }: MessageName,
  afterMs = 0,
  clause?: string,
): Promise<ReceivedFrame> {
  const withinMs = afterMs + ctx.timing.deliveryMs;
  const about = clause === undefined ? {} : { clause };
  const deadLetter = await subscriber.delivery({ queue }, { withinMs, what: 'the dead letter', ...about });
  ctx.should(deadLetter.id === id, 'DLQ-012', 'a dead letter keeps its id', {
    expected: id,
    actual: deadLetter.id,
  });
  return deadLetter;
}

/** Warns if a dead letter has not the content of its message, which `publishSeries` published first. */
export function shouldHaveContent(ctx: CheckContext, deadLetter: ReceivedFrame, id: string): void {
  const label = deadLetter.header('label');
  const isKept = label === id && deadLetter.text().trim() === '0';
  ctx.should(isKept, 'DLQ-012', 'a dead letter has the content of its message', {
    expected: `payload 0 and header label ${id}`,
    actual: `payload ${deadLetter.text()} and header label ${label ?? 'none'}`,
  });
}

const reasons = [
  'MaxRetriesExceeded',
  'MessageExpired',
  'DeserializationError',
  'HandlerException',
  'QueueOverflow',
];

/** Header deadLetterReason of a dead letter. Asserts that it names a reason. */
export function reasonOf(ctx: CheckContext, deadLetter: ReceivedFrame): string | undefined {
  const reason = deadLetter.header('deadLetterReason');
  ctx.assert.oneOf(reason, reasons, 'header deadLetterReason', 'DLQ-013');
  return reason;
}

/** Asserts header deadLetterReason if the dead letter has it. The header is only recommended. */
export function expectDeadLetterReason(ctx: CheckContext, deadLetter: ReceivedFrame, reason: string): void {
  ctx.acceptable(
    deadLetter.header('deadLetterReason'),
    [
      { title: reason, when: (actual) => actual === reason },
      {
        title: 'none',
        when: (actual) => actual === undefined,
        difference: { clause: 'DLQ-013', text: 'a dead letter has no header deadLetterReason' },
      },
    ],
    'header deadLetterReason',
  );
}

/**
 * Waits until the dead letter queue contains a dead letter and then subscribes. No MUST requires that a client can subscribe to the dead
 * letter queue before the first dead letter.
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

/** Waits until `ctx.now()` reaches `atMs`. Only for checks of the broker's timers, which no frame announces. */
export async function waitUntil(ctx: CheckContext, atMs: number): Promise<void> {
  for (let restMs = atMs - ctx.now(); restMs > 0; restMs = atMs - ctx.now()) await pause(Math.ceil(restMs));
}

/** Asserts that no message in flight to the holder remains: disconnects it, and a new subscriber receives only a later message. */
export async function expectNotRedelivered(
  ctx: CheckContext,
  holder: Connection,
  queue: string,
  what: { readonly text: string; readonly clause?: string },
): Promise<void> {
  const witness = await ctx.connect();
  await resetSubscriber(ctx, holder, { witness, queue, remaining: 0 });
  await witness.subscribe(queue);
  await expectOnlySentinel(ctx, witness, queue, what);
}

/**
 * Waits until the middle of the pause after the third attempt of a message. When an attempt has come by then, because the machine was
 * busy, waits for the middle of the pause after that one. Returns the last attempt.
 */
async function inPauseAfter(
  ctx: CheckContext,
  subscriber: Connection,
  third: ReceivedFrame,
): Promise<ReceivedFrame> {
  let last = third;
  for (const n of [3, 4]) {
    await waitUntil(ctx, last.atMs + ctx.target.ackTimeoutMs + retryDelayMs(ctx, n) / 2);
    await subscriber.ping();
    const newest = lastAttempt(subscriber, third.id) ?? last;
    if (newest.sequence === last.sequence) break;
    last = newest;
  }
  return last;
}

/** The last delivery of the message that has arrived. */
function lastAttempt(subscriber: Connection, id: string): ReceivedFrame | undefined {
  return subscriber.received.findLast((frame) => frame.command === Command.Deliver && frame.id === id);
}

/** Asserts that a new subscriber of the queue receives only a message that is published later. */
export async function expectEmpty(
  ctx: CheckContext,
  queue: string,
  what: { readonly text: string; readonly clause?: string },
): Promise<void> {
  await expectOnlySentinel(ctx, await newSubscriber(ctx, queue), queue, what);
}

/** A new subscriber receives the message that waits alone in the queue, and resets its connection. `before`: how many did so already. */
export async function takeAndLeave(
  ctx: CheckContext,
  client: Connection,
  queue: string,
  before: number,
): Promise<void> {
  const holder = await newSubscriber(ctx, queue);
  const withinMs = retryDelayMs(ctx, Math.max(1, before)) + ctx.timing.deliveryMs;
  const clause = before === 0 ? {} : { clause: 'DELIVERY-038' };
  await holder.delivery({ queue }, { withinMs, ...clause });
  await holder.abort();
  await waitForInfo(ctx, client, queue, { field: 'subscriberCount', value: 0 });
}

/** The time from the second interruption of a delivery to the next delivery, in milliseconds. */
export async function delayAfterInterruptions(
  ctx: CheckContext,
  publisher: Connection,
  name: string,
): Promise<number> {
  const queue = await newQueue(ctx, publisher, name);
  const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
  let leftAt = 0;
  for (const number of ['first', 'second']) {
    const holder = await newSubscriber(ctx, queue);
    await holder.delivery({ queue }, { what: `the ${number} delivery` });
    leftAt = ctx.now();
    await holder.abort();
    await waitForInfo(ctx, publisher, queue, { field: 'messageCount', value: 1 });
  }
  await publisher.subscribe(queue);
  const third = await nextAttempt(ctx, publisher, { queue, id }, 2);
  await publisher.ack(third);
  return third.atMs - leftAt;
}

type AcknowledgedMessage = { readonly queue: string; readonly subscriber: Connection };
/** `again`: the delivery to acknowledge. */
type HeldMessage = { readonly subscriber: Connection; readonly again: ReceivedFrame };

/**
 * A message that is acknowledged during a retry delay. An ack that meets the next attempt does not count, nor one that may have come before
 * the delay began: on a busy machine both happen.
 */
export async function acknowledgedInPause(ctx: CheckContext): Promise<AcknowledgedMessage> {
  const publisher = await ctx.connect();
  const acknowledged = await measureSteadily(
    ctx,
    retryDelayMs(ctx, 3) / 4,
    (number) => ackInPause(ctx, publisher, `paused-${number}`),
    { counts: ({ isInPause }) => isInPause },
  );
  return acknowledged.isInPause ? acknowledged : ctx.notShown('no ack came before the next attempt');
}

/**
 * Gets a delivery by `deliver` and acknowledges it. After an ack that may have reached the broker after the ack timeout, the broker may send
 * the message again: then tries it with another message, at most three times. `number`: of the try, for a queue of its own.
 */
export async function acknowledgedInTime<T extends HeldMessage>(
  ctx: CheckContext,
  deliver: (number: number) => Promise<T>,
): Promise<T> {
  const { ackTimeoutMs } = ctx.target;
  const acknowledge = async (number: number): Promise<{ readonly delivered: T; readonly ackMs: number }> => {
    const delivered = await deliver(number);
    await delivered.subscriber.ack(delivered.again);
    const { atMs } = await delivered.subscriber.ping();
    return { delivered, ackMs: atMs - delivered.again.atMs };
  };
  const isInTime = ({ ackMs }: { readonly ackMs: number }): boolean => ackMs < ackTimeoutMs / 2;
  const { delivered, ackMs } = await measureSteadily(ctx, ackTimeoutMs / 4, acknowledge, {
    counts: isInTime,
  });
  if (ackMs < ackTimeoutMs) return delivered;
  return ctx.notShown('no ack was sent and read within the ack timeout');
}

/** `name`: of a queue of its own, because the subscription of an earlier try may outlive its queue. */
async function ackInPause(
  ctx: CheckContext,
  publisher: Connection,
  name: string,
): Promise<AcknowledgedMessage & { readonly isInPause: boolean }> {
  const queue = await newQueue(ctx, publisher, name, { maxRetryAttempts: 20 });
  const subscriber = await newSubscriber(ctx, queue);
  const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
  await subscriber.delivery({ queue });
  await nextAttempt(ctx, subscriber, { queue, id });
  const third = await nextAttempt(ctx, subscriber, { queue, id }, 2);
  const paused = await inPauseAfter(ctx, subscriber, third);
  await subscriber.ack(paused);
  await subscriber.ping();
  return { queue, subscriber, isInPause: lastAttempt(subscriber, id)?.sequence === paused.sequence };
}
