// Checks of messages of a durable broker whose lives begin or end on a side road: they were blocked, repeated, acknowledged as dead letters
// or during a shutdown, discarded, or pushed out of a dead letter queue. Areas: DURABLE, DASH, PUBLISH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { idsIn, listMessages, messagePath, messagesPath, remove, requeue } from './shared/dashboard-api.ts';
import { crashBroker, durableBroker, restartBroker, sorted, takeAll } from './shared/durable-broker.ts';
import { noteIfLate } from './shared/lateness.ts';
import { isPingAnswered } from './shared/ping-answered.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { newSubscriber } from './shared/queue-with-subscribers.ts';
import { shortTimings, waitUntil } from './shared/retry-attempts.ts';
import { idsOf, publishMany, publishSeries, resetSubscriber, takeAndAck } from './shared/subscribers.ts';
import { expectOpen } from './shutdown.ts';

/** What is kept is asked of the dashboard too, so a broker without one has nothing to show. */
const changedByTheDashboard = {
  ...durableBroker,
  requires: { ...durableBroker.requires, profiles: ['dashboard'] },
} as const satisfies Partial<Check>;

export const durableEndingChecks: CheckModule = [
  // DURABLE-003 (MUST): After a crash at any moment, a broker with a durable store has every message whose PublishAck
  // was sent, unless the message was settled or dropped by DropNewest.
  {
    id: 'DURABLE-003e',
    title: 'keeps a message that was blocked when it is killed immediately after its PublishAck',
    clauses: ['DURABLE-003'],
    ...durableBroker,
    accepts: ['the message that made room is delivered again, because the crash undid its ack'],
    evidence: { frames: 12, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const publisher = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'full', { overflowStrategy: 2, maxQueueSize: 1 });
      const [first = ''] = await publishSeries(ctx, client, queue, 1);
      const id = ctx.id('blocked');
      await publisher.send({ command: Command.Publish, id, queue, payload: '"blocked"' });
      await isPingAnswered(ctx, publisher, client);
      const subscriber = await newSubscriber(ctx, queue);
      await takeAndAck(subscriber, queue, 1);
      await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
      await crashBroker(ctx);
      const recovered = idsOf(await takeAll(ctx, queue)).filter((one) => one !== first);
      ctx.assert.deepEqual(recovered, [id], 'the messages in the queue that were not acknowledged');
    },
  },
  // DURABLE-006 (MUST): After a restart, the broker does not deliver a message whose ack was committed.
  {
    id: 'DURABLE-006c',
    title: 'does not deliver a message after a start that was acknowledged while the broker was stopping',
    clauses: ['DURABLE-006', 'SHUTDOWN-006', 'SHUTDOWN-003'],
    ...durableBroker,
    prefers: { timing: { shutdownTimeoutMs: 6000 } },
    accepts: [
      'the broker handles the ack: it closes the connection, and does not deliver the message again',
      'the broker does not handle the ack, with a warning',
    ],
    evidence: { frames: 12, messages: 2, assertions: 2 },
    run: async (ctx) => {
      const publisher = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, publisher, 'held');
      const waiting = await newQueue(ctx, publisher, 'waiting');
      const kept = await publishSeries(ctx, publisher, waiting, 1);
      const subscriber = await newSubscriber(ctx, queue);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      const delivery = await subscriber.delivery({ queue, id });
      await ctx.broker.terminate();
      await subscriber.expect('Disconnect', { clause: 'SHUTDOWN-011' });
      await expectOpen(ctx, subscriber, 'SHUTDOWN-002');
      const isHandled = await isAckHandled(ctx, subscriber, delivery);
      await ctx.broker.exited(ctx.target.shutdownTimeoutMs + ctx.timing.stopMs);
      await ctx.broker.start();
      const recovered = idsOf(await takeAll(ctx, queue));
      if (isHandled) ctx.assert.deepEqual(recovered, [], 'the messages in the queue');
      ctx.assert.deepEqual(
        idsOf(await takeAll(ctx, waiting)),
        kept,
        'the messages in the other queue',
        'SHUTDOWN-003',
      );
    },
  },
  // DURABLE-006 (MUST): After a restart, the broker does not deliver a message whose ack was committed.
  {
    id: 'DURABLE-006d',
    title: 'delivers all dead letters except the acknowledged one after a stop and a start',
    clauses: ['DURABLE-006', 'DURABLE-012'],
    ...durableBroker,
    evidence: { frames: 14, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters', {});
      await redirectTo(ctx, client, letters, 2);
      const subscriber = await newSubscriber(ctx, letters);
      const [acknowledged] = await takeAndAck(subscriber, letters, 1);
      await subscriber.ping();
      await restartBroker(ctx, subscriber, client);
      const recovered = idsOf(await takeAll(ctx, letters));
      ctx.assert.equal(recovered.length, 1, 'number of dead letters, of which one of two was acknowledged');
      ctx.assert.notEqual(recovered[0], acknowledged?.id, 'the id of the dead letter that is left');
    },
  },
  // DURABLE-007 (MUST): After a crash the broker may redeliver a message whose ack, purge or deletion was not committed
  // (MAY), and it delivers no other settled message (MUST).
  {
    id: 'DURABLE-007b',
    title: 'does not restore a message that was discarded, after a crash that followed a confirmed Publish',
    clauses: ['DURABLE-007', 'DURABLE-003'],
    ...durableBroker,
    prefers: { timing: { ...durableBroker.prefers.timing, ...shortTimings.timing } },
    waits: true,
    accepts: [
      'the broker discards a message after its last failed attempt, and does not restore it',
      'the broker keeps a message after its last failed attempt (not applicable)',
    ],
    evidence: { frames: 12, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'failing', { maxRetryAttempts: 1 });
      const other = await newQueue(ctx, client, 'other');
      const subscriber = await newSubscriber(ctx, queue);
      await publishSeries(ctx, client, queue, 1);
      const { atMs } = await subscriber.delivery({ queue });
      await waitUntil(ctx, atMs + ctx.target.ackTimeoutMs + ctx.timing.lateMs);
      await resetSubscriber(ctx, subscriber, { witness: client, queue, remaining: 0 });
      if ((await messageCountOf(client, queue)) !== 0) {
        ctx.noteLateness('the message was given back: its ack timeout may not have come yet');
        ctx.notApplicable('the broker does not discard a message after its last failed attempt');
      }
      const kept = await publishSeries(ctx, client, other, 1);
      await crashBroker(ctx);
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, queue)), [], 'the messages in the queue');
      ctx.assert.deepEqual(
        idsOf(await takeAll(ctx, other)),
        kept,
        'the messages in the other queue',
        'DURABLE-003',
      );
    },
  },
  // DURABLE-027 (MUST): After a restart, the broker has nothing whose removal was committed: no deleted queue, and no
  // message that was deleted with its queue, purged, evicted, or sent in FanOutWithoutAck.
  {
    id: 'DURABLE-027b',
    title:
      'does not restore a message that a dead letter pushed out of a full queue, after a stop and a start',
    clauses: ['DURABLE-027', 'DURABLE-012'],
    ...durableBroker,
    accepts: [
      'a dead letter evicts the oldest message of a full queue',
      'the dead letter queue keeps other messages than the newest, or all',
    ],
    evidence: { frames: 14, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters', { maxQueueSize: 1 });
      const source = await redirectTo(ctx, client, letters, 2);
      const count = await finalCount(ctx, client, letters, 1);
      await restartBroker(ctx, client);
      const recovered = idsOf(await takeAll(ctx, letters));
      ctx.assert.equal(recovered.length, count, 'number of dead letters, which is the same as before');
      const inSource = await takeAll(ctx, source);
      ctx.assert.equal(inSource.length, 1, 'number of messages in the source queue', 'DURABLE-012');
    },
  },
  // DURABLE-027 (MUST): After a restart, the broker has nothing whose removal was committed: no deleted queue, and no
  // message that was deleted with its queue, purged, evicted, or sent in FanOutWithoutAck.
  {
    id: 'DURABLE-027c',
    title:
      'does not restore a message that a DELETE removed, after a stop and a start, and restores the others',
    clauses: ['DURABLE-027', 'DASH-016', 'DURABLE-003'],
    ...changedByTheDashboard,
    evidence: { responses: 1, frames: 12, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'one-less');
      const [first, second = '', third] = await publishSeries(ctx, client, queue, 3);
      await remove(ctx, messagePath(queue, second), 'DASH-016');
      ctx.assert.equal(await messageCountOf(client, queue), 2, 'number of waiting messages', 'DASH-016');
      await restartBroker(ctx, client);
      const recovered = sorted(idsOf(await takeAll(ctx, queue)));
      ctx.assert.deepEqual(recovered, [first, third].sort(), 'the messages in the queue after the start');
    },
  },
  // DURABLE-027 (MUST): After a restart, the broker has nothing whose removal was committed: no deleted queue, and no
  // message that was deleted with its queue, purged, evicted, or sent in FanOutWithoutAck.
  {
    id: 'DURABLE-027d',
    title: 'does not restore the messages that a DELETE purged, after a stop and a start',
    clauses: ['DURABLE-027', 'DASH-018', 'DURABLE-003'],
    ...changedByTheDashboard,
    evidence: { responses: 1, frames: 14, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'purged');
      await publishSeries(ctx, client, queue, 3);
      await remove(ctx, messagesPath(queue), 'DASH-018');
      ctx.assert.equal(await messageCountOf(client, queue), 0, 'number of waiting messages', 'DASH-018');
      const later = await publishSeries(ctx, client, queue, 1);
      await restartBroker(ctx, client);
      const recovered = idsOf(await takeAll(ctx, queue));
      ctx.assert.deepEqual(recovered, later, 'the messages in the queue after the start');
    },
  },
  // DURABLE-027 (MUST): After a restart, the broker has nothing whose removal was committed: no deleted queue, and no
  // message that was deleted with its queue, purged, evicted, or sent in FanOutWithoutAck.
  {
    id: 'DURABLE-027e',
    title: 'starts without a queue of 2,400 messages that was deleted just before the stop',
    clauses: ['DURABLE-027', 'QUEUE-014', 'DURABLE-003'],
    ...durableBroker,
    evidence: { frames: 2400, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'long');
      const other = await newQueue(ctx, client, 'other');
      const kept = await publishSeries(ctx, client, other, 1);
      await publishMany(ctx, client, queue, 2400);
      await client.deleteQueue(queue);
      await restartBroker(ctx, client);
      const again = await ctx.connect();
      ctx.assert.equal(await again.queueInfo(queue), undefined, 'QueueInfo of the deleted queue');
      await again.createQueue(queue);
      ctx.assert.equal(
        await messageCountOf(again, queue),
        0,
        'messageCount of the queue that is created again',
      );
      const recovered = idsOf(await takeAll(ctx, other));
      ctx.assert.deepEqual(recovered, kept, 'the messages of another queue', 'DURABLE-003');
    },
  },
  // DASH-032 (MAY): The dashboard serves requeue: POST /api/queues/{name}/messages/{id}/requeue moves a dead letter to
  // its source queue in one transaction and answers 204.
  {
    id: 'DASH-032b',
    title: 'has a requeued dead letter in its source queue, and nowhere else, after a stop and a start',
    clauses: ['DASH-032', 'DURABLE-003', 'DURABLE-027'],
    ...changedByTheDashboard,
    requires: { ...changedByTheDashboard.requires, capabilities: ['requeue'] },
    evidence: { responses: 1, frames: 16, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters', {});
      const source = await redirectTo(ctx, client, letters, 1);
      // Makes room for the dead letter that comes back.
      await client.subscribe(source);
      await takeAndAck(client, source, 1);
      await client.unsubscribe(source);
      const count = await finalCount(ctx, client, letters, 1);
      ctx.assert.equal(count, 1, 'number of dead letters', 'OVERFLOW-022');
      const [id] = idsIn(await listMessages(ctx, letters));
      ctx.assert.equal(await requeue(ctx, letters, String(id)), 204, 'the status of a requeue');
      await restartBroker(ctx, client);
      const inSource = await takeAll(ctx, source);
      const left = await takeAll(ctx, letters);
      ctx.assert.notEqual(
        inSource.length + left.length,
        0,
        'number of messages in both queues',
        'DURABLE-003',
      );
      ctx.assert.equal(inSource.length, 1, 'number of messages in the source queue after the start');
      ctx.assert.equal(left.length, 0, 'number of dead letters after the start', 'DURABLE-027');
    },
  },
  // PUBLISH-008 (SHOULD): The broker recognizes a repeat by its id alone and keeps the content of the first message.
  {
    id: 'PUBLISH-008a',
    title:
      'confirms a repeat of messages that waited before a crash, adds no message, and keeps their payloads',
    clauses: ['PUBLISH-008', 'PUBLISH-005'],
    ...durableBroker,
    evidence: { frames: 12, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'repeated');
      const ids = await publishSeries(ctx, client, queue, 2);
      await crashBroker(ctx);
      const again = await ctx.connect();
      for (const id of ids) await again.publish(queue, '"another"', { id });
      const recovered = await takeAll(ctx, queue);
      ctx.assert.deepEqual(
        sorted(idsOf(recovered)),
        sorted(ids),
        'the messages in the queue after a repeat of each',
        'PUBLISH-005',
      );
      for (const [index, id] of ids.entries()) {
        const payload = recovered.find((delivery) => delivery.id === id)?.payload;
        ctx.assert.sameJson(payload, String(index), 'the payload of a message that was repeated');
      }
    },
  },
] satisfies readonly Check[];

