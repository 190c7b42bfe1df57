// Checks of Publish: confirmed and refused messages, repeats, payloads, priorities. Area: PUBLISH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import { textOfLength } from './shared/bodies.ts';
import { expectSameValues } from './shared/json-values.ts';
import { messageCountOf, newQueue, requireInfoShows } from './shared/queue-state.ts';
import { expectRefusedWith } from './shared/refusals.ts';
import { expectOnlySentinel, idsOf, publishSeries, takeAndAck } from './shared/subscribers.ts';

const confirmations: CheckModule = [
  // PUBLISH-002 (MUST): The broker sends PublishAck only when the message is in the queue, in the dead letter queue,
  // already settled, or dropped by DropNewest.
  {
    id: 'PUBLISH-002a',
    title: 'stores and delivers every message that it confirms',
    clauses: ['PUBLISH-002', 'PUBLISH-001'],
    profile: 'core',
    evidence: { frames: 28, messages: 12 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'confirmed');
      const ids = await publishSeries(ctx, client, queue, 12);
      ctx.assert.equal(await messageCountOf(client, queue), 12, 'number of waiting messages');
      await client.subscribe(queue);
      const delivered = idsOf(await takeAndAck(client, queue, 12));
      ctx.assert.deepEqual([...delivered].sort(), [...ids].sort(), 'the delivered messages');
    },
  },
  // PUBLISH-003 (MUST): The broker never stores or delivers the message of a Publish that it answered by an Error other
  // than STORAGE_ERROR and SERVER_ERROR.
  {
    id: 'PUBLISH-003a',
    title: 'does not deliver a message whose Publish it refused',
    clauses: ['PUBLISH-003', 'PUBLISH-019'],
    profile: 'core',
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'refused');
      await client.subscribe(queue);
      const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '{"a":}' };
      const answer = await client.request(publish);
      const isRefused = answer.command === Command.Error;
      ctx.should(isRefused, 'PUBLISH-014', 'a payload that is not JSON is refused', {
        actual: answer.commandName,
      });
      if (!isRefused) await client.ack(await client.delivery({ queue }));
      await expectOnlySentinel(ctx, client, queue, { text: 'the refused message is not delivered' });
    },
  },
  // PUBLISH-020 (MUST): The broker accepts a Publish without payload and delivers it without payload.
  {
    id: 'PUBLISH-020a',
    title: 'accepts a Publish without payload and delivers it without payload, with its headers',
    clauses: ['PUBLISH-020', 'DELIVERY-052'],
    profile: 'core',
    evidence: { frames: 4, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'empty');
      await client.subscribe(queue);
      await client.publish(queue, undefined, { headers: { k: 'v' } });
      const delivery = await client.delivery({ queue });
      ctx.assert.equal(delivery.payload.length, 0, 'the length of the payload');
      ctx.assert.equal(delivery.header('k'), 'v', 'the header', 'DELIVERY-052');
      await client.ack(delivery);
    },
  },
] satisfies readonly Check[];

