// What the checks ask a queue: how many messages wait, how many subscribers there are; and the waits for what a broker may notice
// a moment later, such as the end of another connection. Areas: QUEUE, DELIVERY.
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { inQueueInfo, requiredField } from './required-fields.ts';

/** Between two looks at something that changes on its own: looking without a pause would load the broker under test. */
const pollIntervalMs = 15;

/** A queue of its own, created with the server's defaults, or with these options. */
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

/** The messageCount of a queue; undefined when there is no such queue. */
export function messageCountOf(connection: Connection, queue: string): Promise<unknown> {
  return infoField(connection, queue, 'messageCount');
}

/** A field of QueueInfo, which must be there; undefined when there is no such queue. */
export async function infoField(connection: Connection, queue: string, field: string): Promise<unknown> {
  const info = await connection.queueInfo(queue);
  return info === undefined ? undefined : requiredField(info, field, inQueueInfo);
}

/** The messageCount, where there is one: for waits that judge nothing and have another end. */
export async function messageCountIfShown(connection: Connection, queue: string): Promise<unknown> {
  return (await connection.queueInfo(queue))?.['messageCount'];
}

/**
 * Ends the check as not shown unless the info of a queue shows these fields: where it does not, that other fields are absent or equal
 * decides nothing.
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
 * Shows that nothing is stored in the queue: messageCount is 0, and becomes 1 with the next message. Where it does not, a count of 0
 * decides nothing, and the check ends as not shown.
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
 * Gives a broker that makes deliveries a moment later than it answers the time for them: until nothing waits in the queue, at most
 * `ctx.timing.silenceMs`. Judges nothing.
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

/** Waits until the queue's info has this value, at most `ctx.timing.answerMs`. */
export async function waitForInfo(
  ctx: CheckContext,
  connection: Connection,
  queue: string,
  wanted: { readonly field: 'messageCount' | 'subscriberCount'; readonly value: number },
): Promise<void> {
  const look = (): Promise<unknown> => infoField(connection, queue, wanted.field);
  await eventually(ctx, look, (seen) => seen === wanted.value, `${wanted.field} becomes ${wanted.value}`);
}

/** Looks again and again until what is seen is accepted; fails with the last that was seen. */
export async function eventually<T>(
  ctx: CheckContext,
  look: () => Promise<T>,
  accept: (seen: T) => boolean,
  what: string,
): Promise<T> {
  const until = ctx.now() + ctx.timing.answerMs;
  let seen = await look();
  while (!accept(seen) && ctx.now() < until) {
    await pause(pollIntervalMs);
    seen = await look();
  }
  ctx.assert.ok(accept(seen), what, { actual: seen });
  return seen;
}
