// Checks of messageTtl: an expired message is not delivered, and the broker removes it from its queue in time; a message in flight does
// not expire. messageTtl is an option of a queue, so only the checks of ack timeouts need a broker configuration. Area: TTL.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { noteIfLate } from './shared/lateness.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { deliveredIds, newSubscriber, priorityBased } from './shared/queue-with-subscribers.ts';
import {
  expectDeadLetterReason,
  expectEmpty,
  expectNotRedelivered,
  gapMs,
  reasonOf,
  retryDelayMs,
  shortTimings,
  shouldHaveContent,
  takeDeadLetter,
  waitUntil,
} from './shared/retry-attempts.ts';
import { expectOnlySentinel, idsOf, publishSeries, takeAndAck } from './shared/subscribers.ts';

const waits = { profile: 'retry-dlq', waits: true } as const;
const waitsForAcks = { ...waits, prefers: shortTimings } as const;

/** Shorter than the ack timeout, and long enough for the delivery of a message. */
const ttlMs = 300;
/** For what must not expire within the check: so long that a busy machine takes no such time for a command. */
const longTtlMs = 2000;
/** Tolerance for clocks with a resolution coarser than a millisecond. */
export const clockMarginMs = 20;

const waitingMessages: CheckModule = [
  // TTL-001 (MUST): The broker does not deliver a message that is older than the messageTtl of its queue.
  {
    id: 'TTL-001a',
    title: 'does not deliver a message that is older than the messageTtl of its queue',
    clauses: ['TTL-001', 'TTL-002'],
    ...waits,
    accepts: [
      'not delivered after messageTtl',
      'not delivered after messageTtl plus at most 1 s, with a warning',
    ],
    evidence: { frames: 10, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const graceMs of [clockMarginMs, clockMarginMs + ctx.timing.lateMs]) {
        const queue = await newQueue(ctx, client, `timed-${graceMs}`, { messageTtl: timeSpan(ttlMs) });
        const { atMs: acceptedAt, id } = await client.publish(queue, '1');
        await waitUntil(ctx, acceptedAt + ttlMs + graceMs);
        await client.subscribe(queue);
        if (graceMs === clockMarginMs) await warnIfDelivered(ctx, client, { queue, id });
        else await expectOnlySentinel(ctx, client, queue, { text: 'the expired message is not delivered' });
      }
    },
  },
  // TTL-001 (MUST): The broker does not deliver a message that is older than the messageTtl of its queue.
  {
    id: 'TTL-001b',
    title: 'delivers a message that is younger than the messageTtl of its queue',
    clauses: ['TTL-001'],
    ...waits,
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const youngTtlMs = 6000;
      const queue = await newQueue(ctx, client, 'young', { messageTtl: timeSpan(youngTtlMs) });
      const [id] = await publishSeries(ctx, client, queue, 1);
      const acceptedAt = ctx.now();
      await waitUntil(ctx, acceptedAt + 700);
      await client.subscribe(queue);
      noteIfLate(ctx, { sinceMs: acceptedAt, maxMs: youngTtlMs / 2, step: 'the Subscribe' });
      ctx.assert.equal((await takeAndAck(client, queue, 1))[0]?.id, id, 'the delivered message');
    },
  },
  // TTL-005 (SHOULD): The broker lets a message expire at most 1 s after its messageTtl has passed, whether or not the
  // queue has subscribers.
  {
    id: 'TTL-005a',
    title: 'removes an expired message from a queue without subscribers in time',
    clauses: ['TTL-005', 'TTL-008'],
    ...waits,
    evidence: { frames: 8, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const longMs = 1000;
      const queue = await newQueue(ctx, client, 'alone', { messageTtl: timeSpan(longMs) });
      // Only the dead letter queue makes a difference between the two.
      const withLetters = { messageTtl: timeSpan(longMs), enableDeadLetterQueue: true };
      const other = await newQueue(ctx, client, 'with-letters', withLetters);
      await client.publish(other, '1');
      const sentAt = ctx.now();
      await client.publish(queue, '1');
      ctx.assert.equal(
        await messageCountOf(client, queue),
        1,
        'number of waiting messages after the Publish',
      );
      const limit = sentAt + longMs + ctx.timing.lateMs + ctx.timing.answerMs;
      let otherGoneAt = Number.POSITIVE_INFINITY;
      while ((await messageCountOf(client, queue)) !== 0 && ctx.now() < limit) {
        const isOtherGone = (await messageCountOf(client, other)) === 0;
        if (isOtherGone) otherGoneAt = Math.min(otherGoneAt, ctx.now());
        await waitUntil(ctx, ctx.now() + 15);
      }
      const { earlyMs, lateMs } = ctx.timing;
      const goneAt = ctx.now();
      // Both may be late: only a long time between the two shows a difference.
      const isKept = goneAt >= limit && goneAt - otherGoneAt > lateMs;
      ctx.assert.ok(!isKept, 'a queue without dead letter queue discards its expired message', {
        actual: 'only the message of a queue with a dead letter queue expired',
        clause: 'TTL-008',
      });
      ctx.assert.betweenMs(
        goneAt - sentAt,
        longMs - earlyMs,
        longMs + lateMs,
        'time from the Publish to the removal of the message',
      );
    },
  },
  // TTL-005 (SHOULD): The broker lets a message expire at most 1 s after its messageTtl has passed, whether or not the
  // queue has subscribers.
  {
    id: 'TTL-005c',
    title: 'removes in time also the message that was published after an expired one',
    clauses: ['TTL-005'],
    ...waits,
    evidence: { frames: 8, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const ageMs = 800;
      const queue = await newQueue(ctx, client, 'one-by-one', { messageTtl: timeSpan(ageMs) });
      await client.publish(queue, '1');
      await waitUntil(ctx, ctx.now() + ageMs / 2);
      const sentAt = ctx.now();
      await client.publish(queue, '2');
      const limit = sentAt + ageMs + ctx.timing.lateMs + ctx.timing.answerMs;
      while ((await messageCountOf(client, queue)) !== 0 && ctx.now() < limit)
        await waitUntil(ctx, ctx.now() + 15);
      const { earlyMs, lateMs } = ctx.timing;
      ctx.assert.betweenMs(
        ctx.now() - sentAt,
        ageMs - earlyMs,
        ageMs + lateMs,
        'time from the Publish of the later message to its removal',
      );
    },
  },
  // TTL-005 (SHOULD): The broker lets a message expire at most 1 s after its messageTtl has passed, whether or not the
  // queue has subscribers.
  {
    id: 'TTL-005b',
    title: 'removes an expired message of a PriorityBased queue while a younger one is to be sent first',
    clauses: ['TTL-005'],
    ...waits,
    evidence: { frames: 6, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const options = { ...priorityBased, messageTtl: timeSpan(longTtlMs) };
      const queue = await newQueue(ctx, client, 'by-priority', options);
      const sentAt = ctx.now();
      await client.publish(queue, '1', { headers: { priority: 'Low' } });
      await waitUntil(ctx, sentAt + longTtlMs - 400);
      const youngerAt = ctx.now();
      await client.publish(queue, '1', { headers: { priority: 'Critical' } });
      const waiting = await messageCountOf(client, queue);
      noteIfLate(ctx, { sinceMs: sentAt, maxMs: longTtlMs, step: 'the second Publish' });
      ctx.assert.equal(waiting, 2, 'number of waiting messages after the second Publish');
      const limit = sentAt + longTtlMs + ctx.timing.lateMs + ctx.timing.answerMs;
      while ((await messageCountOf(client, queue)) === 2 && ctx.now() < limit)
        await waitUntil(ctx, ctx.now() + 15);
      const { earlyMs, lateMs } = ctx.timing;
      const what = 'time from the Publish of the older message to its removal';
      ctx.assert.betweenMs(ctx.now() - sentAt, longTtlMs - earlyMs, longTtlMs + lateMs, what);
      const until = youngerAt + longTtlMs + lateMs;
      while ((await messageCountOf(client, queue)) !== 0 && ctx.now() < until + ctx.timing.answerMs)
        await waitUntil(ctx, ctx.now() + 15);
      const text = 'time from the Publish of the younger message to its removal';
      ctx.assert.betweenMs(ctx.now() - youngerAt, longTtlMs - earlyMs, longTtlMs + lateMs, text);
    },
  },
  // TTL-012 (MUST): The messages of a queue that was created without messageTtl do not expire.
  {
    id: 'TTL-012a',
    title: 'keeps the messages of a queue without messageTtl while messages of another queue expire',
    clauses: ['TTL-012'],
    ...waits,
    evidence: { frames: 12, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const timed = await newQueue(ctx, client, 'timed', { messageTtl: timeSpan(ttlMs) });
      const untimed = await newQueue(ctx, client, 'untimed', {});
      const [id] = await publishSeries(ctx, client, untimed, 1);
      await publishSeries(ctx, client, timed, 1);
      await waitUntilExpired(ctx);
      await expectEmpty(ctx, timed, { text: 'the expired message is not delivered', clause: 'TTL-001' });
      await client.subscribe(untimed);
      ctx.assert.equal(
        (await takeAndAck(client, untimed, 1))[0]?.id,
        id,
        'the message of the queue without messageTtl',
      );
    },
  },
  // TTL-007 (SHOULD): The broker dead-letters an expired message with reason MessageExpired, when its queue has a dead
  // letter queue.
  {
    id: 'TTL-007a',
    title: 'dead-letters a message with reason MessageExpired when it expires, and not earlier',
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
      shouldHaveContent(ctx, deadLetter, id);
      const { earlyMs, lateMs } = ctx.timing;
      ctx.assert.betweenMs(
        deadLetter.atMs - sentAt,
        ttlMs - earlyMs,
        ttlMs + lateMs,
        'time from the Publish to the delivery of the dead letter',
      );
      ctx.assert.equal(reasonOf(ctx, deadLetter), 'MessageExpired', 'header deadLetterReason');
      ctx.assert.equal(deadLetter.header('deadLetterAttempts'), '0', 'header deadLetterAttempts');
    },
  },
  // TTL-003 (SHOULD): The age of a dead letter starts when it is dead-lettered.
  {
    id: 'TTL-003a',
    title: 'counts the age of a dead letter from the time at which it was dead-lettered',
    clauses: ['TTL-003', 'DLQ-007'],
    ...waits,
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = await newQueue(ctx, client, 'timed-letters', {
        messageTtl: timeSpan(longTtlMs),
      });
      const deadLetterOptions = { enableDeadLetterQueue: true, deadLetterQueueName: deadLetterQueue };
      const queue = await newQueue(ctx, client, 'timed', {
        messageTtl: timeSpan(longTtlMs),
        ...deadLetterOptions,
      });
      const sentAt = ctx.now();
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      await waitUntil(ctx, ctx.now() + longTtlMs + clockMarginMs);
      await client.subscribe(deadLetterQueue);
      noteIfLate(ctx, { sinceMs: sentAt, maxMs: 2 * longTtlMs - clockMarginMs, step: 'the Subscribe' });
      // As a dead letter it is younger than the messageTtl of the dead letter queue.
      const deadLetter = await takeDeadLetter(ctx, client, { queue: deadLetterQueue, id });
      ctx.assert.deepEqual(deadLetter.json(), 0, 'the value of the dead letter');
      await client.ack(deadLetter);
    },
  },
  // DLQ-020 (MUST): The broker does not dead-letter messages of a queue without a dead letter queue.
  {
    id: 'DLQ-020a',
    title: 'does not dead-letter messages of a queue whose dead letter queue is disabled',
    clauses: ['DLQ-020'],
    ...waits,
    evidence: { frames: 12, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = await newQueue(ctx, client, 'letters');
      const options = { messageTtl: timeSpan(ttlMs), deadLetterQueueName: deadLetterQueue };
      const queue = await newQueue(ctx, client, 'off', options);
      await publishSeries(ctx, client, queue, 1);
      await waitUntilExpired(ctx);
      await expectEmpty(ctx, queue, { text: 'the expired message is not delivered', clause: 'TTL-001' });
      await expectEmpty(ctx, deadLetterQueue, { text: 'the expired message is not dead-lettered' });
    },
  },
] satisfies readonly Check[];