const repeats: CheckModule = [
  // PUBLISH-005 (SHOULD): The broker answers a Publish with the id of a message that waits in the same queue by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-005a',
    title: 'confirms a repeat of a waiting message, adds no message, and keeps the first payload',
    clauses: ['PUBLISH-005', 'PUBLISH-008'],
    profile: 'core',
    evidence: { frames: 6, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'repeat');
      const id = ctx.id('m');
      await client.publish(queue, '"first"', { id });
      await client.publish(queue, '"second"', { id });
      ctx.assert.equal(await messageCountOf(client, queue), 1, 'number of waiting messages');
      await client.subscribe(queue);
      const [delivery] = await takeAndAck(client, queue, 1);
      ctx.assert.sameJson(delivery?.payload, '"first"', 'the delivered payload', 'PUBLISH-008');
      await expectOnlySentinel(ctx, client, queue, { text: 'the repeat adds no second message' });
    },
  },
  // PUBLISH-005 (SHOULD): The broker answers a Publish with the id of a message that waits in the same queue by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-005b',
    title: 'confirms a repeat that comes on another connection, and adds no message',
    clauses: ['PUBLISH-005'],
    profile: 'core',
    evidence: { frames: 6, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const other = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'repeat');
      const id = ctx.id('m');
      await client.publish(queue, '1', { id });
      await other.publish(queue, '1', { id });
      ctx.assert.equal(await messageCountOf(client, queue), 1, 'number of waiting messages');
      await publishSeries(ctx, client, queue, 1);
      requireInfoShows(ctx, await client.queueInfo(queue), { messageCount: 2 });
    },
  },
  // PUBLISH-006 (SHOULD): The broker answers a Publish with the id of a message of the same queue that is in flight by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-006a',
    title: 'confirms a repeat of a message in flight and adds no message',
    clauses: ['PUBLISH-006'],
    profile: 'core',
    evidence: { frames: 7, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'repeat-in-flight');
      const id = ctx.id('m');
      await client.subscribe(queue);
      await client.publish(queue, '1', { id });
      const delivery = await client.delivery({ queue });
      await client.publish(queue, '1', { id });
      await client.ack(delivery);
      await expectOnlySentinel(ctx, client, queue, { text: 'the repeat adds no second message' });
    },
  },
  // PUBLISH-009 (SHOULD): For a repeat, the broker neither evicts a message from a full queue nor increases
  // total_messages_published.
  {
    id: 'PUBLISH-009a',
    title: 'does not evict a message from a full queue for a repeat',
    clauses: ['PUBLISH-009'],
    profile: 'core',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'full', { maxQueueSize: 2 });
      const ids = await publishSeries(ctx, client, queue, 2);
      const [, second = ''] = ids;
      await client.publish(queue, '1', { id: second });
      await client.subscribe(queue);
      const delivered = idsOf(await takeAndAck(client, queue, 2));
      ctx.assert.deepEqual(delivered, ids, 'the delivered messages');
    },
  },
  // ERROR-017 (SHOULD): The broker recognizes a repeat before it checks for overflow.
  {
    id: 'ERROR-017a',
    title: 'does not dead-letter a repeat of a message that waits in a full RedirectToDlq queue',
    clauses: ['ERROR-017'],
    profile: 'retry-dlq',
    evidence: { frames: 7, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueueName = await newQueue(ctx, client, 'letters');
      const options = {
        maxQueueSize: 1,
        overflowStrategy: 3,
        enableDeadLetterQueue: true,
        deadLetterQueueName,
      };
      const queue = await newQueue(ctx, client, 'full', options);
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      await client.publish(queue, '0', { id });
      ctx.assert.equal(await messageCountOf(client, deadLetterQueueName), 0, 'number of dead letters');
      await publishSeries(ctx, client, queue, 1);
      requireInfoShows(ctx, await client.queueInfo(deadLetterQueueName), { messageCount: 1 });
    },
  },
  // PUBLISH-010 (SHOULD): The broker treats messages with the same id in two queues as different messages.
  {
    id: 'PUBLISH-010a',
    title: 'treats messages with the same id in two queues as different messages',
    clauses: ['PUBLISH-010'],
    profile: 'core',
    evidence: { frames: 7, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const id = ctx.id('m');
      for (const name of ['one', 'two']) {
        const queue = await newQueue(ctx, client, name);
        await client.publish(queue, '1', { id });
        ctx.assert.equal(await messageCountOf(client, queue), 1, `number of messages in queue ${name}`);
      }
    },
  },
  // PUBLISH-011 (SHOULD): The broker adds a new message for a Publish with the id of a message that was settled.
  {
    id: 'PUBLISH-011a',
    title: 'adds a new message for a Publish with the id of a settled message',
    clauses: ['PUBLISH-011'],
    profile: 'core',
    evidence: { frames: 6, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'settled');
      const id = ctx.id('m');
      await client.subscribe(queue);
      for (const payload of ['"old"', '"new"']) {
        await client.publish(queue, payload, { id });
        const delivery = await client.delivery({ queue });
        ctx.assert.sameJson(delivery.payload, payload, 'the delivered payload');
        await client.ack(delivery);
      }
    },
  },
] satisfies readonly Check[];

