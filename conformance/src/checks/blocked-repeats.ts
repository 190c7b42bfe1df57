// Checks of repeats of a blocked Publish: each of them gets an answer, whatever becomes of the first Publish. The message counts once, keeps
// its place, and ends with the last connection that publishes it. Areas: PUBLISH, QUEUE, OVERFLOW, LIMIT, METRICS.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { expectUnanswered, publishBlocked, waitForEndOfPublisher, withBlockedPublish } from './blocking.ts';
import { expectIncreases } from './metrics.ts';
import { messageBytes, publishUntilRefused, smallMemory } from './resource-limits.ts';
import { textOfLength } from './shared/bodies.ts';
import { isPingAnswered } from './shared/ping-answered.ts';
import { newQueue, waitForInfo } from './shared/queue-state.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { expectOnlySentinel, idsOf, publishSeries, takeAndAck } from './shared/subscribers.ts';

export const blockedRepeatChecks: CheckModule = [
  // PUBLISH-007 (SHOULD): The broker answers a Publish with the id of a Publish that is blocked on the same queue in
  // the same way as the first one, and not before it.
  {
    id: 'PUBLISH-007b',
    title: 'answers two repeats of a blocked Publish when the connection of the first Publish has ended',
    clauses: ['PUBLISH-007'],
    profile: 'delivery',
    accepts: ['PublishAck, and the message is delivered', 'Error'],
    evidence: { frames: 12, messages: 1 },
    run: (ctx) => expectRepeatsAnswered(ctx, 2),
  },
  // PUBLISH-007 (SHOULD): The broker answers a Publish with the id of a Publish that is blocked on the same queue in
  // the same way as the first one, and not before it.
  {
    id: 'PUBLISH-007c',
    title: 'answers the only repeat of a blocked Publish when the connection of the first Publish has ended',
    clauses: ['PUBLISH-007'],
    profile: 'delivery',
    accepts: ['PublishAck, and the message is delivered', 'Error'],
    evidence: { frames: 10, messages: 1 },
    run: (ctx) => expectRepeatsAnswered(ctx, 1),
  },
  // PUBLISH-007 (SHOULD): The broker answers a Publish with the id of a Publish that is blocked on the same queue in
  // the same way as the first one, and not before it.
  {
    id: 'PUBLISH-007d',
    title: 'answers a blocked Publish and its repeat on the same connection',
    clauses: ['PUBLISH-007'],
    profile: 'delivery',
    evidence: { frames: 11, messages: 2 },
    run: async (ctx) => {
      const { client, publisher, queue, id } = await withBlockedPublish(ctx);
      await repeat(ctx, publisher, { queue, id, witness: client });
      await client.subscribe(queue);
      await takeAndAck(client, queue, 2);
      await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
      const about = { what: 'the answer to the repeat', clause: 'PUBLISH-007' };
      await publisher.expect({ command: 'PublishAck', id }, about);
    },
  },
  // QUEUE-019 (SHOULD): When a queue is deleted, the broker answers the publishes that are blocked on it by Error
  // QUEUE_NOT_FOUND.
  {
    id: 'QUEUE-019b',
    title: 'answers also the repeat of a blocked Publish when the queue is deleted',
    clauses: ['QUEUE-019', 'PUBLISH-007'],
    profile: 'delivery',
    accepts: ['Error', 'PublishAck, where the broker reads the repeat when the queue is deleted'],
    evidence: { frames: 8 },
    run: async (ctx) => {
      const { client, publisher, queue, id } = await withBlockedPublish(ctx);
      const repeater = await ctx.connect({ own: true });
      const isRead = await repeat(ctx, repeater, { queue, id, witness: client });
      await client.deleteQueue(queue);
      for (const connection of [publisher, repeater]) {
        const answer = await connection.expect(
          { command: ['Error', 'PublishAck'], id },
          { clause: 'QUEUE-019' },
        );
        const isLate = connection === repeater && !isRead && answer.command === Command.PublishAck;
        if (!isLate) ctx.assert.equal(answer.errorCode, 'QUEUE_NOT_FOUND', 'the error code');
      }
    },
  },
  // OVERFLOW-014 (MUST): The broker adds the blocked publishes of a queue in the order of their arrival, across all
  // connections.
  {
    id: 'OVERFLOW-014d',
    title: 'adds the repeat of a blocked Publish whose connection has ended before what was published later',
    clauses: ['OVERFLOW-014', 'PUBLISH-007'],
    profile: 'delivery',
    accepts: ['PublishAck for the repeat, whose message is delivered first', 'Error for the repeat'],
    evidence: { frames: 13, messages: 2, assertions: 3 },
    run: async (ctx) => {
      const { client, publisher, queue, id } = await withBlockedPublish(ctx, { watched: true });
      const repeater = await ctx.connect({ own: true });
      await repeat(ctx, repeater, { queue, id, witness: client });
      const other = await ctx.connect({ own: true });
      const later = await publishBlocked(ctx, other, { queue, witness: client });
      await publisher.abort();
      await waitForEndOfPublisher(ctx, client);
      await client.subscribe(queue);
      const delivered: string[] = [];
      while (!delivered.includes(later)) delivered.push(...idsOf(await takeAndAck(client, queue, 1)));
      const about = { what: 'the answer to the repeat', clause: 'PUBLISH-007' };
      const answer = await repeater.expect({ command: ['PublishAck', 'Error'], id }, about);
      ctx.assert.ok(
        answer.command === Command.Error || delivered.includes(id),
        'the message of the repeat is delivered before that of the later Publish',
        { expected: id, actual: delivered },
      );
    },
  },
  // OVERFLOW-018 (SHOULD): When the connection of a publisher ends, the broker drops the messages of that connection
  // that are still blocked.
  {
    id: 'OVERFLOW-018c',
    title: 'never delivers a blocked message that only its own connection, which has ended, had repeated',
    clauses: ['OVERFLOW-018', 'PUBLISH-007'],
    profile: 'delivery',
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      const { client, publisher, queue, first, id } = await withBlockedPublish(ctx, { watched: true });
      await repeat(ctx, publisher, { queue, id, witness: client });
      await publisher.abort();
      await waitForInfo(ctx, client, ctx.queue('watched'), { field: 'subscriberCount', value: 0 });
      await client.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, 1)), [first], 'the delivered message');
      await expectOnlySentinel(ctx, client, queue, { text: 'the blocked message is not delivered' });
    },
  },
  // LIMIT-013 (SHOULD): The broker answers a Publish by Error MEMORY_LIMIT, when the bytes of all messages that it
  // holds would exceed maxQueuedBytes.
  {
    id: 'LIMIT-013h',
    title: 'counts a blocked message once towards maxQueuedBytes whose repeat outlives the first connection',
    clauses: ['LIMIT-013', 'PUBLISH-007'],
    ...smallMemory,
    evidence: { frames: 30, messages: 1, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const publisher = await ctx.connect({ own: true });
      await publisher.subscribe(await newQueue(ctx, client, 'watched'));
      const queue = await newQueue(ctx, client, 'full', { overflowStrategy: 2, maxQueueSize: 1 });
      await publishSeries(ctx, client, queue, 1);
      const before = await newQueue(ctx, client, 'before');
      const { stored, refusal } = await publishUntilRefused(ctx, client, before);
      if (refusal === undefined)
        ctx.notApplicable('no Publish is refused for the bytes that the broker holds');
      await client.deleteQueue(before);
      const blocked = { queue, id: ctx.id('blocked'), payload: `"${textOfLength(messageBytes)}"` };
      const repeater = await ctx.connect({ own: true });
      for (const connection of [publisher, repeater])
        await repeat(ctx, connection, { ...blocked, witness: client });
      await publisher.abort();
      await waitForEndOfPublisher(ctx, client);
      await client.subscribe(queue);
      await takeAndAck(client, queue, 1);
      const about = { what: 'the answer to the repeat', clause: 'PUBLISH-007' };
      const pattern = { command: ['PublishAck', 'Error'], id: blocked.id } as const;
      const answer = await repeater.expect(pattern, about);
      if (answer.command === Command.PublishAck) await takeAndAck(client, queue, 1);
      await client.ping();
      const again = await publishUntilRefused(ctx, client, await newQueue(ctx, client, 'after'));
      const what = 'as many messages fit when the blocked one has been acknowledged';
      ctx.assert.ok(again.stored.length >= stored.length, what, {
        expected: `${stored.length} or more`,
        actual: again.stored.length,
      });
    },
  },
  // METRICS-008 (SHOULD): total_messages_published increases by one for each PublishAck that does not answer a repeat.
  {
    id: 'METRICS-008c',
    title: 'does not increase total_messages_published for the repeat of a blocked Publish',
    clauses: ['METRICS-008', 'PUBLISH-009', 'PUBLISH-007'],
    profile: 'observability',
    isolation: 'fresh',
    evidence: { responses: 2, frames: 9, messages: 2, assertions: 3 },
    run: (ctx) =>
      expectIncreases(ctx, { total_messages_published: 2 }, async () => {
        const { client, publisher, queue, id } = await withBlockedPublish(ctx);
        const repeater = await ctx.connect({ own: true });
        await repeat(ctx, repeater, { queue, id, witness: client });
        await client.subscribe(queue);
        await takeAndAck(client, queue, 1);
        // A broker that reads the repeat only now must still have the message, so that it is a repeat.
        const held = await client.delivery({ queue, id });
        for (const connection of [publisher, repeater])
          await connection.expect({ command: 'PublishAck', id }, { clause: 'PUBLISH-007' });
        await client.ack(held);
      }),
  },
  // OVERFLOW-020 (SHOULD): The broker answers a Publish that would be blocked by Error QUEUE_FULL, when its connection
  // has maxBlockedPublishes blocked publishes.
  {
    id: 'OVERFLOW-020c',
    title: 'does not count answered repeats of blocked publishes towards the limit of a connection',
    clauses: ['OVERFLOW-020'],
    profile: 'limits',
    requires: { configuration: { limits: { maxBlockedPublishes: 3 } } },
    evidence: { frames: 30, messages: 8 },
    run: async (ctx) => {
      const { client, publisher, queue, id: blocked } = await withBlockedPublish(ctx);
      const repeater = await ctx.connect({ own: true });
      let id = blocked;
      for (let round = 0; round < 3; round += 1) {
        if (round > 0) {
          await publishSeries(ctx, client, queue, 1);
          id = await publishBlocked(ctx, publisher, { queue, witness: client });
        }
        await repeat(ctx, repeater, { queue, id, witness: client });
        await client.subscribe(queue);
        await takeAndAck(client, queue, 2);
        for (const connection of [publisher, repeater])
          await connection.expect({ command: 'PublishAck', id });
        await client.unsubscribe(queue);
      }
      await publishSeries(ctx, client, queue, 1);
      const last = ctx.id('last');
      await repeater.send({ command: Command.Publish, id: last, queue, payload: '1' });
      await isPingAnswered(ctx, repeater, client);
      expectUnanswered(ctx, repeater, last, 'a Publish is blocked when all repeats before it were answered');
      await client.subscribe(queue);
      await takeAndAck(client, queue, 2);
      await repeater.expect({ command: 'PublishAck', id: last }, { clause: 'OVERFLOW-011' });
    },
  },
  // OVERFLOW-020 (SHOULD): The broker answers a Publish that would be blocked by Error QUEUE_FULL, when its connection
  // has maxBlockedPublishes blocked publishes.
  {
    id: 'OVERFLOW-020d',
    title:
      'does not count blocked publishes, and repeats, of a deleted queue towards the limit of a connection',
    clauses: ['OVERFLOW-020'],
    profile: 'limits',
    requires: { configuration: { limits: { maxBlockedPublishes: 3 } } },
    evidence: { frames: 12, assertions: 5 },
    run: async (ctx) => {
      const { client, publisher, queue, id } = await withBlockedPublish(ctx);
      const repeater = await ctx.connect({ own: true });
      for (const connection of [repeater, publisher, publisher]) {
        if (connection === repeater) await repeat(ctx, repeater, { queue, id, witness: client });
        else await publishBlocked(ctx, publisher, { queue, witness: client });
      }
      await client.deleteQueue(queue);
      for (const connection of [publisher, repeater]) await isPingAnswered(ctx, connection, client);
      const other = await newQueue(ctx, client, 'other', { overflowStrategy: 2, maxQueueSize: 1 });
      await publishSeries(ctx, client, other, 1);
      const ids = [ctx.id('m'), ctx.id('m'), ctx.id('m')];
      for (const connection of [publisher, repeater]) {
        for (const blocked of ids)
          await connection.send({ command: Command.Publish, id: blocked, queue: other, payload: '1' });
        await isPingAnswered(ctx, connection, client);
        for (const blocked of ids)
          expectUnanswered(ctx, connection, blocked, 'a Publish is blocked when the deleted queue is gone');
      }
    },
  },
] satisfies readonly Check[];

