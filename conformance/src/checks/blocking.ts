// Checks of BlockPublisher: a Publish to a full queue waits for room. While it waits, the broker may handle other commands of the
// connection or stop reading from it. Both are right; a Ping after the Publish shows which one the broker does. Areas: OVERFLOW, PUBLISH,
// QUEUE.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import { messagesPath, remove } from './shared/dashboard-api.ts';
import { noteIfLate } from './shared/lateness.ts';
import { isPingAnswered } from './shared/ping-answered.ts';
import { infoField, newQueue, waitForInfo } from './shared/queue-state.ts';
import { expectEmpty, waitUntil } from './shared/retry-attempts.ts';
import { expectOnlySentinel, idsOf, publishSeries, takeAndAck } from './shared/subscribers.ts';

const blockPublisher = { overflowStrategy: 2, maxQueueSize: 1 } as const;

const blockedPublishes: CheckModule = [
  // OVERFLOW-010 (MUST): With BlockPublisher, the broker sends no PublishAck for a Publish to a full queue before the
  // queue has room.
  {
    id: 'OVERFLOW-010a',
    title: 'sends PublishAck for a Publish to a full BlockPublisher queue only when the queue has room',
    clauses: ['OVERFLOW-010', 'OVERFLOW-011', 'OVERFLOW-012', 'PUBLISH-002'],
    profile: 'delivery',
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const { client, publisher, queue, id, first } = await withBlockedPublish(ctx);
      await client.subscribe(queue);
      const delivered = idsOf(await takeAndAck(client, queue, 2));
      ctx.assert.deepEqual(delivered, [first, id], 'the delivered messages');
      await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
      await expectOnlySentinel(ctx, client, queue, { text: 'each message is delivered only once' });
    },
  },
  // OVERFLOW-012 (MUST): With BlockPublisher, the broker loses no message of a publisher that stays connected.
  {
    id: 'OVERFLOW-012a',
    title:
      'loses none of ten messages that are published together to a BlockPublisher queue with maxQueueSize 2',
    clauses: ['OVERFLOW-012', 'OVERFLOW-011', 'OVERFLOW-014'],
    profile: 'delivery',
    evidence: { frames: 24, messages: 11 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const publisher = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'two', { ...blockPublisher, maxQueueSize: 2 });
      const ids = Array.from({ length: 10 }, () => ctx.id('m'));
      for (const id of ids) await publisher.send({ command: Command.Publish, id, queue, payload: '1' });
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 2 });
      await client.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, 10)), ids, 'the delivered messages');
      for (const id of ids) await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
      await expectOnlySentinel(ctx, client, queue, { text: 'each message is delivered only once' });
    },
  },
  // OVERFLOW-013 (MUST): With BlockPublisher, a blocked Publish does not close any other connection, nor delay or
  // change its answers.
  {
    id: 'OVERFLOW-013a',
    title: 'serves other connections while a Publish is blocked',
    clauses: ['OVERFLOW-013'],
    profile: 'delivery',
    evidence: { frames: 14, messages: 2 },
    run: async (ctx) => {
      const { client, publisher, queue, id } = await withBlockedPublish(ctx);
      const other = await newQueue(ctx, client, 'other');
      await client.subscribe(other);
      await expectOnlySentinel(ctx, client, other, { text: 'the broker delivers messages of another queue' });
      const names = await client.listQueues();
      ctx.assert.ok(names.includes(queue), 'ListQueues lists the full queue', { actual: names });
      await client.subscribe(queue);
      await takeAndAck(client, queue, 2);
      await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
    },
  },
  // OVERFLOW-014 (MUST): The broker adds the blocked publishes of a queue in the order of their arrival, across all
  // connections.
  {
    id: 'OVERFLOW-014a',
    title: 'adds blocked publishes of several connections in the order of their arrival',
    clauses: ['OVERFLOW-014', 'OVERFLOW-011'],
    profile: 'delivery',
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const { client, queue, first, id } = await withBlockedPublish(ctx);
      const ids = [first, id];
      const publishers = [await ctx.connect({ own: true }), await ctx.connect({ own: true })];
      for (const publisher of publishers)
        ids.push(await publishBlocked(ctx, publisher, { queue, witness: client }));
      await client.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, ids.length)), ids, 'the delivered messages');
      for (const publisher of publishers) await publisher.expect('PublishAck', { clause: 'OVERFLOW-011' });
    },
  },
  // OVERFLOW-014 (MUST): The broker adds the blocked publishes of a queue in the order of their arrival, across all
  // connections.
  {
    id: 'OVERFLOW-014b',
    title: 'keeps the order of the blocked publishes that are left when the connection of another ends',
    clauses: ['OVERFLOW-014'],
    profile: 'delivery',
    accepts: ['the message of the publisher that left is dropped', 'it is delivered at its place'],
    evidence: { frames: 16, messages: 4 },
    run: async (ctx) => {
      const { client, publisher, queue } = await withBlockedPublish(ctx, { watched: true });
      const left: string[] = [];
      for (let count = 0; count < 3; count += 1)
        left.push(await publishBlocked(ctx, await ctx.connect({ own: true }), { queue, witness: client }));
      await publisher.abort();
      await waitForEndOfPublisher(ctx, client);
      await client.subscribe(queue);
      const delivered: string[] = [];
      while (left.some((id) => !delivered.includes(id)))
        delivered.push(...idsOf(await takeAndAck(client, queue, 1)));
      ctx.assert.deepEqual(
        delivered.filter((id) => left.includes(id)),
        left,
        'the messages of the publishers that stayed, in the order of their delivery',
      );
    },
  },
  // OVERFLOW-011 (MUST): With BlockPublisher, the broker adds the blocked message and sends its PublishAck as soon as
  // the queue has room.
  {
    id: 'OVERFLOW-011a',
    title: 'adds a blocked message when DELETE of all messages makes room for it',
    clauses: ['OVERFLOW-011', 'DASH-018'],
    profile: 'dashboard',
    evidence: { frames: 8, messages: 1, responses: 1 },
    run: async (ctx) => {
      const { client, publisher, queue, id } = await withBlockedPublish(ctx);
      await remove(ctx, messagesPath(queue), 'DASH-018');
      await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
      await client.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, 1)), [id], 'the delivered message');
    },
  },
  // OVERFLOW-018 (SHOULD): When the connection of a publisher ends, the broker drops the messages of that connection
  // that are still blocked.
  {
    id: 'OVERFLOW-018a',
    title: 'never delivers the blocked message of a publisher whose connection ended',
    clauses: ['OVERFLOW-018'],
    profile: 'delivery',
    evidence: { frames: 10, messages: 2 },
    run: async (ctx) => {
      const { client, publisher, queue, first } = await withBlockedPublish(ctx, { watched: true });
      await publisher.abort();
      await waitForInfo(ctx, client, ctx.queue('watched'), { field: 'subscriberCount', value: 0 });
      await client.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, 1)), [first], 'the delivered message');
      await expectOnlySentinel(ctx, client, queue, { text: 'the blocked message is not delivered' });
    },
  },
  // OVERFLOW-019 (SHOULD): The age of a blocked message starts when the message enters the queue.
  {
    id: 'OVERFLOW-019a',
    title: 'starts the age of a blocked message when it enters the queue',
    clauses: ['OVERFLOW-019', 'OVERFLOW-011'],
    profile: 'delivery',
    waits: true,
    evidence: { frames: 7, messages: 1 },
    run: async (ctx) => {
      const ttlMs = 2000;
      const startedAt = ctx.now();
      const { client, publisher, queue, id } = await withBlockedPublish(ctx, { messageTtl: '00:00:02' });
      const until = ctx.now() + ttlMs + ctx.timing.deliveryMs;
      while (answerTo(publisher, id) === undefined && ctx.now() < until) await waitUntil(ctx, ctx.now() + 15);
      // A broker may keep an expired message longer, and then the queue has no room.
      const hasRoom = (await infoField(client, queue, 'messageCount')) === 0;
      const clause = hasRoom ? 'OVERFLOW-011' : 'OVERFLOW-019';
      const { atMs } = await publisher.expect({ command: 'PublishAck', id }, { clause });
      await waitUntil(ctx, atMs + 400);
      await client.subscribe(queue);
      // The first message, which made room, is not older than the check.
      noteIfLate(ctx, { sinceMs: startedAt, maxMs: 2 * ttlMs - 100, step: 'the Subscribe' });
      const delivery = await client.delivery({ queue });
      ctx.assert.equal(delivery.id, id, 'the message, which entered the queue less than messageTtl ago');
      await client.ack(delivery);
    },
  },
  // OVERFLOW-020 (SHOULD): The broker answers a Publish that would be blocked by Error QUEUE_FULL, when its connection
  // has maxBlockedPublishes blocked publishes.
  {
    id: 'OVERFLOW-020a',
    title: 'refuses a blocked Publish beyond the limit of a connection with QUEUE_FULL',
    clauses: ['OVERFLOW-020'],
    profile: 'limits',
    requires: { configuration: { limits: { maxBlockedPublishes: 3 } } },
    accepts: [
      'Error QUEUE_FULL',
      'the broker does not read from the connection while the Publish is blocked',
    ],
    evidence: { frames: 8, messages: 4 },
    run: async (ctx) => {
      const { client, publisher, queue } = await withBlockedPublish(ctx);
      await publishBlocked(ctx, publisher, { queue, witness: client });
      await publishBlocked(ctx, publisher, { queue, witness: client });
      const id = ctx.id('fourth');
      await publisher.send({ command: Command.Publish, id, queue, payload: '1' });
      const isRead = await isPingAnswered(ctx, publisher, client);
      if (isRead) await publisher.expect({ command: 'Error', id });
      await client.subscribe(queue);
      await takeAndAck(client, queue, 4);
      // A Publish that the broker reads later is answered when there is room.
      const [answer] = publisher.received.filter((frame) => frame.id === id);
      const answerWhenRoom =
        answer ??
        (await publisher.expect({ command: ['Error', 'PublishAck'], id }, { clause: 'OVERFLOW-011' }));
      const isRefused = answerWhenRoom.command === Command.Error;
      if (isRefused) ctx.assert.equal(answerWhenRoom.errorCode, 'QUEUE_FULL', 'the error code');
      else await takeAndAck(client, queue, 1);
      await client.expectNothingBeforePong({ command: 'Deliver' }, 'a refused message is not delivered');
    },
  },
  // OVERFLOW-020 (SHOULD): The broker answers a Publish that would be blocked by Error QUEUE_FULL, when its connection
  // has maxBlockedPublishes blocked publishes.
  {
    id: 'OVERFLOW-020b',
    title: 'does not count publishes that have entered their queue towards the limit of a connection',
    clauses: ['OVERFLOW-020'],
    profile: 'limits',
    requires: { configuration: { limits: { maxBlockedPublishes: 3 } } },
    evidence: { frames: 18, messages: 5 },
    run: async (ctx) => {
      const { client, publisher, queue } = await withBlockedPublish(ctx);
      for (let count = 0; count < 2; count += 1)
        await publishBlocked(ctx, publisher, { queue, witness: client });
      await client.subscribe(queue);
      await takeAndAck(client, queue, 4);
      await client.unsubscribe(queue);
      await publishSeries(ctx, client, queue, 1);
      const id = ctx.id('blocked-again');
      await publisher.send({ command: Command.Publish, id, queue, payload: '1' });
      await isPingAnswered(ctx, publisher, client);
      expectUnanswered(ctx, publisher, id, 'a Publish is blocked when those before have entered the queue');
      await client.subscribe(queue);
      await takeAndAck(client, queue, 2);
      await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
    },
  },
] satisfies readonly Check[];