const payloads: CheckModule = [
  // PUBLISH-013 (MUST): The broker accepts every payload that is one valid JSON text: object, array, string, number,
  // true, false or null.
  {
    id: 'PUBLISH-013a',
    title: 'accepts every kind of JSON text',
    clauses: ['PUBLISH-013', 'DELIVERY-053'],
    profile: 'core',
    evidence: { frames: 42, messages: 20 },
    run: (ctx) => expectSameValues(ctx, jsonTexts),
  },
  // PUBLISH-013 (MUST): The broker accepts every payload that is one valid JSON text: object, array, string, number,
  // true, false or null.
  {
    id: 'PUBLISH-013b',
    title: 'accepts a string with the escape of half a surrogate pair, and delivers the message',
    clauses: ['PUBLISH-013'],
    profile: 'core',
    evidence: { frames: 6, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'halves');
      await client.subscribe(queue);
      // What a decoder makes of it is open, so the content is not compared.
      for (const payload of ['"\\ud83d"', '["\\ude80\\ud83d"]']) {
        const { id } = await client.publish(queue, payload);
        const delivery = await client.delivery({ queue });
        ctx.assert.equal(delivery.id, id, 'the delivered message');
        await client.ack(delivery);
      }
    },
  },
  // PUBLISH-014 (SHOULD): The broker refuses a payload that is not one valid JSON text with INVALID_PAYLOAD.
  {
    id: 'PUBLISH-014a',
    title: 'refuses a payload that is not one JSON text with INVALID_PAYLOAD and does not store it',
    clauses: ['PUBLISH-014', 'PUBLISH-019'],
    profile: 'core',
    evidence: { frames: 12, assertions: 12 },
    run: (ctx) =>
      expectRefusedPayloads(ctx, [
        ...['{', '[1,]', '{"a":1,}', "{'a':1}", '{a:1}', '1 2', '{} x', 'nul', 'NaN', '01', '+1', '.5', '1.'],
        ...[' ', '"open', '"tab\there"', '"\\x"', '"\\u12"', '[1}', ','],
      ]),
  },
  // PUBLISH-025 (SHOULD): The broker creates no queue for a Publish whose payload it refuses.
  {
    id: 'PUBLISH-025a',
    title: 'creates no queue for a Publish whose payload it refuses',
    clauses: ['PUBLISH-025'],
    profile: 'core',
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = ctx.queue('missing');
      const answer = await client.request({ command: Command.Publish, id: ctx.id('m'), queue, payload: '{' });
      if (answer.command !== Command.Error) ctx.notApplicable('the broker accepts a payload that is no JSON');
      const isThere = (await client.queueInfo(queue)) !== undefined;
      ctx.assert.ok(!isThere, 'there is no queue of that name', { actual: 'QueueInfo describes the queue' });
    },
  },
  // PUBLISH-014 (SHOULD): The broker refuses a payload that is not one valid JSON text with INVALID_PAYLOAD.
  {
    id: 'PUBLISH-014b',
    title: 'refuses long payloads that are not one JSON text, wherever in them the fault is',
    clauses: ['PUBLISH-014', 'PUBLISH-019'],
    profile: 'core',
    evidence: { frames: 60, assertions: 60 },
    run: (ctx) =>
      expectRefusedPayloads(ctx, [
        ...[
          '1 2',
          '"a" "b"',
          '01',
          '-',
          '1.',
          '.5',
          '1e',
          'nul',
          'truex',
          '{"a":1,}',
          '{"a" 1}',
          '{a:1}',
        ].map(inLongArray),
        ...['[1,]', '"tab\there"', '"line\nbreak"', '"\\x"', '"\\u12"', '', '1,,2', '}', '{"a":1]'].map(
          inLongArray,
        ),
        // Some decoders read 16, 32 or 64 bytes at a time.
        ...Array.from({ length: 20 }, (_, index) => `["${textOfLength(index + 46)}" "${textOfLength(80)}"]`),
        ...Array.from({ length: 20 }, (_, index) => `[${' '.repeat(index + 50)}1 2,"${textOfLength(80)}"]`),
      ]),
  },
  // PUBLISH-015 (SHOULD): The broker refuses a payload that is not valid UTF-8 with INVALID_PAYLOAD.
  {
    id: 'PUBLISH-015a',
    title: 'refuses payloads that are not valid UTF-8 with INVALID_PAYLOAD',
    clauses: ['PUBLISH-015', 'PUBLISH-019'],
    profile: 'core',
    evidence: { frames: 6, assertions: 6 },
    run: (ctx) =>
      expectRefusedPayloads(
        ctx,
        // Two invalid bytes, an overlong slash, a lone surrogate, a character over U+10FFFF.
        ['ff', '80', 'c0af', 'eda080', 'f4908080'].map((hex) => Buffer.from(`22${hex}22`, 'hex')),
      ),
  },
  // PUBLISH-015 (SHOULD): The broker refuses a payload that is not valid UTF-8 with INVALID_PAYLOAD.
  {
    id: 'PUBLISH-015b',
    title: 'refuses long payloads that are not valid UTF-8, wherever in them the fault is',
    clauses: ['PUBLISH-015', 'PUBLISH-019'],
    profile: 'core',
    evidence: { frames: 50, assertions: 50 },
    run: (ctx) =>
      expectRefusedPayloads(
        ctx,
        ['ff', '80', 'c3', 'e282', 'c0af', 'e080af', 'eda080', 'f4908080'].flatMap((hex) =>
          [20, 61, 62, 63, 64, 65, 127].map((length) => {
            const [before, behind] = [Buffer.from(textOfLength(length)), Buffer.from(textOfLength(80))];
            const quote = Buffer.from('"');
            return Buffer.concat([quote, before, Buffer.from(hex, 'hex'), behind, quote]);
          }),
        ),
      ),
  },
  // PUBLISH-016 (SHOULD): The broker refuses a payload that begins with a byte order mark with INVALID_PAYLOAD.
  {
    id: 'PUBLISH-016a',
    title: 'refuses a payload that begins with a byte order mark with INVALID_PAYLOAD',
    clauses: ['PUBLISH-016', 'PUBLISH-019'],
    profile: 'core',
    evidence: { frames: 4, assertions: 3 },
    run: (ctx) => expectRefusedPayloads(ctx, [Buffer.from('efbbbf7b7d', 'hex')]),
  },
  // PUBLISH-017 (SHOULD): The broker refuses a payload that is nested deeper than 64 levels with INVALID_PAYLOAD.
  {
    id: 'PUBLISH-017a',
    title: 'refuses payloads that are nested 65 levels deep with INVALID_PAYLOAD',
    clauses: ['PUBLISH-017', 'PUBLISH-019'],
    profile: 'core',
    evidence: { frames: 4, assertions: 5 },
    run: (ctx) => expectRefusedPayloads(ctx, nested(65)),
  },
  // PUBLISH-018 (SHOULD): The broker accepts a payload that is nested 64 levels deep.
  {
    id: 'PUBLISH-018a',
    title: 'accepts payloads that are nested 64 levels deep, and delivers them',
    clauses: ['PUBLISH-018', 'PUBLISH-013', 'DELIVERY-053'],
    profile: 'core',
    evidence: { frames: 6, messages: 2 },
    run: (ctx) => expectSameValues(ctx, nested(64)),
  },
] satisfies readonly Check[];

