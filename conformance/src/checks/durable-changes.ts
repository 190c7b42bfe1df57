// Checks of what a durable broker has after a stop or a crash, and a start, of what changed in several steps before: queues that are deleted and
// created again, messages that only a part of the broker let go, times that begin anew, and counts. Areas: DURABLE, DASH, TTL, METRICS, LIMIT.
import type { Check, CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import { finalCount, redirectTo } from './durable-endings.ts';
import { withFullMember } from './fan-out.ts';
import { publishUntilRefused, smallMemory } from './resource-limits.ts';
import { idsIn, listMessages, messagesPath, remove, requeue } from './shared/dashboard-api.ts';
import { crashBroker, durableBroker, restartBroker, sorted, takeAll } from './shared/durable-broker.ts';
import { recordAt } from './shared/http-records.ts';
import { noteIfLate } from './shared/lateness.ts';
import { infoField, messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import { fanOutWithAck } from './shared/queue-with-subscribers.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { idsOf, publishMany, publishSeries, resetSubscriber, takeAndAck } from './shared/subscribers.ts';

/** For a broker that has a dashboard. */
const shownByTheDashboard = {
  ...durableBroker,
  requires: { ...durableBroker.requires, profiles: ['dashboard'] },
} as const satisfies Partial<Check>;

/** messageTtl of queues whose messages must outlive a start of the broker, and the same in milliseconds. */
const ttl = '00:00:04';
const ttlMs = 4000;

const queues: CheckModule = [
  // DURABLE-003 (MUST): After a crash at any moment, a broker with a durable store has every message whose PublishAck
  // was sent, unless the message was settled or dropped by DropNewest.
  {
    id: 'DURABLE-003f',
    title: 'keeps messages of a queue that had thousands before it was deleted and created again',
    clauses: ['DURABLE-003', 'DURABLE-027'],
    ...durableBroker,
    accepts: ['the first crash undoes the deletion', 'the first crash does not undo the deletion'],
    evidence: { frames: 3500, messages: 5, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const other = await newQueue(ctx, client, 'other');
      const queue = await newQueue(ctx, client, 'long');
      await publishMany(ctx, client, queue, 3500);
      await publishSeries(ctx, client, other, 1);
      await client.deleteQueue(queue);
      await crashBroker(ctx);
      const again = await ctx.connect();
      if ((await again.queueInfo(queue)) !== undefined) await again.deleteQueue(queue);
      await again.createQueue(queue);
      const ids = await publishSeries(ctx, again, queue, 5);
      await crashBroker(ctx);
      const recovered = idsOf(await takeAll(ctx, queue));
      ctx.assert.deepEqual(sorted(recovered), sorted(ids), 'the messages in the queue');
    },
  },
  // DURABLE-008 (MUST): A broker with a durable store keeps queues and their options over a restart.
  {
    id: 'DURABLE-008b',
    title: 'keeps a queue that is created immediately after one of its name was deleted',
    clauses: ['DURABLE-008', 'QUEUE-001'],
    ...durableBroker,
    evidence: { frames: 6, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'renewed', { maxQueueSize: 3 });
      const [deleteId, createId] = [ctx.id('delete'), ctx.id('create')];
      // In one write, so that a broker may save both at the same time.
      await client.sendTogether([
        { command: Command.DeleteQueue, id: deleteId, queue },
        { command: Command.CreateQueue, id: createId, queue, payload: '{"maxQueueSize":5}' },
      ]);
      await client.expect({ command: 'DeleteQueue', id: deleteId }, { clause: 'QUEUE-014' });
      await client.expect({ command: 'CreateQueue', id: createId }, { clause: 'QUEUE-001' });
      const what = 'maxSize of the queue that was created again';
      ctx.assert.equal(await infoField(client, queue, 'maxSize'), 5, what, 'QUEUE-001');
      await restartBroker(ctx, client);
      const maxSize = await infoField(await ctx.connect(), queue, 'maxSize');
      ctx.assert.equal(maxSize, 5, `${what}, after the start`);
    },
  },
];

const messages: CheckModule = [
  // DURABLE-027 (MUST): After a restart, the broker has nothing whose removal was committed: no deleted queue, and no
  // message that was deleted with its queue, purged, evicted, or sent in FanOutWithoutAck.
  {
    id: 'DURABLE-027f',
    title: 'does not restore dead letters and messages between them that a DELETE purged together',
    clauses: ['DURABLE-027', 'DASH-018'],
    ...shownByTheDashboard,
    evidence: { responses: 1, frames: 16, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters', {});
      await publishSeries(ctx, client, letters, 1);
      await redirectTo(ctx, client, letters, 3);
      await publishSeries(ctx, client, letters, 1);
      const count = await finalCount(ctx, client, letters, 5);
      ctx.assert.equal(count, 5, 'number of messages and dead letters', 'OVERFLOW-022');
      await remove(ctx, messagesPath(letters), 'DASH-018');
      ctx.assert.equal(await messageCountOf(client, letters), 0, 'number of waiting messages', 'DASH-018');
      const later = await publishSeries(ctx, client, letters, 1);
      await restartBroker(ctx, client);
      const recovered = idsOf(await takeAll(ctx, letters));
      ctx.assert.deepEqual(recovered, later, 'the messages in the queue after the start');
    },
  },
  // DURABLE-027 (MUST): After a restart, the broker has nothing whose removal was committed: no deleted queue, and no
  // message that was deleted with its queue, purged, evicted, or sent in FanOutWithoutAck.
  {
    id: 'DURABLE-027g',
    title: 'does not restore an evicted FanOutWithAck message whose last copy ended with its subscriber',
    clauses: ['DURABLE-027', 'DELIVERY-019', 'DELIVERY-022'],
    ...durableBroker,
    requires: { ...durableBroker.requires, capabilities: ['maxInFlight'] },
    evidence: { frames: 16, messages: 5 },
    run: async (ctx) => {
      const { publisher, queue, fast, slow, held } = await withFullMember(ctx, {
        ...fanOutWithAck,
        maxQueueSize: 1,
      });
      const [evicted = '', last = ''] = await publishSeries(ctx, publisher, queue, 2);
      for (const id of [evicted, last]) await fast.delivery({ queue, id });
      await resetSubscriber(ctx, fast, { witness: publisher, queue, remaining: 1 });
      await slow.ack(held);
      // Where the evicted message has kept its other copy, this one comes first.
      let copy = held;
      while (copy.id !== last) [copy = held] = await takeAndAck(slow, queue, 1);
      await slow.disconnect();
      await waitForInfo(ctx, publisher, queue, { field: 'subscriberCount', value: 0 });
      // It may wait again where no message is evicted that was sent to one of two subscribers.
      if ((await messageCountOf(publisher, queue)) !== 0) await takeAll(ctx, queue);
      const later = await publishSeries(ctx, publisher, queue, 1);
      await restartBroker(ctx, publisher);
      const recovered = idsOf(await takeAll(ctx, queue));
      ctx.assert.deepEqual(recovered, later, 'the messages in the queue after the start');
    },
  },
];

const times: CheckModule = [
  // DASH-033 (MUST): A broker that serves requeue removes the headers that dead-lettering added, sets the attempts of
  // the message to 0, starts its age anew, and puts it at the end of its source queue.
  {
    id: 'DASH-033e',
    title: 'has the new age of a requeued message also after a stop and a start',
    clauses: ['DASH-033', 'TTL-004', 'DURABLE-003'],
    ...shownByTheDashboard,
    requires: { ...shownByTheDashboard.requires, capabilities: ['requeue'] },
    waits: true,
    evidence: { responses: 2, frames: 12, messages: 2, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters', {});
      const source = await redirectTo(ctx, client, letters, 1, { messageTtl: ttl });
      const count = await finalCount(ctx, client, letters, 1);
      ctx.assert.equal(count, 1, 'number of dead letters', 'OVERFLOW-022');
      const deadLetteredAt = ctx.now();
      // Makes room for the dead letter that comes back.
      await client.subscribe(source);
      await takeAndAck(client, source, 1);
      await client.unsubscribe(source);
      const [id] = idsIn(await listMessages(ctx, letters));
      await waitUntil(ctx, deadLetteredAt + ttlMs - 500);
      const requeuedAt = ctx.now();
      ctx.assert.equal(await requeue(ctx, letters, String(id)), 204, 'the status of a requeue', 'DASH-032');
      await restartBroker(ctx, client);
      // Now the message has expired if its age is still that of the dead letter.
      await waitUntil(ctx, deadLetteredAt + ttlMs + ctx.timing.lateMs / 2);
      const recovered = idsOf(await takeAll(ctx, source));
      noteIfLate(ctx, { sinceMs: requeuedAt, maxMs: ttlMs, step: 'all from the requeue to the delivery' });
      ctx.assert.deepEqual(recovered, [id], 'the messages in the source queue after the start');
    },
  },
  // TTL-003 (SHOULD): The age of a dead letter starts when it is dead-lettered.
  {
    id: 'TTL-003b',
    title: 'has the age of a dead letter, and not that of its message, also after a stop and a start',
    clauses: ['TTL-003', 'TTL-004', 'DURABLE-012'],
    ...durableBroker,
    waits: true,
    evidence: { frames: 12, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters', { messageTtl: ttl });
      const options = { messageTtl: '00:00:03', enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const source = await newQueue(ctx, client, 'source', options);
      const [id] = await publishSeries(ctx, client, source, 1);
      const publishedAt = ctx.now();
      await waitUntil(ctx, publishedAt + 3000);
      const count = await finalCount(ctx, client, letters, 1);
      ctx.assert.equal(count, 1, 'number of dead letters', 'TTL-005');
      await restartBroker(ctx, client);
      // Now the dead letter has expired if its age is that of the message.
      await waitUntil(ctx, publishedAt + ttlMs + ctx.timing.lateMs / 2);
      const recovered = idsOf(await takeAll(ctx, letters));
      const step = 'all from the Publish to the delivery of the dead letter';
      noteIfLate(ctx, { sinceMs: publishedAt, maxMs: 3000 + ttlMs, step });
      ctx.assert.deepEqual(recovered, [id], 'the messages in the dead letter queue after the start');
    },
  },
];

const counts: CheckModule = [
  // METRICS-012 (SHOULD): total_dead_lettered increases by one for each message that moves to a dead letter queue.
  {
    id: 'METRICS-012b',
    title: 'does not count dead letters of before its start in total_dead_lettered',
    clauses: ['METRICS-012', 'DURABLE-012'],
    ...durableBroker,
    requires: { ...durableBroker.requires, profiles: ['observability'] },
    evidence: { responses: 1, frames: 7, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters', {});
      await redirectTo(ctx, client, letters, 2);
      await restartBroker(ctx, client);
      const count = (await recordAt(ctx, '/metrics/', [200]))['total_dead_lettered'];
      if (count === undefined) ctx.notApplicable('the shorter form of the record has no total_dead_lettered');
      ctx.assert.equal(count, 0, 'total_dead_lettered after the start');
      const recovered = await messageCountOf(await ctx.connect(), letters);
      ctx.assert.equal(recovered, 2, 'number of dead letters after the start', 'DURABLE-012');
    },
  },
  // LIMIT-013 (SHOULD): The broker answers a Publish by Error MEMORY_LIMIT, when the bytes of all messages that it
  // holds would exceed maxQueuedBytes.
  {
    id: 'LIMIT-013f',
    title: 'counts the bytes of messages of before its start towards maxQueuedBytes',
    clauses: ['LIMIT-013', 'DURABLE-003'],
    ...durableBroker,
    requires: {
      configuration: { ...durableBroker.requires.configuration, ...smallMemory.requires.configuration },
      profiles: ['limits'],
    },
    evidence: { frames: 6, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'heavy');
      const before = await publishUntilRefused(ctx, client, queue);
      const code = before.refusal?.errorCode;
      ctx.assert.equal(code, 'MEMORY_LIMIT', 'the error code of the Publish beyond maxQueuedBytes');
      await restartBroker(ctx, client);
      const again = await ctx.connect();
      const count = await messageCountOf(again, queue);
      ctx.assert.equal(count, before.stored.length, 'number of waiting messages', 'DURABLE-003');
      const { stored } = await publishUntilRefused(ctx, again, queue);
      ctx.assert.between(stored.length, 0, 1, 'number of messages that still fit after the start');
    },
  },
];

export const durableChangeChecks: CheckModule = [...queues, ...messages, ...times, ...counts];
