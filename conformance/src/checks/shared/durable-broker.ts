// Shared by the checks of durable storage: the broker that they need, stop and crash with a start on the same data, and the draining of a
// queue, which shows all its messages. Areas: DURABLE, SHUTDOWN.
import { setTimeout as pause } from 'node:timers/promises';
import type { Check, CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { display } from '../../expectation.ts';
import { Command } from '../../wire/command.ts';
import type { ReceivedFrame } from '../../wire/frame.ts';
import { messageCountOf } from './queue-state.ts';
import { newSubscriber } from './queue-with-subscribers.ts';

/** Requires a broker with a durable store that no other check uses, and that the check may stop and start. */
export const durableBroker = {
  profile: 'durable',
  isolation: 'restart',
  requires: { configuration: { storage: 'durable' } },
  // A broker may wait for the whole shutdown timeout before it stops, even if nothing is in flight.
  prefers: { timing: { shutdownTimeoutMs: 1000 } },
} as const satisfies Partial<Check>;

const pollIntervalMs = 10;

/** Ends the connections, stops the broker with SIGTERM, and starts it again. */
export async function restartBroker(ctx: CheckContext, ...connections: readonly Connection[]): Promise<void> {
  for (const connection of connections) await connection.end();
  await ctx.broker.terminate();
  await ctx.broker.exited();
  await ctx.broker.start();
}

/** Kills the broker and starts it again. */
export async function crashBroker(ctx: CheckContext): Promise<void> {
  await ctx.broker.crash();
  await ctx.broker.start();
}

/**
 * Receives and acknowledges all messages of the queue until no message waits and no delivery arrives. Returns the deliveries in order. A
 * message that is delivered twice appears twice.
 */
export async function takeAll(ctx: CheckContext, queue: string): Promise<readonly ReceivedFrame[]> {
  const subscriber = await newSubscriber(ctx, queue);
  let until = ctx.now() + ctx.timing.deliveryMs;
  let takenCount = 0;
  const taken = new Set<string>();
  let quietSince: number | undefined;
  // A delivery may still be on its way when messageCount is 0, so one look is not enough.
  while (quietSince === undefined || ctx.now() < quietSince + ctx.timing.silenceMs) {
    const leftCount = await messageCountOf(subscriber, queue);
    await subscriber.ping();
    const newDeliveries = deliveriesOf(subscriber, queue).slice(takenCount);
    for (const delivery of newDeliveries) await subscriber.ack(delivery);
    takenCount += newDeliveries.length;
    // Many messages take their time, and the same message again and again does not empty the queue.
    if (newDeliveries.some(({ id }) => !taken.has(id))) until = ctx.now() + ctx.timing.deliveryMs;
    for (const { id } of newDeliveries) taken.add(id);
    const isQuiet = leftCount === 0 && newDeliveries.length === 0;
    quietSince = isQuiet ? (quietSince ?? ctx.now()) : undefined;
    const isInTime = isQuiet || ctx.now() < until;
    ctx.assert.ok(isInTime, 'the queue becomes empty', {
      expected: 'no message waits, and no delivery arrives',
      actual: leftCount === undefined ? 'the queue does not exist' : `messageCount is ${display(leftCount)}`,
    });
    if (newDeliveries.length === 0) await pause(pollIntervalMs);
  }
  const deliveries = deliveriesOf(subscriber, queue);
  await subscriber.disconnect();
  noteLateAcks(ctx, deliveries);
  return deliveries;
}

/** A broker that a busy machine holds up reads an Ack when its ack timeout is over, and rightly delivers the message again. */
function noteLateAcks(ctx: CheckContext, deliveries: readonly ReceivedFrame[]): void {
  const lastAt = new Map<string, number>();
  for (const { id, atMs } of deliveries) {
    const sinceMs = atMs - (lastAt.get(id) ?? Number.POSITIVE_INFINITY);
    if (sinceMs >= ctx.target.ackTimeoutMs - ctx.timing.earlyMs)
      ctx.noteLateness(`message ${id} came again after its ack timeout`);
    lastAt.set(id, atMs);
  }
}

function deliveriesOf({ received }: Connection, queue: string): readonly ReceivedFrame[] {
  return received.filter((frame) => frame.command === Command.Deliver && frame.queue === queue);
}

/** The sorted texts, for comparing two lists without regard to order. */
export function sorted(texts: readonly string[]): readonly string[] {
  return [...texts].sort();
}