/** Other commands of the connection while its Publish is blocked. The broker may also stop reading from the connection. */
const otherCommands: CheckModule = [
  // OVERFLOW-015 (SHOULD): While a Publish is blocked, the broker handles acks of the same connection.
  {
    id: 'OVERFLOW-015a',
    title: 'handles acks of a connection while its Publish is blocked, or does not read from it',
    clauses: ['OVERFLOW-015'],
    profile: 'delivery',
    accepts: [
      'the ack settles its message',
      'the ack settles it when the broker reads from the connection again',
    ],
    evidence: { frames: 6, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const publisher = await ctx.connect({ own: true });
      const watched = await newQueue(ctx, client, 'watched');
      await publisher.subscribe(watched);
      await publishSeries(ctx, client, watched, 1);
      const held = await publisher.delivery({ queue: watched });
      const queue = await newQueue(ctx, client, 'full', blockPublisher);
      await publishSeries(ctx, client, queue, 1);
      await publishBlocked(ctx, publisher, { queue, witness: client });
      await publisher.ack(held);
      const isRead = await isPingAnswered(ctx, publisher, client);
      ctx.assert.equal(publisher.isClosed, false, 'the connection is closed');
      if (!isRead) {
        // The broker reads the Ack when there is room, before the Ping that follows it.
        await client.subscribe(queue);
        await takeAndAck(client, queue, 2);
        await publisher.expect('Pong', { clause: 'CONN-022' });
      }
      await publisher.abort();
      await waitForInfo(ctx, client, watched, { field: 'subscriberCount', value: 0 });
      await expectEmpty(ctx, watched, { text: 'the acknowledged message is not delivered again' });
    },
  },
  // OVERFLOW-016 (SHOULD): While a Publish is blocked, the broker handles the other commands of the same connection.
  {
    id: 'OVERFLOW-016a',
    title: 'answers other commands of a connection while its Publish is blocked, or does not read from it',
    clauses: ['OVERFLOW-016', 'CONN-022', 'OVERFLOW-011'],
    profile: 'delivery',
    accepts: [
      'the commands are answered',
      'the broker does not read from the connection while the Publish is blocked',
    ],
    evidence: { frames: 11, messages: 2 },
    run: async (ctx) => {
      const { client, publisher, queue, id } = await withBlockedPublish(ctx);
      const ids = [ctx.id(), ctx.id(), ctx.id()] as const;
      await publisher.sendTogether([
        { command: Command.QueueInfo, id: ids[0], queue },
        { command: Command.ListQueues, id: ids[1] },
        { command: Command.CreateQueue, id: ids[2], queue: ctx.queue('made-meanwhile') },
      ]);
      if (await isPingAnswered(ctx, publisher, client)) {
        for (const command of ids)
          expectAnswered(
            ctx,
            publisher,
            command,
            `command ${command} is answered while the Publish is blocked`,
          );
        expectUnanswered(ctx, publisher, id, 'the Publish is still blocked', 'OVERFLOW-010');
      } else {
        // A broker that does not read from the connection answers none of them.
        const answered = ids.filter((command) => answerTo(publisher, command) !== undefined);
        const text = 'a Ping is answered while the Publish is blocked, as other commands are';
        ctx.should(answered.length === 0, 'CONN-022', text, { actual: 'no Pong' });
      }
      await client.subscribe(queue);
      await takeAndAck(client, queue, 2);
      await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
      for (const command of ids) await publisher.expect({ id: command }, { clause: 'OVERFLOW-016' });
    },
  },
  // OVERFLOW-017 (SHOULD): While a Publish is blocked, the broker handles later publishes of the same connection to
  // other queues.
  {
    id: 'OVERFLOW-017a',
    title: 'handles publishes to other queues while one is blocked, or does not read from the connection',
    clauses: ['OVERFLOW-017', 'OVERFLOW-011'],
    profile: 'delivery',
    accepts: [
      'the publishes to other queues are handled',
      'the broker does not read from the connection while the Publish is blocked',
    ],
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const { client, publisher, queue, id } = await withBlockedPublish(ctx);
      const other = await newQueue(ctx, client, 'other');
      const overtaking = ctx.id('overtaking');
      await publisher.send({ command: Command.Publish, id: overtaking, queue: other, payload: '1' });
      if (await isPingAnswered(ctx, publisher, client)) {
        expectAnswered(ctx, publisher, overtaking, 'the Publish to another queue is answered');
        expectUnanswered(ctx, publisher, id, 'the first Publish is still blocked', 'OVERFLOW-010');
      }
      await client.subscribe(queue);
      await takeAndAck(client, queue, 2);
      await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
      await client.subscribe(other);
      ctx.assert.deepEqual(
        idsOf(await takeAndAck(client, other, 1)),
        [overtaking],
        'the message delivered from the other queue',
      );
    },
  },
  // PUBLISH-007 (SHOULD): The broker answers a Publish with the id of a Publish that is blocked on the same queue in
  // the same way as the first one, and not before it.
  {
    id: 'PUBLISH-007a',
    title: 'answers the repeat of a blocked Publish with PublishAck, and not before the first Publish',
    clauses: ['PUBLISH-007', 'PUBLISH-008', 'OVERFLOW-010'],
    profile: 'delivery',
    evidence: { frames: 11, messages: 3 },
    run: async (ctx) => {
      const { client, publisher, queue, id, first } = await withBlockedPublish(ctx);
      const repeater = await ctx.connect({ own: true });
      await repeater.send({ command: Command.Publish, id, queue, payload: '"repeated"' });
      await isPingAnswered(ctx, repeater, client);
      expectUnanswered(ctx, repeater, id, 'the repeat is not answered before the first Publish');
      await client.subscribe(queue);
      const taken = await takeAndAck(client, queue, 2);
      ctx.assert.deepEqual(idsOf(taken), [first, id], 'the delivered messages');
      ctx.assert.sameJson(
        taken[1]?.payload,
        '"blocked"',
        'the payload is that of the first Publish',
        'PUBLISH-008',
      );
      await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
      await repeater.expect({ command: 'PublishAck', id });
      await expectOnlySentinel(ctx, client, queue, { text: 'the message is delivered only once' });
    },
  },
  // QUEUE-019 (SHOULD): When a queue is deleted, the broker answers the publishes that are blocked on it by Error
  // QUEUE_NOT_FOUND.
  {
    id: 'QUEUE-019a',
    title: 'answers a blocked Publish with QUEUE_NOT_FOUND when its queue is deleted',
    clauses: ['QUEUE-019', 'PUBLISH-003'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 1 },
    run: async (ctx) => {
      const { client, publisher, queue, id } = await withBlockedPublish(ctx);
      await client.deleteQueue(queue);
      const answer = await publisher.expect((frame) => frame.id === id || frame.command === Command.Error);
      ctx.assert.equal(answer.commandName, 'Error', 'the answer to the blocked Publish');
      ctx.assert.equal(answer.errorCode, 'QUEUE_NOT_FOUND', 'the error code');
      await client.createQueue(queue);
      await expectEmpty(ctx, queue, { text: 'the refused message is not delivered', clause: 'PUBLISH-003' });
    },
  },
] satisfies readonly Check[];