const priorities: CheckModule = [
  // PUBLISH-021 (MUST): The broker takes the priority of a message from header priority of its Publish: Low, Normal,
  // High or Critical, case-insensitively.
  {
    id: 'PUBLISH-021a',
    title: 'reads header priority case-insensitively, and treats a message without it as Normal',
    clauses: ['PUBLISH-021', 'PUBLISH-022', 'DELIVERY-031', 'DELIVERY-030'],
    profile: 'delivery',
    evidence: { frames: 12, messages: 5 },
    run: async (ctx) => {
      const order = await deliveredPriorities(ctx, ['low', undefined, 'Low', 'HIGH', 'critical']);
      // Other checks cover the order within a priority.
      const names = order.map((priority) => priority?.toLowerCase());
      const named = names.filter((name) => name !== undefined);
      ctx.assert.deepEqual(
        named,
        ['critical', 'high', 'low', 'low'],
        'the priorities in the order of delivery',
      );
      const expected = ['critical', 'high', undefined, 'low', 'low'];
      ctx.assert.deepEqual(
        names,
        expected,
        'the priorities, with that of a message without one',
        'PUBLISH-022',
      );
    },
  },
  // PUBLISH-023 (SHOULD): The broker gives a message with an unknown value of header priority the priority Normal.
  {
    id: 'PUBLISH-023a',
    title: 'treats an unknown priority as Normal',
    clauses: ['PUBLISH-023'],
    profile: 'delivery',
    evidence: { frames: 9, messages: 3 },
    run: async (ctx) => {
      // Two High and two Low messages surround it, so a wrong priority shows whatever the order within a priority is.
      for (const unknown of ['Urgent', '3', '0']) {
        const order = await deliveredPriorities(ctx, ['High', 'Low', unknown, 'Low', 'High']);
        const expected = ['High', 'High', unknown, 'Low', 'Low'];
        ctx.assert.deepEqual(order, expected, 'the priorities of the messages, in the order of delivery');
      }
    },
  },
] satisfies readonly Check[];

