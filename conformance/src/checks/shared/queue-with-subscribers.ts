// Shared by the checks of delivery modes: a queue with subscribers, the messages that each subscriber received, and acks by the
// subscriber that received a message. Areas: DELIVERY, RETRY, DLQ.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import type { FrameFields } from '../../wire/frame.ts';
import { newQueue, waitForInfo } from './queue-state.ts';
import { idsOf, publishSeries, resetSubscriber, takeAndAck } from './subscribers.ts';

export const fanOutWithAck = { mode: 1 } as const;
export const fanOutWithoutAck = { mode: 2 } as const;
export const priorityBased = { mode: 3 } as const;

/** The modes that are not the default, by name. */
export const otherModes = {
  FanOutWithAck: fanOutWithAck,
  FanOutWithoutAck: fanOutWithoutAck,
  PriorityBased: priorityBased,
} as const;

/** Those of them in which a message is in flight until its ack. */
export const otherModesWithAck = { FanOutWithAck: fanOutWithAck, PriorityBased: priorityBased } as const;

export type OptionFields = Readonly<Record<string, unknown>>;

export type QueueWithSubscribers = {
  readonly publisher: Connection;
  readonly queue: string;
  readonly subscribers: readonly Connection[];
};

/** A queue with this many subscribers, which subscribe one after another, and a publisher that does not subscribe. */
export async function queueWithSubscribers(
  ctx: CheckContext,
  count: number,
  options?: OptionFields,
): Promise<QueueWithSubscribers> {
  const publisher = await ctx.connect();
  const queue = await newQueue(ctx, publisher, 'audience', options);
  const subscribers: Connection[] = [];
  for (let index = 0; index < count; index += 1) subscribers.push(await newSubscriber(ctx, queue));
  return { publisher, queue, subscribers };
}

/** A queue with two subscribers. */
export async function queueWithTwoSubscribers(
  ctx: CheckContext,
  options?: OptionFields,
): Promise<
  Omit<QueueWithSubscribers, 'subscribers'> & { readonly first: Connection; readonly second: Connection }
> {
  const { publisher, queue } = await queueWithSubscribers(ctx, 0, options);
  const first = await newSubscriber(ctx, queue);
  return { publisher, queue, first, second: await newSubscriber(ctx, queue) };
}

/** A queue with one subscriber. */
export async function queueWithOneSubscriber(
  ctx: CheckContext,
  options?: OptionFields,
): Promise<Omit<QueueWithSubscribers, 'subscribers'> & { readonly subscriber: Connection }> {
  const { publisher, queue } = await queueWithSubscribers(ctx, 0, options);
  return { publisher, queue, subscriber: await newSubscriber(ctx, queue) };
}

/** A new connection that has subscribed to the queue. */
export async function newSubscriber(
  ctx: CheckContext,
  queue: string,
  headers?: FrameFields['headers'],
): Promise<Connection> {
  const subscriber = await ctx.connect({ own: true });
  await subscriber.subscribe(queue, headers === undefined ? {} : { headers });
  return subscriber;
}

/** The ids of the messages that the subscriber received from the queue, in order. */
export function deliveredIds(subscriber: Connection, queue: string): readonly string[] {
  return idsOf(
    subscriber.received.filter((frame) => frame.commandName === 'Deliver' && frame.queue === queue),
  );
}

/** Waits until one of the subscribers has received the message, and returns this subscriber. */
export async function receiverOf(
  ctx: CheckContext,
  subscribers: readonly Connection[],
  id: string,
): Promise<Connection> {
  const until = ctx.now() + ctx.timing.deliveryMs;
  for (;;) {
    await Promise.all(subscribers.map((subscriber) => subscriber.ping()));
    const receiver = subscribers.find(({ received }) => received.some((frame) => frame.id === id));
    if (receiver !== undefined) return receiver;
    ctx.assert.ok(ctx.now() < until, 'one of the subscribers receives the message', {
      expected: `Deliver with id ${id}`,
      actual: `no such Deliver within ${ctx.timing.deliveryMs} ms`,
    });
  }
}

/** Acknowledges the message on the connection to which it was delivered. */
export async function ackByReceiver(
  ctx: CheckContext,
  subscribers: readonly Connection[],
  id: string,
): Promise<void> {
  const receiver = await receiverOf(ctx, subscribers, id);
  await receiver.ack({ id, queue: '' });
}

/** Asserts that all messages come in their order after a subscriber has disconnected that had some of them. */
export async function expectOldPlaces(
  ctx: CheckContext,
  client: Connection,
  queue: string,
  what: string,
): Promise<void> {
  const holder = await newSubscriber(ctx, queue);
  // More than the first window of a subscriber, so that some have never been sent.
  const ids = await publishSeries(ctx, client, queue, 12);
  await holder.delivery({ queue });
  await holder.ping();
  await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
  await waitForInfo(ctx, client, queue, { field: 'messageCount', value: ids.length });
  await client.subscribe(queue);
  ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, ids.length)), ids, what);
}