export const blockingChecks: CheckModule = [...blockedPublishes, ...otherCommands];

type BlockedPublish = {
  readonly client: Connection;
  readonly publisher: Connection;
  readonly queue: string;
  /** `first`: the message that fills the queue. `id`: the message that is blocked. */
  readonly first: string;
  readonly id: string;
};

/**
 * A full queue with maxQueueSize 1 and a publisher whose Publish to it is blocked. With `watched` the publisher first subscribes to a
 * queue of that name, whose subscriberCount shows when the connection has ended.
 */
export async function withBlockedPublish(
  ctx: CheckContext,
  options: { readonly watched?: true; readonly messageTtl?: string } = {},
): Promise<BlockedPublish> {
  const client = await ctx.connect();
  const publisher = await ctx.connect({ own: true });
  if (options.watched === true) await publisher.subscribe(await newQueue(ctx, client, 'watched'));
  const ttl = options.messageTtl === undefined ? {} : { messageTtl: options.messageTtl };
  const queue = await newQueue(ctx, client, 'full', { ...blockPublisher, ...ttl });
  const [first = ''] = await publishSeries(ctx, client, queue, 1);
  const id = await publishBlocked(ctx, publisher, { queue, witness: client });
  return { client, publisher, queue, first, id };
}

/**
 * Publishes to a full queue and asserts that the Publish is not answered before the Ping that follows it. `witness`: a connection that no
 * Publish blocks.
 */
