// Checks of messageTtl: what is too old is not delivered any more, leaves its queue by itself and in time, and is not touched while it is
// in flight. The times are those of single queues, so these checks need no settings but where acks time out. Area: TTL.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { deliveredIds, newSubscriber } from './shared/queue-with-subscribers.ts';
import {
  expectEmpty,
  expectNotRedelivered,
  gapMs,
  shortTimings,
  takeDeadLetter,
  waitUntil,
} from './shared/retry-attempts.ts';
import { expectOnlySentinel, publishSeries, takeAndAck } from './shared/subscribers.ts';

const waits = { profile: 'retry-dlq', waits: true } as const;
const waitsForAcks = { ...waits, prefers: shortTimings } as const;

/** Below the shortest ack timeout, and long enough for a message to be delivered in it. */
const ttlMs = 300;
/** Clocks may be a little coarser than milliseconds. */
const clockMarginMs = 20;

const waitingMessages: CheckModule = [
  {
    id: 'TTL-001a',
    title: 'does not deliver a message that has become older than the messageTtl of its queue',
    clauses: ['TTL-001', 'TTL-002'],
    ...waits,
    accepts: ['from its messageTtl on', 'from some time later, at most 1 s, with a warning'],
    evidence: { frames: 10, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const graceMs of [clockMarginMs, clockMarginMs + ctx.timing.lateMs]) {
        const queue = await newQueue(ctx, client, `timed-${graceMs}`, { messageTtl: timeSpan(ttlMs) });
        const { atMs: acceptedAt, id } = await client.publish(queue, '1');
        await waitUntil(ctx, acceptedAt + ttlMs + graceMs);
        await client.subscribe(queue);
        if (graceMs === clockMarginMs) await warnIfDelivered(ctx, client, { queue, id });
        else await expectOnlySentinel(ctx, client, queue, { text: 'the old message is not delivered' });
      }
    },
  },
  {
    id: 'TTL-001b',
    title: 'delivers a message that is younger than the messageTtl of its queue',
    clauses: ['TTL-001', 'TTL-002', 'RETRY-013'],
    ...waits,
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      // Long enough for a subscriber to come in time on a busy machine.
      const queue = await newQueue(ctx, client, 'young', { messageTtl: timeSpan(6000) });
      const [id] = await publishSeries(ctx, client, queue, 1);
      await waitUntil(ctx, ctx.now() + 700);
      await client.subscribe(queue);
      ctx.assert.equal((await takeAndAck(client, queue, 1))[0]?.id, id, 'the message delivered');
    },
  },
  {
    id: 'TTL-005a',
    title: 'removes an expired message from its queue in time, without any subscriber',
    clauses: ['TTL-005', 'TTL-002', 'TTL-008', 'RETRY-013', 'RETRY-014'],
    ...waits,
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const longMs = 1000;
      const queue = await newQueue(ctx, client, 'alone', { messageTtl: timeSpan(longMs) });
      const sentAt = ctx.now();
      await client.publish(queue, '1');
      ctx.assert.equal(await messageCountOf(client, queue), 1, 'messages that wait at first');
      const limit = sentAt + longMs + ctx.timing.lateMs + ctx.timing.answerMs;
      while ((await messageCountOf(client, queue)) !== 0 && ctx.now() < limit) {
        await waitUntil(ctx, ctx.now() + 15);
      }
      const { earlyMs, lateMs } = ctx.timing;
      ctx.assert.betweenMs(
        ctx.now() - sentAt,
        longMs - earlyMs,
        longMs + lateMs,
        'time until the message is removed',
      );
    },
  },
  {
    id: 'TTL-012a',
    title: 'keeps the messages of a queue without messageTtl while those of another expire',
    clauses: ['TTL-012', 'QUEUE-004'],
    ...waits,
    evidence: { frames: 12, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const timed = await newQueue(ctx, client, 'timed', { messageTtl: timeSpan(ttlMs) });
      const untimed = await newQueue(ctx, client, 'untimed', {});
      const [id] = await publishSeries(ctx, client, untimed, 1);
      await publishSeries(ctx, client, timed, 1);
      await waitUntilExpired(ctx);
      await expectEmpty(ctx, timed, { text: 'the old message is not delivered', clause: 'TTL-001' });
      await client.subscribe(untimed);
      ctx.assert.equal((await takeAndAck(client, untimed, 1))[0]?.id, id, 'the message that has no TTL');
    },
  },
  {
    id: 'TTL-007a',
    title: 'dead-letters an expired message with reason MessageExpired, and not earlier',
    clauses: ['TTL-007', 'TTL-005', 'DLQ-013', 'DLQ-015'],
    ...waits,
    evidence: { frames: 7, messages: 1 },
    run: async (ctx) => {
      const { client, queue, deadLetterQueue, reader } = await withDeadLetterQueue(ctx, {
        messageTtl: timeSpan(ttlMs),
      });
      const sentAt = ctx.now();
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id }, ttlMs);
      await reader.ack(deadLetter);
      const { earlyMs, lateMs } = ctx.timing;
      ctx.assert.betweenMs(
        deadLetter.atMs - sentAt,
        ttlMs - earlyMs,
        ttlMs + lateMs,
        'when it is dead-lettered',
      );
      ctx.assert.equal(deadLetter.header('deadLetterReason'), 'MessageExpired', 'the reason');
      ctx.assert.equal(deadLetter.header('deadLetterAttempts'), '0', 'the attempts that failed');
    },
  },
  {
    id: 'TTL-003a',
    title: 'starts the age of a dead letter when it is dead-lettered',
    clauses: ['TTL-003', 'DLQ-007'],
    ...waits,
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = await newQueue(ctx, client, 'timed-letters', { messageTtl: timeSpan(1500) });
      const deadLetterOptions = { enableDeadLetterQueue: true, deadLetterQueueName: deadLetterQueue };
      const queue = await newQueue(ctx, client, 'timed', {
        messageTtl: timeSpan(1000),
        ...deadLetterOptions,
      });
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      await waitUntil(ctx, ctx.now() + 1500 + clockMarginMs);
      await client.subscribe(deadLetterQueue);
      // It is younger than the TTL of the queue that it is in now.
      const deadLetter = await takeDeadLetter(ctx, client, { queue: deadLetterQueue, id });
      ctx.assert.deepEqual(deadLetter.json(), 0, 'the value of the dead letter');
      await client.ack(deadLetter);
    },
  },
  {
    id: 'DLQ-020a',
    title: 'does not dead-letter messages of a queue whose dead letter queue is disabled',
    clauses: ['DLQ-020', 'TTL-008'],
    ...waits,
    evidence: { frames: 12, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = await newQueue(ctx, client, 'letters');
      const options = { messageTtl: timeSpan(ttlMs), deadLetterQueueName: deadLetterQueue };
      const queue = await newQueue(ctx, client, 'off', options);
      await publishSeries(ctx, client, queue, 1);
      await waitUntilExpired(ctx);
      await expectEmpty(ctx, queue, { text: 'the old message is not delivered', clause: 'TTL-001' });
      await expectEmpty(ctx, deadLetterQueue, { text: 'nothing is dead-lettered' });
    },
  },
] satisfies readonly Check[];