/**
 * Acknowledges a delivery during a shutdown. Whether the broker then closes the connection, which has nothing in flight any more, long
 * before the shutdown timeout: it has handled the ack. If not, that is a warning.
 */
async function isAckHandled(
  ctx: CheckContext,
  subscriber: Connection,
  delivery: ReceivedFrame,
): Promise<boolean> {
  const { shutdownTimeoutMs } = ctx.target;
  const ackedAt = ctx.now();
  await subscriber.ack(delivery);
  await subscriber.closed({ withinMs: shutdownTimeoutMs + ctx.timing.closeMs, clause: 'SHUTDOWN-002' });
  noteIfLate(ctx, { sinceMs: ackedAt, maxMs: shutdownTimeoutMs / 2, step: 'the end of the connection' });
  const tookMs = ctx.now() - ackedAt;
  const isHandled = tookMs < shutdownTimeoutMs / 2;
  ctx.should(
    isHandled,
    'SHUTDOWN-006',
    'the broker closes a connection when its last message is acknowledged',
    {
      expected: 'less than half of shutdownTimeout after the ack',
      actual: `${Math.round(tookMs)} ms`,
    },
  );
  return isHandled;
}

/**
 * Makes `count` dead letters: fills a RedirectToDlq queue, and publishes so many more messages to it. Returns its name. `options`: others of the
 * queue.
 */
export async function redirectTo(
  ctx: CheckContext,
  client: Connection,
  deadLetterQueueName: string,
  count: number,
  options: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const redirecting = { overflowStrategy: 3, enableDeadLetterQueue: true, maxQueueSize: 1 };
  const queue = await newQueue(ctx, client, 'source', { ...redirecting, deadLetterQueueName, ...options });
  await publishSeries(ctx, client, queue, count + 1);
  return queue;
}

/** messageCount, as soon as it is as `recommended`, or when it had the time to become so. */
export async function finalCount(
  ctx: CheckContext,
  client: Connection,
  queue: string,
  recommended: number,
): Promise<unknown> {
  const until = ctx.now() + ctx.timing.answerMs;
  let count = await messageCountOf(client, queue);
  while (count !== recommended && ctx.now() < until) {
    await waitUntil(ctx, ctx.now() + 15);
    count = await messageCountOf(client, queue);
  }
  return count;
}