export async function publishBlocked(
  ctx: CheckContext,
  publisher: Connection,
  where: { readonly queue: string; readonly witness: Connection },
): Promise<string> {
  const id = ctx.id('blocked');
  await publisher.send({ command: Command.Publish, id, queue: where.queue, payload: '"blocked"' });
  await isPingAnswered(ctx, publisher, where.witness);
  const text = 'a Publish to a full queue is not answered before there is room';
  expectUnanswered(ctx, publisher, id, text, 'OVERFLOW-010');
  return id;
}

/**
 * Waits until the broker has noticed the end of the publisher of `withBlockedPublish`, as long as that may take. A broker that does not read from
 * the connection while its Publish is blocked does not notice it.
 */
export async function waitForEndOfPublisher(ctx: CheckContext, client: Connection): Promise<void> {
  const until = ctx.now() + ctx.timing.silenceMs;
  const watched = ctx.queue('watched');
  while ((await infoField(client, watched, 'subscriberCount')) !== 0 && ctx.now() < until)
    await waitUntil(ctx, ctx.now() + 15);
}

/** Asserts that a command was answered. */
function expectAnswered(ctx: CheckContext, connection: Connection, id: string, what: string): void {
  const answer = answerTo(connection, id);
  ctx.assert.ok(answer !== undefined, what, { expected: 'an answer', actual: answer });
}

/** Asserts that a command has no answer yet. */
export function expectUnanswered(
  ctx: CheckContext,
  connection: Connection,
  id: string,
  what: string,
  clause?: string,
): void {
  const answer = answerTo(connection, id);
  const detail = clause === undefined ? {} : { clause };
  ctx.assert.ok(answer === undefined, what, { expected: 'no answer', actual: answer, ...detail });
}

/** The answer to the command with this id, as text; undefined if there is none. */
function answerTo({ received }: Connection, id: string): string | undefined {
  const answer = received.find((frame) => frame.id === id);
  return answer === undefined ? undefined : frameText(answer);
}
