// Checks of the limits on bytes of queued messages, on queues and on subscriptions. Each check asks for a low limit. Limits that apply to
// the whole broker are checked on a broker that no other check uses. Area: LIMIT.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { sizedPayload } from './shared/bodies.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { expectRefusedWith } from './shared/refusals.ts';
import { idsOf, takeAndAck } from './shared/subscribers.ts';

const maxQueuedBytes = 200_000;
const messageBytes = 20_000;

const smallMemory = {
  profile: 'limits',
  isolation: 'fresh',
  requires: { configuration: { limits: { maxQueuedBytes } } },
} as const;

export const resourceLimitChecks: CheckModule = [
  // LIMIT-013 (SHOULD): The broker answers a Publish by Error MEMORY_LIMIT, when the bytes of all messages that it
  // holds would exceed maxQueuedBytes.
  {
    id: 'LIMIT-013a',
    title: 'refuses a Publish beyond maxQueuedBytes with MEMORY_LIMIT, and does not store it',
    clauses: ['LIMIT-013', 'PUBLISH-003'],
    ...smallMemory,
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'heavy');
      const { stored, refusal } = await publishUntilRefused(ctx, client, queue);
      ctx.assert.equal(
        refusal?.errorCode,
        'MEMORY_LIMIT',
        'the error code of the Publish beyond maxQueuedBytes',
      );
      ctx.assert.between(
        stored.length * messageBytes,
        messageBytes,
        maxQueuedBytes,
        'total bytes of the accepted messages',
      );
      ctx.assert.equal(await messageCountOf(client, queue), stored.length, 'number of waiting messages');
    },
  },
  // LIMIT-014 (SHOULD): While the broker answers publishes by MEMORY_LIMIT, it continues to deliver messages and to
  // handle acks.
  {
    id: 'LIMIT-014a',
    title:
      'delivers messages and handles acks while it refuses publishes with MEMORY_LIMIT, and accepts publishes afterwards',
    clauses: ['LIMIT-014', 'LIMIT-013'],
    ...smallMemory,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'heavy');
      const { stored } = await publishUntilRefused(ctx, client, queue);
      await client.subscribe(queue);
      ctx.assert.deepEqual(
        idsOf(await takeAndAck(client, queue, stored.length)),
        stored,
        'the delivered messages',
      );
      await client.ping();
      const id = ctx.id('m');
      await client.publish(queue, sizedPayload({ id, queue, totalBytes: messageBytes }), { id });
      ctx.assert.deepEqual(
        idsOf(await takeAndAck(client, queue, 1)),
        [id],
        'the message that is published afterwards',
      );
    },
  },
  // LIMIT-016 (SHOULD): The broker refuses to create a queue with LIMIT_EXCEEDED, when maxQueues queues exist.
  {
    id: 'LIMIT-016a',
    title: 'refuses a queue beyond maxQueues with LIMIT_EXCEEDED, whichever command would create it',
    clauses: ['LIMIT-016'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: { limits: { maxQueues: 3 } } },
    evidence: { frames: 11, assertions: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const name of ['one', 'two', 'three']) await newQueue(ctx, client, name);
      const missing = ctx.queue('four');
      for (const command of [Command.CreateQueue, Command.Publish, Command.Subscribe]) {
        const fields = { command, id: ctx.id(), queue: missing };
        const expected = { code: 'LIMIT_EXCEEDED', what: 'the number of queues has reached maxQueues' };
        await expectRefusedWith(ctx, client, fields, expected);
      }
      await client.deleteQueue(ctx.queue('one'));
      await client.createQueue(missing);
      ctx.assert.equal(
        (await client.listQueues()).length,
        3,
        'number of queues after one was deleted and one created',
      );
    },
  },
  // LIMIT-017 (SHOULD): The broker refuses a Subscribe with LIMIT_EXCEEDED, when its connection has
  // maxSubscriptionsPerConnection subscriptions.
  {
    id: 'LIMIT-017a',
    title: 'refuses a Subscribe beyond maxSubscriptionsPerConnection with LIMIT_EXCEEDED',
    clauses: ['LIMIT-017'],
    profile: 'limits',
    requires: { configuration: { limits: { maxSubscriptionsPerConnection: 2 } } },
    evidence: { frames: 12, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queues: string[] = [];
      for (const name of ['one', 'two', 'three']) queues.push(await newQueue(ctx, client, name));
      const [first = '', second = '', third = ''] = queues;
      await client.subscribe(first);
      await client.subscribe(second);
      const fields = { command: Command.Subscribe, id: ctx.id(), queue: third };
      const what = 'the connection has reached maxSubscriptionsPerConnection';
      await expectRefusedWith(ctx, client, fields, { code: 'LIMIT_EXCEEDED', what });
      await (await ctx.connect({ own: true })).subscribe(third);
      await client.unsubscribe(first);
      const { queue } = await client.subscribe(third);
      ctx.assert.equal(queue, third, 'the queue in SubscribeAck, after an Unsubscribe');
    },
  },
] satisfies readonly Check[];

/** Publishes until the broker refuses a message, at most twice maxQueuedBytes. Returns the stored ids and the Error. */
async function publishUntilRefused(
  ctx: CheckContext,
  client: Connection,
  queue: string,
): Promise<{ readonly stored: readonly string[]; readonly refusal: ReceivedFrame | undefined }> {
  const stored: string[] = [];
  const maxCount = (2 * maxQueuedBytes) / messageBytes;
  while (stored.length < maxCount) {
    const id = ctx.id('m');
    const payload = sizedPayload({ id, queue, totalBytes: messageBytes });
    const answer = await client.request({ command: Command.Publish, id, queue, payload });
    if (answer.command === Command.Error) return { stored, refusal: answer };
    stored.push(id);
  }
  return { stored, refusal: undefined };
}