export const publishChecks: CheckModule = [...confirmations, ...repeats, ...payloads, ...priorities];

const jsonTexts = [
  ...['{}', '[]', '""', '0', '-7', '-1.5e-3', '1E+2', 'true', 'false', 'null', '12345678901234567890'],
  ' {"a" : [1, 2.50, {"b":null}] }\n',
  ...['\r\n{"after":"a line break"}', '\t"after a tab"', '\r0\r', '\n[]'],
  '"\\u00e9\\ud83d\\ude80\\n\\/"',
  '{"twice":1,"twice":2}',
  // No levels of nesting: they stand in strings.
  `{"text":"${'['.repeat(70)}"}`,
  `["${'{'.repeat(70)}","\\"${'['.repeat(70)}"]`,
];

/** Nested arrays, and nested objects. */
function nested(levels: number): readonly string[] {
  return [
    '['.repeat(levels) + ']'.repeat(levels),
    '{"a":'.repeat(levels - 1).concat('{}', '}'.repeat(levels - 1)),
  ];
}

/** An array of more than 128 bytes, in the middle of which the text stands. */
function inLongArray(text: string): string {
  return `["${textOfLength(60)}",${text},"${textOfLength(80)}"]`;
}

async function expectRefusedPayloads(
  ctx: CheckContext,
  refused: readonly (string | Buffer)[],
): Promise<void> {
  const client = await ctx.connect();
  const queue = await newQueue(ctx, client, 'no-json');
  for (const payload of refused) {
    const fields = { command: Command.Publish, id: ctx.id('m'), queue, payload };
    const what = `the payload is ${JSON.stringify(payload.toString()).slice(0, 40)}`;
    await expectRefusedWith(ctx, client, fields, { code: 'INVALID_PAYLOAD', what });
  }
  ctx.assert.equal(await messageCountOf(client, queue), 0, 'number of waiting messages', 'PUBLISH-019');
}

/**
 * Publishes with these priorities to a PriorityBased queue and returns them in the order of delivery. The id tells which message was
 * delivered, because a broker may add header priority to a message without it.
 */
async function deliveredPriorities(
  ctx: CheckContext,
  priorities: readonly (string | undefined)[],
): Promise<readonly (string | undefined)[]> {
  const client = await ctx.connect();
  const queue = await newQueue(ctx, client, `by-priority-${priorities.join('-')}`, { mode: 3 });
  const published = new Map<string, string | undefined>();
  for (const priority of priorities) {
    const { id } = await client.publish(queue, '1', priority === undefined ? {} : { headers: { priority } });
    published.set(id, priority);
  }
  await client.subscribe(queue);
  const delivered = await takeAndAck(client, queue, priorities.length);
  return delivered.map(({ id }) => (published.has(id) ? published.get(id) : `unknown id ${id}`));
}
