// Reads QueueInfo: numbers of waiting messages and subscribers. Waits for values that the broker may update later, such as
// subscriberCount after a connection ends. Areas: QUEUE, DELIVERY.
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { inQueueInfo, requiredField } from './required-fields.ts';

/** Time between two polls, so that polling does not load the broker under test. */
const pollIntervalMs = 15;

/** Creates a queue for this check, with the server's defaults or with these options. Returns its name. */
export async function newQueue(
  ctx: CheckContext,
  connection: Connection,
  name: string,
  options?: Readonly<Record<string, unknown>>,
): Promise<string> {
  const queue = ctx.queue(name);
  await connection.createQueue(queue, options);
  return queue;
}

/** messageCount of a queue; undefined when the queue does not exist. */
export function messageCountOf(connection: Connection, queue: string): Promise<unknown> {
  return infoField(connection, queue, 'messageCount');
}

/** A required field of QueueInfo; undefined when the queue does not exist. */
export async function infoField(connection: Connection, queue: string, field: string): Promise<unknown> {
  const info = await connection.queueInfo(queue);
  return info === undefined ? undefined : requiredField(info, field, inQueueInfo);
}

/** messageCount, or undefined when QueueInfo does not contain it. For waits that assert nothing. */
export async function messageCountIfShown(connection: Connection, queue: string): Promise<unknown> {
  return (await connection.queueInfo(queue))?.['messageCount'];
}

/**
 * Ends the check as not shown unless QueueInfo contains these values. Without them, absent or equal fields in QueueInfo prove nothing.
 */
export function requireInfoShows(
  ctx: CheckContext,
  info: Readonly<Record<string, unknown>> | undefined,
  wanted: Readonly<Record<string, unknown>>,
): void {
  const isShown = Object.entries(wanted).every(([field, value]) => info?.[field] === value);
  if (!isShown) ctx.notShown(`QueueInfo does not show ${JSON.stringify(wanted)} of a queue that has it`);
}

/**
 * Asserts that messageCount is 0, and requires that it becomes 1 with the next message. Otherwise a count of 0 proves nothing: the check
 * ends as not shown.
 */
export async function expectNothingStored(
  ctx: CheckContext,
  connection: Connection,
  queue: string,
  what: { readonly text: string; readonly clause?: string },
): Promise<void> {
  ctx.assert.equal(await messageCountOf(connection, queue), 0, what.text, what.clause);
  await connection.publish(queue, '"counted"');
  requireInfoShows(ctx, await connection.queueInfo(queue), { messageCount: 1 });
}

/**
 * Waits until no message waits in the queue, at most `ctx.timing.silenceMs`, for brokers that deliver some time after PublishAck. Asserts
 * nothing.
 */
export async function waitForDeliveries(
  ctx: CheckContext,
  connection: Connection,
  queue: string,
): Promise<void> {
  const until = ctx.now() + ctx.timing.silenceMs;
  while ((await messageCountIfShown(connection, queue)) !== 0 && ctx.now() < until)
    await pause(pollIntervalMs);
}

/** Waits until QueueInfo has this value, at most `ctx.timing.answerMs`. */
export async function waitForInfo(
  ctx: CheckContext,
  connection: Connection,
  queue: string,
  wanted: { readonly field: 'messageCount' | 'subscriberCount'; readonly value: number },
): Promise<void> {
  const look = (): Promise<unknown> => infoField(connection, queue, wanted.field);
  await eventually(ctx, look, (seen) => seen === wanted.value, {
    text: `${wanted.field} becomes ${wanted.value}`,
    causesOf: () => countRules[wanted.field],
  });
}

/** What a count that does not become as expected may come from. */
const countRules = {
  messageCount: ['QUEUE-025', 'DELIVERY-034', 'DELIVERY-002', 'DELIVERY-038'],
  subscriberCount: ['QUEUE-026'],
} as const;

/**
 * Polls until the value is accepted, at most `ctx.timing.answerMs`. Fails with the last value; `causesOf` gives the other requirements whose
 * breach would explain it.
 */
export async function eventually<T>(
  ctx: CheckContext,
  look: () => Promise<T>,
  accept: (seen: T) => boolean,
  what: {
    readonly text: string;
    readonly clause?: string | undefined;
    readonly causesOf?: (seen: T) => readonly string[];
  },
): Promise<T> {
  const until = ctx.now() + ctx.timing.answerMs;
  let seen = await look();
  while (!accept(seen) && ctx.now() < until) {
    await pause(pollIntervalMs);
    seen = await look();
  }
  const possibleCauses = what.causesOf?.(seen) ?? [];
  const clause = what.clause === undefined ? {} : { clause: what.clause };
  ctx.assert.ok(accept(seen), what.text, { actual: seen, possibleCauses, ...clause });
  return seen;
}