const inFlight: CheckModule = [
  // TTL-001 (MUST): The broker does not deliver a message that is older than the messageTtl of its queue.
  {
    id: 'TTL-001c',
    title: 'makes no further attempt of a message that becomes older than messageTtl after two failed ones',
    clauses: ['TTL-001', 'TTL-010'],
    ...waitsForAcks,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      // It passes in the middle of the delay before the third attempt, which may come all the same: a message may expire late.
      const ageMs = gapMs(ctx, 1) + gapMs(ctx, 2) - retryDelayMs(ctx, 2) / 2;
      const options = { messageTtl: timeSpan(ageMs), maxRetryAttempts: 6 };
      const queue = await newQueue(ctx, publisher, 'twice', options);
      const subscriber = await newSubscriber(ctx, queue);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const until = ctx.now() + ageMs + ctx.timing.lateMs;
      const first = await subscriber.delivery({ queue });
      await waitUntil(ctx, first.atMs + gapMs(ctx, 1) + gapMs(ctx, 2) + gapMs(ctx, 3) + ctx.timing.lateMs);
      await subscriber.ping();
      const attempts = subscriber.received.filter(
        (frame) => frame.command === Command.Deliver && frame.id === id,
      );
      const late = attempts.filter(({ atMs }) => atMs > until);
      ctx.assert.deepEqual(idsOf(late), [], 'the messages that are delivered when they are too old');
      // The timers of a broker may be late, and then the message expires before the second attempt.
      if (attempts.length < 2) ctx.notShown('the message expired before the second attempt');
    },
  },
  // TTL-009 (SHOULD): A message does not expire while the broker waits for the ack of an attempt, and an ack within
  // ackTimeout settles it even if its messageTtl has passed.
  {
    id: 'TTL-009a',
    title: 'does not expire a message in flight, and accepts its ack',
    clauses: ['TTL-009', 'DELIVERY-001'],
    ...waits,
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const { queue, deadLetterQueue, reader, holder, held } = await withHeldMessage(ctx, {});
      await waitUntil(ctx, held.atMs + ttlMs + clockMarginMs);
      await holder.ack(held);
      await holder.ping();
      await expectNotRedelivered(ctx, holder, queue, {
        text: 'the acknowledged message is not delivered again',
      });
      await expectOnlySentinel(ctx, reader, deadLetterQueue, {
        text: 'the acknowledged message is not dead-lettered',
      });
    },
  },
  // TTL-007 (SHOULD): The broker dead-letters an expired message with reason MessageExpired, when its queue has a dead
  // letter queue.
  {
    id: 'TTL-007b',
    title: 'dead-letters a FanOutWithAck message that expires while a subscriber has no room for its copy',
    clauses: ['TTL-007', 'DELIVERY-020'],
    profile: 'retry-dlq',
    requires: { capabilities: ['maxInFlight'] },
    waits: true,
    evidence: { frames: 13, messages: 4 },
    run: async (ctx) => {
      const options = { mode: 1, messageTtl: timeSpan(ttlMs) };
      const { client, queue, deadLetterQueue, reader } = await withDeadLetterQueue(ctx, options);
      const full = await newSubscriber(ctx, queue, { maxInFlight: '1' });
      const other = await newSubscriber(ctx, queue);
      const sentAtMs = ctx.now();
      const [first = '', second = ''] = await publishSeries(ctx, client, queue, 2);
      const held = await full.delivery({ queue, id: first });
      for (const id of [first, second]) await other.ack(await other.delivery({ queue, id }));
      noteIfLate(ctx, { sinceMs: sentAtMs, maxMs: ttlMs / 2, step: 'the delivery to both subscribers' });
      await waitUntilExpired(ctx);
      await full.ack(held);
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id: second });
      expectDeadLetterReason(ctx, deadLetter, 'MessageExpired');
      await reader.ack(deadLetter);
      await full.ping();
      ctx.assert.deepEqual(
        deliveredIds(full, queue),
        [first],
        'the messages of the full subscriber',
        'TTL-001',
      );
    },
  },
  // TTL-010 (SHOULD): A message over its TTL expires when it would be sent again, is given back or is recovered.
  {
    id: 'TTL-010a',
    title: 'expires a message older than messageTtl instead of its next attempt',
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
      await expectOnlySentinel(ctx, holder, queue, {
        text: 'the expired message is not sent again',
        clause: 'TTL-001',
      });
      ctx.assert.equal(
        deliveredIds(holder, queue).length,
        2,
        'number of deliveries, including the last message',
      );
      ctx.assert.equal(reasonOf(ctx, deadLetter), 'MessageExpired', 'header deadLetterReason');
    },
  },
  // TTL-010 (SHOULD): A message over its TTL expires when it would be sent again, is given back or is recovered.
  {
    id: 'TTL-010b',
    title: 'expires a message older than messageTtl when its subscriber disconnects',
    clauses: ['TTL-010', 'TTL-001', 'TTL-007'],
    ...waits,
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const { queue, deadLetterQueue, reader, holder, held } = await withHeldMessage(ctx, {});
      await waitUntil(ctx, held.atMs + ttlMs + clockMarginMs);
      await holder.abort();
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id: held.id });
      await reader.ack(deadLetter);
      ctx.assert.equal(reasonOf(ctx, deadLetter), 'MessageExpired', 'header deadLetterReason');
      await expectEmpty(ctx, queue, {
        text: 'the expired message is not delivered again',
        clause: 'TTL-001',
      });
    },
  },
  // TTL-011 (SHOULD): If the last attempt fails after the TTL has passed, the reason is MaxRetriesExceeded, not
  // MessageExpired.
  {
    id: 'TTL-011a',
    title: 'dead-letters with reason MaxRetriesExceeded when the last attempt fails after messageTtl',
    clauses: ['TTL-011'],
    ...waitsForAcks,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const { deadLetterQueue, reader, held } = await withHeldMessage(ctx, { maxRetryAttempts: 1 });
      const after = ctx.target.ackTimeoutMs;
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id: held.id }, after);
      await reader.ack(deadLetter);
      ctx.assert.equal(reasonOf(ctx, deadLetter), 'MaxRetriesExceeded', 'header deadLetterReason');
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