const inFlight: CheckModule = [
  {
    id: 'TTL-009a',
    title: 'does not let a message in flight expire: an ack in time settles it',
    clauses: ['TTL-009', 'DELIVERY-001'],
    ...waits,
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const { queue, deadLetterQueue, reader, holder, held } = await withHeldMessage(ctx, {});
      await waitUntil(ctx, held.atMs + ttlMs + clockMarginMs);
      await holder.ack(held);
      await holder.ping();
      await expectNotRedelivered(ctx, holder, queue, { text: 'the ack settles it' });
      await expectOnlySentinel(ctx, reader, deadLetterQueue, { text: 'it is not dead-lettered' });
    },
  },
  {
    id: 'TTL-010a',
    title: 'lets a message over its messageTtl expire when it would be sent again',
    clauses: ['TTL-010', 'TTL-001', 'TTL-007'],
    ...waitsForAcks,
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const { queue, deadLetterQueue, reader, holder, held } = await withHeldMessage(ctx, {});
      const deadLetter = await takeDeadLetter(
        ctx,
        reader,
        { queue: deadLetterQueue, id: held.id },
        gapMs(ctx, 1),
      );
      await reader.ack(deadLetter);
      await expectOnlySentinel(ctx, holder, queue, { text: 'it is not sent again', clause: 'TTL-001' });
      ctx.assert.equal(deliveredIds(holder, queue).length, 2, 'deliveries, the last message included');
      ctx.assert.equal(deadLetter.header('deadLetterReason'), 'MessageExpired', 'the reason');
    },
  },
  {
    id: 'TTL-010b',
    title: 'lets a message over its messageTtl expire when it is given back',
    clauses: ['TTL-010', 'TTL-001', 'TTL-007'],
    ...waits,
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const { queue, deadLetterQueue, reader, holder, held } = await withHeldMessage(ctx, {});
      await waitUntil(ctx, held.atMs + ttlMs + clockMarginMs);
      await holder.abort();
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id: held.id });
      await reader.ack(deadLetter);
      ctx.assert.equal(deadLetter.header('deadLetterReason'), 'MessageExpired', 'the reason');
      await expectEmpty(ctx, queue, { text: 'it is not delivered again', clause: 'TTL-001' });
    },
  },
  {
    id: 'TTL-011a',
    title: 'gives a message over its messageTtl whose last attempt fails the reason MaxRetriesExceeded',
    clauses: ['TTL-011', 'DLQ-018'],
    ...waitsForAcks,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { deadLetterQueue, reader, held } = await withHeldMessage(ctx, { maxRetryAttempts: 1 });
      const after = ctx.target.ackTimeoutMs;
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id: held.id }, after);
      await reader.ack(deadLetter);
      ctx.assert.equal(deadLetter.header('deadLetterReason'), 'MaxRetriesExceeded', 'the reason');
    },
  },
] satisfies readonly Check[];

