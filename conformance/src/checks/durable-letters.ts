// Checks of dead letters after a restart: one that failed for good is gone, so is a dead letter queue that was deleted, and each can be looked at
// and removed by its id. Areas: DLQ, DURABLE, DASH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { messagePath, readRecord, remove } from './shared/dashboard-api.ts';
import { durableBroker, restartBroker, takeAll } from './shared/durable-broker.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { newSubscriber } from './shared/queue-with-subscribers.ts';
import { publishSeries, resetSubscriber } from './shared/subscribers.ts';

export const durableLetterChecks: CheckModule = [
  // DLQ-010 (SHOULD): When a message that was dead-lettered once fails or expires, the broker discards it.
  {
    id: 'DLQ-010c',
    title: 'does not restore a dead letter that a subscriber of the dead letter queue refused for good',
    clauses: ['DLQ-010', 'DURABLE-027'],
    ...durableBroker,
    requires: { ...durableBroker.requires, capabilities: ['nack'] },
    accepts: ['the broker discards the dead letter', 'it keeps it (not applicable)'],
    evidence: { frames: 14, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const { letters, ids } = await twoLetters(ctx, client);
      const subscriber = await newSubscriber(ctx, letters);
      const refused = await subscriber.delivery({ queue: letters });
      const failureReason = 'DeserializationError';
      await subscriber.send({ command: Command.Ack, id: refused.id, headers: { failureReason } });
      await subscriber.ping();
      await resetSubscriber(ctx, subscriber, { witness: client, queue: letters, remaining: 0 });
      if ((await messageCountOf(client, letters)) !== 1)
        ctx.notApplicable('the broker does not discard a dead letter that is refused');
      await restartBroker(ctx, client);
      const left = (await takeAll(ctx, letters)).map((letter) => letter.id);
      ctx.assert.deepEqual(
        left,
        ids.filter((id) => id !== refused.id),
        'the dead letters after the restart',
      );
    },
  },
  // DURABLE-027 (MUST): After a restart, the broker has nothing whose removal was committed: no deleted queue, and no
  // message that was deleted with its queue, purged, evicted, or sent in FanOutWithoutAck.
  {
    id: 'DURABLE-027h',
    title:
      'does not create a deleted dead letter queue again because its source queue is there after a start',
    clauses: ['DURABLE-027', 'DURABLE-008'],
    ...durableBroker,
    evidence: { frames: 6, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const source = await newQueue(ctx, client, 'source', withLetters);
      await client.deleteQueue(letters);
      await restartBroker(ctx, client);
      const names = await (await ctx.connect()).listQueues();
      ctx.assert.ok(names.includes(source), 'the source queue exists', {
        actual: names,
        clause: 'DURABLE-008',
      });
      ctx.assert.ok(!names.includes(letters), 'the deleted dead letter queue does not exist', {
        actual: names,
      });
    },
  },
  // DASH-014 (MUST): GET /api/queues/{name}/messages/{messageId} answers with the fields of DASH-009 and the whole
  // payload of the message.
  {
    id: 'DASH-014c',
    title: 'finds and removes each dead letter by its id after a restart',
    clauses: ['DASH-014', 'DASH-016'],
    ...durableBroker,
    requires: { ...durableBroker.requires, profiles: ['dashboard'] },
    evidence: { frames: 7, responses: 2, assertions: 3 },
    run: async (ctx) => {
      const before = await ctx.connect();
      const { letters, ids } = await twoLetters(ctx, before);
      await restartBroker(ctx, before);
      const client = await ctx.connect();
      for (const id of ids) {
        const record = await readRecord(ctx, messagePath(letters, id), 'DASH-014');
        ctx.assert.equal(record['id'], id, 'the id of the dead letter');
        await remove(ctx, messagePath(letters, id), 'DASH-016');
      }
      ctx.assert.equal(
        await messageCountOf(client, letters),
        0,
        'number of dead letters that are left',
        'DASH-016',
      );
    },
  },
] satisfies readonly Check[];

/** Two dead letters in a queue, in the order in which they came. That a dead letter keeps its id is only recommended, so ids are asked for. */
async function twoLetters(ctx: CheckContext, client: Connection) {
  const letters = await newQueue(ctx, client, 'letters');
  const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
  const queue = await newQueue(ctx, client, 'source', {
    overflowStrategy: 3,
    maxQueueSize: 1,
    ...withLetters,
  });
  const [, ...ids] = await publishSeries(ctx, client, queue, 3);
  return { letters, ids };
}