/** Repeats a blocked Publish on so many connections, ends its own one, makes room, and asserts that each repeat is answered. */
async function expectRepeatsAnswered(ctx: CheckContext, count: number): Promise<void> {
  const { client, publisher, queue, id } = await withBlockedPublish(ctx, { watched: true });
  const repeaters: Connection[] = [];
  while (repeaters.length < count) {
    const repeater = await ctx.connect({ own: true });
    await repeat(ctx, repeater, { queue, id, witness: client });
    expectUnanswered(ctx, repeater, id, 'the repeat is not answered before the first Publish');
    repeaters.push(repeater);
  }
  await publisher.abort();
  await waitForEndOfPublisher(ctx, client);
  await client.subscribe(queue);
  await takeAndAck(client, queue, 1);
  const until = ctx.now() + ctx.timing.answerMs;
  while (!repeaters.every((repeater) => isAnswered(repeater, id)) && ctx.now() < until)
    await waitUntil(ctx, ctx.now() + 15);
  const isLost = ![client, ...repeaters].some((connection) => isAnswered(connection, id));
  let isConfirmed = false;
  for (const [index, repeater] of repeaters.entries()) {
    const what = `the answer to repeat ${index + 1}`;
    // Their publishers are connected.
    const clause = isLost ? 'OVERFLOW-012' : 'PUBLISH-007';
    const answer = await repeater.expect({ command: ['PublishAck', 'Error'], id }, { what, clause });
    isConfirmed ||= answer.command === Command.PublishAck;
  }
  const message = { what: 'the message that was confirmed', clause: 'OVERFLOW-012' };
  if (isConfirmed) await client.delivery({ queue, id }, message);
}

/** Whether a frame with this id has come: the answer to a Publish, or the message. */
function isAnswered({ received }: Connection, id: string): boolean {
  return received.some((frame) => frame.id === id);
}

/** Publishes with an id that is blocked. Returns whether the broker has read it. */
async function repeat(
  ctx: CheckContext,
  repeater: Connection,
  what: {
    readonly queue: string;
    readonly id: string;
    readonly witness: Connection;
    readonly payload?: string;
  },
): Promise<boolean> {
  const { queue, id, witness, payload = '"repeated"' } = what;
  await repeater.send({ command: Command.Publish, id, queue, payload });
  return isPingAnswered(ctx, repeater, witness);
}