/** Waits until a message that is published now has expired, with the allowed lateness. */
function waitUntilExpired(ctx: CheckContext): Promise<void> {
  return waitUntil(ctx, ctx.now() + ttlMs + ctx.timing.lateMs + clockMarginMs);
}

/** Warns when the message, which is just older than messageTtl, is delivered. */
async function warnIfDelivered(
  ctx: CheckContext,
  client: Connection,
  { queue, id }: { readonly queue: string; readonly id: string },
): Promise<void> {
  const sentinel = ctx.id('sentinel');
  await client.publish(queue, '"sentinel"', { id: sentinel });
  const next = await client.delivery({ queue });
  await client.ack(next);
  ctx.should(
    next.id !== id,
    'TTL-002',
    'a message is not delivered when its age since acceptance exceeds messageTtl',
  );
  if (next.id === id) await client.ack(await client.delivery({ queue, id: sentinel }));
}

/** A message with a short messageTtl that is in flight, not acknowledged. */
async function withHeldMessage(
  ctx: CheckContext,
  options: Readonly<Record<string, unknown>>,
): Promise<QueueWithDeadLetterQueue & { readonly holder: Connection; readonly held: ReceivedFrame }> {
  const setting = await withDeadLetterQueue(ctx, { messageTtl: timeSpan(ttlMs), ...options });
  const holder = await newSubscriber(ctx, setting.queue);
  const sentAt = ctx.now();
  await publishSeries(ctx, setting.client, setting.queue, 1);
  noteIfLate(ctx, { sinceMs: sentAt, maxMs: ttlMs / 2, step: 'the Publish to a subscriber' });
  return { ...setting, holder, held: await holder.delivery({ queue: setting.queue }) };
}

/** A time span of less than a minute. */
export function timeSpan(durationMs: number): string {
  return `00:00:${(durationMs / 1000).toFixed(3).padStart(6, '0')}`;
}
