// Checks of the figures for retries, dead letters and discarded messages in the metrics record. Each check compares them before and
// after, on a broker that no other check uses. Areas: METRICS, OVERFLOW, RETRY, DLQ, DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { withFullMember } from './fan-out.ts';
import { expectIncreases, latencyToleranceMs, readTwice } from './metrics.ts';
import { messagePath, messagesPath, remove } from './shared/dashboard-api.ts';
import { recordAt } from './shared/http-records.ts';
import { largeCount, publishLarge } from './shared/large-messages.ts';
import { eventually, newQueue } from './shared/queue-state.ts';
import { fanOutWithAck, fanOutWithoutAck, newSubscriber } from './shared/queue-with-subscribers.ts';
import { acknowledgedInPause, nextAttempt, shortTimings, waitUntil } from './shared/retry-attempts.ts';
import { publishSeries, resetSubscriber, takeAndAck } from './shared/subscribers.ts';

const fresh = { profile: 'observability', isolation: 'fresh' } as const;

export const failureMetricChecks: CheckModule = [
  // METRICS-010 (SHOULD): total_messages_acknowledged increases by one for each ack that settles a delivery.
  {
    id: 'METRICS-010b',
    title: 'counts an Ack that comes during the pause before the next attempt in total_messages_acknowledged',
    clauses: ['METRICS-010'],
    ...fresh,
    prefers: shortTimings,
    waits: true,
    evidence: { responses: 2, messages: 3, assertions: 2 },
    run: async (ctx) => {
      const acknowledged = async (): Promise<number> =>
        Number((await recordAt(ctx, '/metrics/', [200]))['total_messages_acknowledged']);
      const before = await acknowledged();
      await (await acknowledgedInPause(ctx)).subscriber.ping();
      const causesOf = (): readonly string[] => ['DELIVERY-007'];
      const what = { text: 'total_messages_acknowledged has increased', causesOf };
      await eventually(ctx, acknowledged, (count) => count > before, what);
    },
  },
  // METRICS-015 (SHOULD): average_delivery_latency_ms is the mean time from the acceptance of a message to its first
  // Deliver.
  {
    id: 'METRICS-015c',
    title: 'does not lower average_delivery_latency_ms when a message is delivered again and again',
    clauses: ['METRICS-015'],
    ...fresh,
    prefers: shortTimings,
    waits: true,
    evidence: { responses: 1, messages: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'again');
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      const acceptedAt = ctx.now();
      await waitUntil(ctx, acceptedAt + 1000);
      const waitedMs = ctx.now() - acceptedAt;
      await client.subscribe(queue);
      await client.delivery({ queue, id });
      await nextAttempt(ctx, client, { queue, id });
      await client.ack(await nextAttempt(ctx, client, { queue, id }, 2));
      await client.ping();
      const mean = async (): Promise<unknown> =>
        (await recordAt(ctx, '/metrics/', [200]))['average_delivery_latency_ms'];
      const fits = (ms: unknown): boolean => typeof ms === 'number' && ms >= waitedMs - latencyToleranceMs;
      await eventually(ctx, mean, fits, {
        text: `average_delivery_latency_ms is at least the ${Math.round(waitedMs)} ms that the message waited`,
      });
    },
  },
  // METRICS-011 (SHOULD): total_retries increases by one for each Deliver frame of a message, in the fan-out modes of a
  // copy, after the first.
  {
    id: 'METRICS-011a',
    title: 'increases total_retries by one for each attempt after the first',
    clauses: ['METRICS-011', 'METRICS-009'],
    ...fresh,
    prefers: shortTimings,
    waits: true,
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_retries: 1, total_messages_delivered: 2 }, async (client) => {
        const queue = await newQueue(ctx, client, 'again', {});
        await client.subscribe(queue);
        const [id = ''] = await publishSeries(ctx, client, queue, 1);
        await client.delivery({ queue });
        await client.ack(await nextAttempt(ctx, client, { queue, id }));
        await client.ping();
      }),
  },
  // METRICS-011 (SHOULD): total_retries increases by one for each Deliver frame of a message, in the fan-out modes of a
  // copy, after the first.
  {
    id: 'METRICS-011b',
    title: 'increases total_retries by one for a message that is delivered again because its subscriber left',
    clauses: ['METRICS-011', 'METRICS-009'],
    ...fresh,
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_retries: 1, total_messages_delivered: 2 }, async (client) => {
        const queue = await newQueue(ctx, client, 'given-back');
        const [id = ''] = await publishSeries(ctx, client, queue, 1);
        const holder = await newSubscriber(ctx, queue);
        await holder.delivery({ queue });
        await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
        await client.subscribe(queue);
        await client.ack(await nextAttempt(ctx, client, { queue, id }));
        await client.ping();
      }),
  },
  // METRICS-011 (SHOULD): total_retries increases by one for each Deliver frame of a message, in the fan-out modes of a
  // copy, after the first.
  {
    id: 'METRICS-011c',
    title: 'does not count the copies of a fan-out in total_retries',
    clauses: ['METRICS-011', 'METRICS-009'],
    ...fresh,
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_messages_delivered: 6, total_retries: 0 }, async (client) => {
        for (const [name, options] of Object.entries({ fanOutWithAck, fanOutWithoutAck })) {
          const queue = await newQueue(ctx, client, name, options);
          const subscribers: Connection[] = [];
          while (subscribers.length < 3) subscribers.push(await newSubscriber(ctx, queue));
          await publishSeries(ctx, client, queue, 1);
          for (const subscriber of subscribers) await takeAndAck(subscriber, queue, 1);
          for (const subscriber of subscribers) await subscriber.ping();
        }
      }),
  },
  // METRICS-012 (SHOULD): total_dead_lettered increases by one for each message that moves to a dead letter queue.
  {
    id: 'METRICS-012a',
    title: 'increases total_dead_lettered by one for each message that moves to a dead letter queue',
    clauses: ['METRICS-012'],
    ...fresh,
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_dead_lettered: 2 }, (client) => redirectMessages(ctx, client, {}, 2)),
  },
  // METRICS-008 (SHOULD): total_messages_published increases by one for each PublishAck that does not answer a repeat.
  {
    id: 'METRICS-008b',
    title:
      'increases total_messages_published by one for each message that moves to a dead letter queue at once',
    clauses: ['METRICS-008'],
    ...fresh,
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_messages_published: 3 }, (client) => redirectMessages(ctx, client, {}, 2)),
  },
  // METRICS-013 (SHOULD): total_errors increases by one for each Error frame that the broker sends, for each message
  // that it discards or evicts, and for each copy that it skips (DELIVERY-029).
  {
    id: 'METRICS-013b',
    title: 'increases total_errors by one for each message that expires in a queue without dead letter queue',
    clauses: ['METRICS-013'],
    ...fresh,
    waits: true,
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_errors: 2 }, async (client) => {
        const queue = await newQueue(ctx, client, 'timed', { messageTtl: '00:00:01' });
        await publishSeries(ctx, client, queue, 2);
        await waitUntil(ctx, ctx.now() + 1000 + ctx.timing.lateMs);
        // A broker may notice what has expired only when it would deliver it.
        await client.subscribe(queue);
        await client.ping();
      }),
  },
  // METRICS-013 (SHOULD): total_errors increases by one for each Error frame that the broker sends, for each message
  // that it discards or evicts, and for each copy that it skips (DELIVERY-029).
  {
    id: 'METRICS-013c',
    title: 'does not count messages that the dashboard removes in total_errors',
    clauses: ['METRICS-013'],
    ...fresh,
    requires: { profiles: ['dashboard'] },
    evidence: { responses: 4, frames: 6, assertions: 5 },
    run: (ctx) =>
      expectIncreases(ctx, { total_errors: 1 }, async (client) => {
        const queue = await newQueue(ctx, client, 'purged');
        const [id = ''] = await publishSeries(ctx, client, queue, 3);
        await remove(ctx, messagePath(queue, id), 'DASH-016');
        await remove(ctx, messagesPath(queue), 'DASH-018');
        // The one Error, which shows that the figure counts what came before.
        await client.request({ command: Command.Publish, id: ctx.id('m'), queue, payload: '{' });
      }),
  },
  // METRICS-013 (SHOULD): total_errors increases by one for each Error frame that the broker sends, for each message
  // that it discards or evicts, and for each copy that it skips (DELIVERY-029).
  {
    id: 'METRICS-013d',
    title: 'counts Errors to clients that have not connected in total_errors',
    clauses: ['METRICS-013', 'CONN-002'],
    ...fresh,
    evidence: { responses: 2, frames: 4, assertions: 4 },
    run: (ctx) =>
      expectIncreases(ctx, { total_errors: 2 }, async (client) => {
        const queue = await newQueue(ctx, client, 'early');
        for (const command of [Command.Publish, Command.Subscribe]) {
          const stranger = await ctx.rawConnect();
          await stranger.send({ command, id: ctx.id('early'), queue });
          await stranger.expect('Error', { clause: 'CONN-002' });
        }
      }),
  },
  // METRICS-015 (SHOULD): average_delivery_latency_ms is the mean time from the acceptance of a message to its first
  // Deliver.
  {
    id: 'METRICS-015d',
    title: 'leaves the time that a Publish was blocked out of average_delivery_latency_ms',
    clauses: ['METRICS-015', 'OVERFLOW-011'],
    ...fresh,
    waits: true,
    evidence: { responses: 1, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'blocking', { overflowStrategy: 2, maxQueueSize: 1 });
      const publisher = await ctx.connect({ own: true });
      const sentAt = ctx.now();
      await publisher.publish(queue, '1');
      await publisher.send({ command: Command.Publish, id: ctx.id('m'), queue, payload: '2' });
      await waitUntil(ctx, ctx.now() + 1000);
      // Before this neither is delivered, and the second one is not accepted.
      const subscribedAt = ctx.now();
      await client.subscribe(queue);
      const [first, second] = await takeAndAck(client, queue, 2);
      await client.ping();
      const waitedMs = Number(first?.atMs) - sentAt + (Number(second?.atMs) - subscribedAt);
      const mean = async (): Promise<unknown> =>
        (await recordAt(ctx, '/metrics/', [200]))['average_delivery_latency_ms'];
      const fits = (ms: unknown): boolean =>
        typeof ms === 'number' && ms > 0 && ms <= waitedMs / 2 + latencyToleranceMs;
      await eventually(ctx, mean, fits, {
        text: `average_delivery_latency_ms is at most the ${Math.round(waitedMs / 2)} ms that the two messages waited`,
      });
    },
  },
  // METRICS-015 (SHOULD): average_delivery_latency_ms is the mean time from the acceptance of a message to its first
  // Deliver.
  {
    id: 'METRICS-015b',
    title: 'includes only the first delivery of a message in average_delivery_latency_ms',
    clauses: ['METRICS-015'],
    ...fresh,
    waits: true,
    evidence: { responses: 1, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'given-back');
      const holder = await newSubscriber(ctx, queue);
      const sentAt = ctx.now();
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      await holder.delivery({ queue, id });
      // By its Pong the broker has read its clock for the first delivery.
      const longestMs = (await holder.ping()).atMs - sentAt + latencyToleranceMs;
      // Together with a second delivery after this time, the mean would be longer.
      await waitUntil(ctx, sentAt + 4 * longestMs);
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      await client.subscribe(queue);
      await client.ack(await nextAttempt(ctx, client, { queue, id }));
      const readAgain = async (): Promise<unknown> =>
        (await recordAt(ctx, '/metrics/', [200]))['average_delivery_latency_ms'];
      const fits = (mean: unknown): boolean => typeof mean === 'number' && mean >= 0 && mean <= longestMs;
      await eventually(ctx, readAgain, fits, {
        text: 'average_delivery_latency_ms is the latency of the first delivery',
      });
    },
  },
  // OVERFLOW-006 (SHOULD): Each evicted message increases total_errors by one.
  {
    id: 'OVERFLOW-006a',
    title: 'increases total_errors by one for each message that DropOldest evicts',
    clauses: ['OVERFLOW-006', 'METRICS-013'],
    ...fresh,
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_errors: 2, total_dead_lettered: 0 }, async (client) => {
        const queue = await newQueue(ctx, client, 'pushed', { maxQueueSize: 1, overflowStrategy: 0 });
        await publishSeries(ctx, client, queue, 3);
      }),
  },
  // OVERFLOW-006 (SHOULD): Each evicted message increases total_errors by one.
  {
    id: 'OVERFLOW-006b',
    title:
      'increases total_errors by one for a FanOutWithAck message that is evicted before its last copy is sent',
    clauses: ['OVERFLOW-006', 'METRICS-013'],
    ...fresh,
    requires: { capabilities: ['maxInFlight'] },
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_errors: 1, total_dead_lettered: 0 }, async () => {
        const options = { ...fanOutWithAck, maxQueueSize: 1, overflowStrategy: 0 };
        const { publisher, queue, fast } = await withFullMember(ctx, options);
        for (let count = 0; count < 2; count += 1) {
          await publishSeries(ctx, publisher, queue, 1);
          await takeAndAck(fast, queue, 1);
        }
      }),
  },
  // OVERFLOW-006 (SHOULD): Each evicted message increases total_errors by one.
  {
    id: 'OVERFLOW-006c',
    title:
      'counts a FanOutWithAck message once that is evicted while a copy is in flight to one who then leaves',
    clauses: ['OVERFLOW-006', 'METRICS-013', 'DELIVERY-019'],
    ...fresh,
    requires: { capabilities: ['maxInFlight'] },
    evidence: { ...readTwice, messages: 3 },
    run: (ctx) =>
      expectIncreases(ctx, { total_errors: 1, total_dead_lettered: 0 }, async () => {
        const options = { ...fanOutWithAck, maxQueueSize: 1, overflowStrategy: 0 };
        const { publisher, queue, fast } = await withFullMember(ctx, options);
        const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
        await fast.delivery({ queue, id });
        await publishSeries(ctx, publisher, queue, 1);
        await resetSubscriber(ctx, fast, { witness: publisher, queue, remaining: 1 });
      }),
  },
  // RETRY-010 (SHOULD): Each message that is discarded after its last attempt increases total_errors by one.
  {
    id: 'RETRY-010a',
    title: 'increases total_errors by one for a message that it discards after its last attempt',
    clauses: ['RETRY-010', 'METRICS-013'],
    ...fresh,
    prefers: shortTimings,
    waits: true,
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_errors: 1, total_dead_lettered: 0 }, async (client) => {
        const queue = await newQueue(ctx, client, 'discarded', { maxRetryAttempts: 1 });
        await client.subscribe(queue);
        await publishSeries(ctx, client, queue, 1);
        const { atMs } = await client.delivery({ queue });
        await waitUntil(ctx, atMs + ctx.target.ackTimeoutMs);
      }),
  },
  // DELIVERY-029 (SHOULD): Each FanOutWithoutAck copy that the broker skips because the connection of the subscriber is
  // not draining increases total_errors by one.
  {
    id: 'DELIVERY-029a',
    title:
      'increases total_errors for FanOutWithoutAck copies that it skips because a subscriber does not read',
    clauses: ['DELIVERY-029', 'METRICS-013'],
    ...fresh,
    evidence: { responses: 1, frames: 3, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'missed', fanOutWithoutAck);
      const notReading = await newSubscriber(ctx, queue);
      notReading.pauseReading();
      const reader = await newSubscriber(ctx, queue);
      const errors = async (): Promise<unknown> => (await recordAt(ctx, '/metrics/', [200]))['total_errors'];
      const before = await errors();
      if (before === undefined) ctx.notApplicable('the shorter form of the record has no total_errors');
      for (let count = 0; count < largeCount(ctx); count += 1) {
        const id = await publishLarge(ctx, client, queue);
        await reader.delivery({ queue, id }, { clause: 'DELIVERY-048' });
      }
      await eventually(ctx, errors, (seen) => Number(seen) > Number(before), {
        text: 'total_errors increases',
        causesOf: () => ['METRICS-013', 'DELIVERY-027'],
      });
    },
  },
  // DELIVERY-029 (SHOULD): Each FanOutWithoutAck copy that the broker skips because the connection of the subscriber is
  // not draining increases total_errors by one.
  {
    id: 'DELIVERY-029b',
    title: 'increases total_errors for the copy of each of two subscribers that do not read',
    clauses: ['DELIVERY-029', 'METRICS-013'],
    ...fresh,
    evidence: { responses: 2, frames: 5, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'missed-twice', fanOutWithoutAck);
      for (let count = 0; count < 2; count += 1) (await newSubscriber(ctx, queue)).pauseReading();
      const reader = await newSubscriber(ctx, queue);
      const publishRead = async (count: number): Promise<void> => {
        for (let number = 0; number < count; number += 1) {
          const id = await publishLarge(ctx, client, queue);
          await reader.delivery({ queue, id }, { clause: 'DELIVERY-048' });
        }
      };
      const errors = async (): Promise<unknown> => (await recordAt(ctx, '/metrics/', [200]))['total_errors'];
      if ((await errors()) === undefined)
        ctx.notApplicable('the shorter form of the record has no total_errors');
      await publishRead(largeCount(ctx));
      const before = Number(await errors());
      if (before === 0) ctx.notApplicable('the broker has skipped no copy');
      await publishRead(3);
      await eventually(ctx, errors, (seen) => Number(seen) === before + 6, {
        text: `total_errors increases by 2 for each of 3 messages, from ${before}`,
        causesOf: () => ['METRICS-013', 'DELIVERY-027'],
      });
    },
  },
  // DLQ-009 (SHOULD): Each message that a dead letter evicts increases total_errors by one.
  {
    id: 'DLQ-009a',
    title: 'increases total_errors by one for each message evicted from a full dead letter queue',
    clauses: ['DLQ-009', 'METRICS-012', 'METRICS-013'],
    ...fresh,
    evidence: readTwice,
    run: (ctx) =>
      expectIncreases(ctx, { total_errors: 2, total_dead_lettered: 3 }, async (client) => {
        const deadLetterQueue = await newQueue(ctx, client, 'small', { maxQueueSize: 1 });
        await redirectMessages(ctx, client, { deadLetterQueueName: deadLetterQueue }, 3);
      }),
  },
] satisfies readonly Check[];

/** Fills a RedirectToDlq queue and then publishes `count` messages, which are dead-lettered. */
async function redirectMessages(
  ctx: CheckContext,
  client: Connection,
  options: Readonly<Record<string, unknown>>,
  count: number,
): Promise<void> {
  const redirecting = { overflowStrategy: 3, enableDeadLetterQueue: true, maxQueueSize: 1 };
  const queue = await newQueue(ctx, client, 'redirecting', { ...redirecting, ...options });
  await publishSeries(ctx, client, queue, count + 1);
}
