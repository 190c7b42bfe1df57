// Shared by the checks of delivery: publishes a series of messages, acknowledges deliveries one by one (for a window of one message), and
// resets a subscriber and waits until the broker no longer counts it. Areas: DELIVERY, QUEUE, PUBLISH.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import type { ReceivedFrame } from '../../wire/frame.ts';
import { groupWithinRate, keepRate } from './publish-rate.ts';
import { waitForDeliveries, waitForInfo } from './queue-state.ts';

/** Larger than the window of any known broker. */
export const maxKnownWindow = 300;

/**
 * When a check that fills a window must have done: the messages that it holds meanwhile must not reach the ack timeout, which a broker may
 * take for shorter than configured (RETRY-003).
 */
export function fillingEnds(ctx: CheckContext): number {
  return ctx.now() + ctx.target.ackTimeoutMs / 4;
}

/**
 * Publishes numbered messages, each after the previous one is confirmed. Every other one has a header, so that it is seen where headers are lost
 * (watch/), and so that messages with and without headers are tried. Returns their ids in order.
 */
export async function publishSeries(
  ctx: CheckContext,
  publisher: Connection,
  queue: string,
  count: number,
): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => ctx.id('m'));
  for (const [index, id] of ids.entries())
    await publisher.publish(queue, String(index), {
      id,
      ...(index % 2 === 0 ? { headers: { label: id } } : {}),
    });
  return ids;
}

/** Messages that are sent before their confirmations are waited for. */
const groupSize = 200;

/** Publishes very many small messages, which a broker may handle in several steps. Returns their ids in order. */
export async function publishMany(
  ctx: CheckContext,
  publisher: Connection,
  queue: string,
  count: number,
  payloadOf: (index: number) => string = () => '1',
): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => ctx.id('m'));
  const [size, sinceMs] = [groupWithinRate(ctx, groupSize), ctx.now()];
  for (let start = 0; start < count; start += size) {
    const group = ids.slice(start, start + size);
    await keepRate(ctx, { sinceMs, count: start });
    await Promise.all(group.map((id, at) => publisher.publish(queue, payloadOf(start + at), { id })));
  }
  return ids;
}

/** Receives this many deliveries of the queue and acknowledges each before it waits for the next. */
export async function takeAndAck(
  subscriber: Connection,
  queue: string,
  count: number,
): Promise<readonly ReceivedFrame[]> {
  const deliveries: ReceivedFrame[] = [];
  while (deliveries.length < count) {
    const delivery = await subscriber.delivery({ queue });
    await subscriber.ack(delivery);
    deliveries.push(delivery);
  }
  return deliveries;
}

export function idsOf(frames: readonly ReceivedFrame[]): readonly string[] {
  return frames.map(({ id }) => id);
}

/** Resets a subscriber's connection and waits until the broker counts only `left` subscribers of the queue. */
export async function resetSubscriber(
  ctx: CheckContext,
  subscriber: Connection,
  expectation: { readonly witness: Connection; readonly queue: string; readonly remaining: number },
): Promise<void> {
  await subscriber.abort();
  const { witness, queue, remaining } = expectation;
  await waitForInfo(ctx, witness, queue, { field: 'subscriberCount', value: remaining });
}

/**
 * Asserts that the queue has no other message to deliver: publishes a last message, acknowledges it, and receives no other message of the queue
 * before the Pong that follows. The last message itself may come again: on a busy machine its ack can arrive after the ack timeout.
 */
export async function expectOnlySentinel(
  ctx: CheckContext,
  subscriber: Connection,
  queue: string,
  what: { readonly text: string; readonly clause?: string },
): Promise<void> {
  const id = ctx.id('sentinel');
  await subscriber.publish(queue, '"sentinel"', { id });
  const next = await subscriber.delivery({ queue }, { what: 'the last message' });
  ctx.assert.equal(next.id, id, what.text, what.clause);
  await subscriber.ack(next);
  await waitForDeliveries(ctx, subscriber, queue);
  const isAnother = (frame: ReceivedFrame): boolean =>
    frame.command === Command.Deliver && frame.queue === queue && frame.id !== id;
  await subscriber.expectNothingBeforePong(isAnother, what.text, what.clause);
}
