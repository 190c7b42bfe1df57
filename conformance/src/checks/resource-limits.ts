// Checks of the limits on memory, on bytes of queued messages, on queues and on subscriptions. Each check asks for a low limit. Limits that apply to
// the whole broker are checked on a broker that no other check uses. Areas: LIMIT, HEALTH, OVERFLOW, FRAME.

import { randomBytes } from 'node:crypto';
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { fittingLength, sizedPayload, textOfLength } from './shared/bodies.ts';
import { isPingAnswered } from './shared/ping-answered.ts';
import { eventually, messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import { expectRefusedWith } from './shared/refusals.ts';
import type { JsonRecord } from './shared/required-fields.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { expectOnlySentinel, idsOf, publishSeries, takeAndAck } from './shared/subscribers.ts';

const maxQueuedBytes = 200_000;
export const messageBytes = 20_000;

/** Enough for an empty broker with its runtime. */
const memoryLimitBytes = 192 * 1024 * 1024;
const largeMessageBytes = 900_000;

const healthy = { code: 200, status: 'healthy' } as const;
const unhealthy = { code: 503, status: 'unhealthy' } as const;

const longName = 'q'.repeat(150);
const maxStructureBytes = 60_000;

export const smallMemory = {
  profile: 'limits',
  isolation: 'fresh',
  requires: { configuration: { limits: { maxQueuedBytes } } },
} as const;

/** Of the blocked publishes of one connection, by default. */
const maxBlockedBytes = 4 * 1024 * 1024;

export const resourceLimitChecks: CheckModule = [
  // OVERFLOW-021 (SHOULD): The broker answers a Publish that would be blocked by Error QUEUE_FULL, when the bytes of
  // the blocked publishes of its connection would exceed maxBlockedBytes.
  {
    id: 'OVERFLOW-021a',
    title: 'refuses a Publish that would be blocked with QUEUE_FULL when 4 MiB of its connection are blocked',
    clauses: ['OVERFLOW-021'],
    profile: 'limits',
    accepts: [
      'Error QUEUE_FULL',
      'the broker does not read from the connection while the Publish is blocked',
    ],
    evidence: { frames: 14, messages: 5 },
    run: async (ctx) => {
      const [client, publisher] = [await ctx.connect(), await ctx.connect({ own: true })];
      const queue = await newQueue(ctx, client, 'full', { overflowStrategy: 2, maxQueueSize: 1 });
      await publishSeries(ctx, client, queue, 1);
      const payloadBytes = fittingLength(ctx.target, 900_000);
      const payload = JSON.stringify(textOfLength(payloadBytes - 2));
      const blockedCount = Math.floor(maxBlockedBytes / payloadBytes);
      const ids = Array.from({ length: blockedCount + 1 }, () => ctx.id('blocked'));
      for (const id of ids) await publisher.send({ command: Command.Publish, id, queue, payload });
      const last = ids.at(-1) ?? '';
      const isRead = await isPingAnswered(ctx, publisher, client);
      if (isRead) await publisher.expect({ command: 'Error', id: last }, { clause: 'OVERFLOW-021' });
      const early = publisher.received.filter(({ id }) => ids.slice(0, -1).includes(id ?? ''));
      const acks = early.filter(({ command }) => command === Command.PublishAck);
      ctx.assert.deepEqual(acks.map(frameText), [], 'the confirmations without room', 'OVERFLOW-010');
      ctx.assert.deepEqual(early.map(frameText), [], 'the answers to the publishes within the limit');
      await client.subscribe(queue);
      const taken = idsOf(await takeAndAck(client, queue, 1 + blockedCount)).slice(1);
      ctx.assert.deepEqual(taken, ids.slice(0, -1), 'the messages that were blocked', 'OVERFLOW-012');
      const clause = 'OVERFLOW-011';
      for (const id of taken) await publisher.expect({ command: 'PublishAck', id }, { clause });
      // A Publish that the broker reads later is answered when there is room.
      const [refusal] = publisher.received.filter((frame) => frame.id === last);
      const answer = refusal ?? (await publisher.expect({ command: ['Error', 'PublishAck'], id: last }));
      const isStored = answer.command === Command.PublishAck;
      const text = 'the Publish beyond the limit is refused, or stored when there is room';
      ctx.assert.ok(isStored || answer.errorCode === 'QUEUE_FULL', text, { actual: frameText(answer) });
      if (isStored) await takeAndAck(client, queue, 1);
    },
  },
  // OVERFLOW-021 (SHOULD): The broker answers a Publish that would be blocked by Error QUEUE_FULL, when the bytes of
  // the blocked publishes of its connection would exceed maxBlockedBytes.
  {
    id: 'OVERFLOW-021b',
    title: 'blocks 3 MiB of a connection again and again, when there was room for those before',
    clauses: ['OVERFLOW-021'],
    profile: 'limits',
    evidence: { frames: 30, messages: 12, assertions: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const publisher = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'full', { overflowStrategy: 2, maxQueueSize: 1 });
      const payload = JSON.stringify(textOfLength(fittingLength(ctx.target, 1024 * 1024) - 2));
      for (let round = 1; round <= 3; round += 1) {
        await publishSeries(ctx, client, queue, 1);
        const ids = Array.from({ length: 3 }, () => ctx.id('blocked'));
        for (const id of ids) await publisher.send({ command: Command.Publish, id, queue, payload });
        await isPingAnswered(ctx, publisher, client);
        const early = publisher.received.filter(({ id }) => ids.includes(id ?? ''));
        ctx.assert.deepEqual(
          early.map(frameText),
          [],
          `the answers while there is no room in round ${round}`,
        );
        await client.subscribe(queue);
        const taken = idsOf(await takeAndAck(client, queue, 1 + ids.length)).slice(1);
        ctx.assert.deepEqual(taken, ids, `the messages that were blocked in round ${round}`, 'OVERFLOW-012');
        for (const id of ids) await publisher.expect({ command: 'PublishAck', id });
        await client.unsubscribe(queue);
      }
    },
  },
  // FRAME-025 (SHOULD): The broker sends Error MESSAGE_TOO_LARGE with the id of the command instead of an answer that
  // does not fit into a frame.
  {
    id: 'FRAME-025a',
    title: 'answers ListQueues with MESSAGE_TOO_LARGE when the names do not fit into a frame',
    clauses: ['FRAME-025'],
    profile: 'core',
    // A broker may have a limit that cannot be configured.
    prefers: { limits: { maxMessageSizeBytes: 4096 } },
    evidence: { frames: 22, assertions: 2 },
    run: async (ctx) => {
      if (ctx.target.maxMessageSizeBytes > 4096)
        ctx.notApplicable(
          `MaxMessageSize is ${ctx.target.maxMessageSizeBytes}: it takes too many names to exceed it`,
        );
      const client = await ctx.connect({ own: true });
      for (let index = 0; index < 20; index += 1)
        await client.createQueue(`${ctx.queue(`name-${index}`)}-`.padEnd(250, 'n'));
      const options = { clause: 'FRAME-025' };
      const answer = await client.request({ command: Command.ListQueues, id: ctx.id() }, options);
      ctx.assert.equal(answer.commandName, 'Error', 'the answer to ListQueues');
      ctx.assert.equal(answer.errorCode, 'MESSAGE_TOO_LARGE', 'the error code');
    },
  },
  // HEALTH-005 (MUST): GET /health/ answers 503 with status unhealthy, when memory usage is 90 percent or more.
  {
    id: 'HEALTH-005a',
    title:
      'answers healthy with 200 when its memory is almost unused, and unhealthy with 503 when messages fill it',
    clauses: ['HEALTH-005', 'HEALTH-004'],
    profile: 'limits',
    // Its memory must be its own.
    isolation: 'restart',
    requires: { configuration: { limits: { memoryLimitBytes, maxQueuedBytes: 2 * memoryLimitBytes } } },
    accepts: [
      'it becomes unhealthy at 90 percent of its limit',
      'it refuses publishes before 90 percent and stays healthy (not applicable)',
    ],
    evidence: { frames: 10, responses: 2, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'filling');
      const empty = await healthOf(ctx);
      if (empty.usedBytes < 0.8 * memoryLimitBytes) {
        const { code, status } = empty;
        ctx.assert.deepEqual({ code, status }, healthy, 'the health of an empty broker', 'HEALTH-004');
      }
      let [last, heldBytes, publishCount, isRefused] = [empty, 0, 0, false];
      while (last.code !== 503 && heldBytes < memoryLimitBytes && !isRefused) {
        const payload = randomText(largeMessageBytes);
        const answer = await client.request({ command: Command.Publish, id: ctx.id('m'), queue, payload });
        isRefused = answer.command === Command.Error;
        if (!isRefused) heldBytes += payload.length;
        publishCount += 1;
        if (isRefused || publishCount % 8 === 0) last = await healthOf(ctx);
      }
      // A broker may find room by itself in the next moment, as one with a garbage collector does.
      if (last.code !== unhealthy.code) last = await healthOf(ctx);
      const isFull = Math.max(heldBytes, last.usedBytes) >= 0.9 * memoryLimitBytes;
      if (!isFull && last.code === 200)
        ctx.notApplicable('the broker refuses messages before its memory is used');
      const { code, status } = last;
      ctx.assert.deepEqual({ code, status }, unhealthy, 'the health of a broker whose memory is used');
    },
  },
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
  // LIMIT-013 (SHOULD): The broker answers a Publish by Error MEMORY_LIMIT, when the bytes of all messages that it
  // holds would exceed maxQueuedBytes.
  {
    id: 'LIMIT-013b',
    title: 'does not count the bytes of messages that DropOldest evicted towards maxQueuedBytes',
    clauses: ['LIMIT-013'],
    ...smallMemory,
    evidence: { frames: 22, messages: 1, assertions: 20 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'light', { overflowStrategy: 0, maxQueueSize: 1 });
      for (let count = 0; count < (2 * maxQueuedBytes) / messageBytes; count += 1) {
        const id = ctx.id('m');
        const payload = sizedPayload({ id, queue, totalBytes: messageBytes });
        const answer = await client.request({ command: Command.Publish, id, queue, payload });
        ctx.assert.equal(answer.commandName, 'PublishAck', 'the answer to a Publish');
      }
      // A broker that keeps nothing would confirm them too.
      await client.subscribe(queue);
      await takeAndAck(client, queue, 1);
    },
  },
  // LIMIT-013 (SHOULD): The broker answers a Publish by Error MEMORY_LIMIT, when the bytes of all messages that it
  // holds would exceed maxQueuedBytes.
  {
    id: 'LIMIT-013c',
    title: 'does not count the bytes of expired messages towards maxQueuedBytes',
    clauses: ['LIMIT-013'],
    ...smallMemory,
    waits: true,
    evidence: { frames: 12, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'short-lived', { messageTtl: '00:00:01' });
      const { stored, refusal } = await publishUntilRefused(ctx, client, queue);
      ctx.assert.ok(refusal !== undefined, 'the broker refuses messages', {
        actual: `${stored.length} stored`,
      });
      await waitUntil(ctx, ctx.now() + 1000 + ctx.timing.lateMs);
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 0 });
      const again = await publishUntilRefused(ctx, client, queue);
      ctx.assert.equal(
        again.stored.length,
        stored.length,
        'number of messages that fit when others have expired',
      );
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
  // PUBLISH-005 (SHOULD): The broker answers a Publish with the id of a message that waits in the same queue by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-005e',
    title: 'recognizes the repeat of a waiting message when the broker holds as many bytes as it may',
    clauses: ['PUBLISH-005'],
    ...smallMemory,
    evidence: { frames: 8, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'heavy');
      const { stored, refusal } = await publishUntilRefused(ctx, client, queue);
      ctx.assert.ok(refusal !== undefined, 'the broker refuses messages', {
        actual: `${stored.length} stored`,
      });
      const [id = ''] = stored;
      const payload = sizedPayload({ id, queue, totalBytes: messageBytes });
      const answer = await client.request({ command: Command.Publish, id, queue, payload });
      ctx.assert.equal(answer.commandName, 'PublishAck', 'the answer to the repeat');
    },
  },
  // LIMIT-013 (SHOULD): The broker answers a Publish by Error MEMORY_LIMIT, when the bytes of all messages that it
  // holds would exceed maxQueuedBytes.
  {
    id: 'LIMIT-013d',
    title: 'does not count the bytes of blocked publishes whose connection has ended towards maxQueuedBytes',
    clauses: ['LIMIT-013'],
    ...smallMemory,
    evidence: { frames: 22, messages: 1, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'full', { overflowStrategy: 2, maxQueueSize: 1 });
      await publishSeries(ctx, client, queue, 1);
      for (let count = 0; count < (2 * maxQueuedBytes) / messageBytes; count += 1) {
        const publisher = await ctx.connect({ own: true });
        const id = ctx.id('blocked');
        const payload = sizedPayload({ id, queue, totalBytes: messageBytes });
        await publisher.send({ command: Command.Publish, id, queue, payload });
        await isPingAnswered(ctx, publisher, client);
        await publisher.abort();
      }
      const other = await newQueue(ctx, client, 'other');
      const isStored = async (): Promise<boolean> => {
        const id = ctx.id('m');
        const payload = sizedPayload({ id, queue: other, totalBytes: messageBytes });
        const answer = await client.request({ command: Command.Publish, id, queue: other, payload });
        return answer.command === Command.PublishAck;
      };
      await eventually(ctx, isStored, (stored) => stored, { text: 'the broker stores another message' });
      await client.subscribe(other);
      await takeAndAck(client, other, 1);
    },
  },
  // PUBLISH-002 (MUST): The broker sends PublishAck only when the message is in the queue, in the dead letter queue,
  // already settled, or dropped by DropNewest.
  {
    id: 'PUBLISH-002g',
    title: 'stores a message with the id of one that was refused because the broker holds too many bytes',
    clauses: ['PUBLISH-002'],
    ...smallMemory,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'heavy');
      const { stored, refusal } = await publishUntilRefused(ctx, client, queue);
      const id =
        refusal?.id ?? ctx.notApplicable('no Publish is refused for the bytes that the broker holds');
      await client.subscribe(queue);
      await takeAndAck(client, queue, stored.length);
      await client.publish(queue, '"again"', { id });
      const [added] = await takeAndAck(client, queue, 1);
      ctx.assert.equal(added?.id, id, 'the message that was published again');
    },
  },
  // LIMIT-016 (SHOULD): When maxQueues queues exist, the broker answers a CreateQueue, Publish or Subscribe that would
  // create another one by Error LIMIT_EXCEEDED.
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
      // Its dead letter queue exists, so that the broker creates no other one.
      const withExisting = { enableDeadLetterQueue: true, deadLetterQueueName: ctx.queue('two') };
      await client.createQueue(missing, withExisting);
      ctx.assert.equal(
        (await client.listQueues()).length,
        3,
        'number of queues after one was deleted and one created',
      );
    },
  },
  // LIMIT-017 (SHOULD): The broker answers a Subscribe by Error LIMIT_EXCEEDED, when its connection has
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
  // DELIVERY-064 (SHOULD): The broker answers a second Subscribe to the same queue on one connection by SubscribeAck
  // and changes nothing.
  {
    id: 'DELIVERY-064c',
    title:
      'answers a second Subscribe with SubscribeAck on a connection with maxSubscriptionsPerConnection subscriptions',
    clauses: ['DELIVERY-064'],
    profile: 'limits',
    prefers: { limits: { maxSubscriptionsPerConnection: 2 } },
    evidence: { frames: 12, messages: 2, assertions: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queues = [await newQueue(ctx, client, 'one'), await newQueue(ctx, client, 'two')];
      for (const queue of queues) await client.subscribe(queue);
      for (const queue of queues) {
        const answer = await client.request({ command: Command.Subscribe, id: ctx.id(), queue });
        ctx.assert.equal(answer.commandName, 'SubscribeAck', 'the answer to a second Subscribe');
        await expectOnlySentinel(ctx, client, queue, { text: 'a message is delivered once' });
      }
    },
  },
  // LIMIT-022 (SHOULD): The broker answers a CreateQueue, Subscribe or Publish by Error MEMORY_LIMIT, when its queues,
  // subscriptions and deliveries in flight would need more than maxStructureBytes.
  {
    id: 'LIMIT-022a',
    title:
      'refuses queues beyond maxStructureBytes with MEMORY_LIMIT, and creates queues again when others are deleted',
    clauses: ['LIMIT-022'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: { limits: { maxStructureBytes } } },
    evidence: { frames: 8, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const created: string[] = [];
      let refusal: ReceivedFrame | undefined;
      // More queues than this do not fit, however small they are, because of their names.
      while (refusal === undefined && created.length * longName.length <= maxStructureBytes) {
        const queue = ctx.queue(`${longName}-${created.length}`);
        const answer = await client.request({ command: Command.CreateQueue, id: ctx.id(), queue });
        if (answer.command === Command.Error) refusal = answer;
        else created.push(queue);
      }
      ctx.assert.equal(
        refusal?.errorCode,
        'MEMORY_LIMIT',
        'the error code of the CreateQueue beyond maxStructureBytes',
      );
      ctx.assert.ok(created.length > 0, 'some queues fit', { expected: 'at least 1', actual: '0' });
      const [first = ''] = created;
      await client.deleteQueue(first);
      const again = await client.request({ command: Command.CreateQueue, id: ctx.id(), queue: first });
      ctx.assert.ok(again.command === Command.CreateQueue, 'a queue fits again when another was deleted', {
        actual: frameText(again),
      });
    },
  },
] satisfies readonly Check[];

/** The status code, field status, and the memory that the broker says it uses. */
async function healthOf(ctx: CheckContext) {
  const answer = await ctx.http.get('/health/');
  const record = answer.json() as JsonRecord | null;
  const usedBytes = Number(record?.['memory_usage_mb'] ?? 0) * 1024 * 1024;
  return { code: answer.status, status: record?.['status'], usedBytes };
}

/** A JSON text of that many characters that cannot be compressed well. */
function randomText(length: number): string {
  return `"${randomBytes(length).toString('base64url').slice(2, length)}"`;
}

/** Publishes until the broker refuses a message, at most twice maxQueuedBytes. Returns the stored ids and the Error. */
export async function publishUntilRefused(
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