export const expiryChecks: CheckModule = [...waitingMessages, ...inFlight];

type QueueWithDeadLetterQueue = {
  readonly client: Connection;
  readonly queue: string;
  readonly deadLetterQueue: string;
  /** Has subscribed to the dead letter queue. */
  readonly reader: Connection;
};

async function withDeadLetterQueue(
  ctx: CheckContext,
  options: Readonly<Record<string, unknown>>,
): Promise<QueueWithDeadLetterQueue> {
  const client = await ctx.connect();
  const deadLetterQueue = await newQueue(ctx, client, 'letters');
  const deadLetterOptions = { enableDeadLetterQueue: true, deadLetterQueueName: deadLetterQueue };
  const queue = await newQueue(ctx, client, 'source', { ...options, ...deadLetterOptions });
  return { client, queue, deadLetterQueue, reader: await newSubscriber(ctx, deadLetterQueue) };
}

/** Where an age may be counted a little late, or a message found to be old only when somebody asks for it. */
function waitUntilExpired(ctx: CheckContext): Promise<void> {
  return waitUntil(ctx, ctx.now() + ttlMs + ctx.timing.lateMs + clockMarginMs);
}

/** A message that is only just too old: its delivery is a warning. */
async function warnIfDelivered(
  ctx: CheckContext,
  client: Connection,
  { queue, id }: { readonly queue: string; readonly id: string },
): Promise<void> {
  const sentinel = ctx.id('sentinel');
  await client.publish(queue, '"sentinel"', { id: sentinel });
  const next = await client.delivery({ queue });
  await client.ack(next);
  ctx.should(next.id !== id, 'TTL-002', 'the age counts from acceptance, and the message is too old by it');
  if (next.id === id) await client.ack(await client.delivery({ queue, id: sentinel }));
}

/** A message with a short TTL that its subscriber holds without an ack. */
async function withHeldMessage(
  ctx: CheckContext,
  options: Readonly<Record<string, unknown>>,
): Promise<QueueWithDeadLetterQueue & { readonly holder: Connection; readonly held: ReceivedFrame }> {
  const setting = await withDeadLetterQueue(ctx, { messageTtl: timeSpan(ttlMs), ...options });
  const holder = await newSubscriber(ctx, setting.queue);
  await publishSeries(ctx, setting.client, setting.queue, 1);
  return { ...setting, holder, held: await holder.delivery({ queue: setting.queue }) };
}

/** A time span of less than ten seconds. */
function timeSpan(durationMs: number): string {
  return `00:00:0${(durationMs / 1000).toFixed(3)}`;
}
