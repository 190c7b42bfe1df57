// Checks of the content of delivered messages: id, queue, headers and payload are those of the Publish, whatever characters they
// contain and however long they are. Area: DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { fittingLength, numberedText } from './shared/bodies.ts';
import { exactNumbers, expectSameValues, unusualValues } from './shared/json-values.ts';
import { keepRate } from './shared/publish-rate.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { fanOutWithoutAck, newSubscriber } from './shared/queue-with-subscribers.ts';
import { takeDeadLetter } from './shared/retry-attempts.ts';
import { expectOnlySentinel, resetSubscriber } from './shared/subscribers.ts';

export const messageContentChecks: CheckModule = [
  // DELIVERY-050 (MUST): Deliver carries the id of the published message.
  {
    id: 'DELIVERY-050a',
    title: 'delivers a message with the id and the queue that it was published with',
    clauses: ['DELIVERY-050', 'DELIVERY-051', 'PUBLISH-004'],
    profile: 'delivery',
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'named');
      const id = ctx.id('message');
      await client.subscribe(queue);
      await client.publish(queue, '1', { id, headers: { correlationId: 'c-1', messageId: 'other' } });
      const delivery = await client.expect('Deliver');
      ctx.assert.notEqual(delivery.id, 'other', 'the id, when header messageId has another', 'PUBLISH-004');
      ctx.assert.equal(delivery.id, id, 'the id', 'DELIVERY-050');
      ctx.assert.equal(delivery.queue, queue, 'the queue', 'DELIVERY-051');
      await client.ack(delivery);
    },
  },
  // PUBLISH-020 (MUST): The broker accepts a Publish without payload and delivers it without payload.
  {
    id: 'PUBLISH-020b',
    title:
      'delivers a message without payload also for the second time, and as a dead letter, without payload',
    clauses: ['PUBLISH-020', 'DELIVERY-053', 'DLQ-012'],
    profile: 'retry-dlq',
    requires: { capabilities: ['nack'] },
    evidence: { frames: 14, messages: 3, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const letters = await newQueue(ctx, client, 'letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: letters };
      const queue = await newQueue(ctx, client, 'bare', withLetters);
      const holder = await newSubscriber(ctx, queue);
      const { id } = await client.publish(queue, undefined, { headers: { label: 'bare' } });
      await holder.delivery({ queue, id });
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      const subscriber = await newSubscriber(ctx, queue);
      const again = await subscriber.delivery({ queue, id }, { clause: 'DELIVERY-038' });
      ctx.assert.equal(again.payload.length, 0, 'the length of the payload of the second delivery');
      const failureReason = 'DeserializationError';
      await subscriber.send({ command: Command.Ack, id, headers: { failureReason } });
      const reader = await newSubscriber(ctx, letters);
      const letter = await takeDeadLetter(ctx, reader, { queue: letters, id }, 0, 'NACK-005');
      const isBare = letter.payload.length === 0;
      ctx.should(isBare, 'DLQ-012', 'a dead letter of a message without payload has none', {
        actual: letter.text(),
      });
      await reader.ack(letter);
    },
  },
  // DELIVERY-050 (MUST): Deliver carries the id of the published message.
  {
    id: 'DELIVERY-050b',
    title:
      'delivers and settles messages whose ids differ only in spaces, control characters or composed letters',
    clauses: ['DELIVERY-050', 'BODY-017', 'BODY-015', 'DELIVERY-001'],
    profile: 'delivery',
    evidence: { frames: 30, messages: 13 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const holder = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'unusual-ids');
      const ids = unusualIds(ctx.id('m'));
      for (const id of ids) await client.publish(queue, '1', { id });
      const waiting = await messageCountOf(client, queue);
      ctx.assert.equal(waiting, ids.length, 'number of waiting messages', 'BODY-017');
      await holder.subscribe(queue);
      for (const id of ids) {
        const delivery = await holder.delivery({ queue });
        ctx.assert.equal(delivery.id, id, 'the id of the next message', 'DELIVERY-050');
        await holder.ack(delivery);
      }
      await holder.ping();
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      await client.subscribe(queue);
      await expectOnlySentinel(ctx, client, queue, {
        text: 'the acknowledged messages are not delivered again',
        clause: 'DELIVERY-001',
      });
    },
  },
  // DELIVERY-052 (MUST): Deliver carries the headers of the published message unchanged, compared as a map, except
  // those that the broker replaces (FRAME-024) or drops (BODY-009).
  {
    id: 'DELIVERY-052a',
    title: 'delivers the headers of a message unchanged, whether they are defined or not',
    clauses: ['DELIVERY-052'],
    profile: 'delivery',
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'headers');
      const headers = { priority: 'hIgH', correlationId: 'c 1', timestamp: 'yesterday', 'x-own': ' v , w ' };
      await client.subscribe(queue);
      await client.publish(queue, '1', { headers });
      const delivery = await client.delivery({ queue });
      const delivered = Object.fromEntries(Object.keys(headers).map((name) => [name, delivery.header(name)]));
      ctx.assert.deepEqual(delivered, headers, 'the headers');
      await client.ack(delivery);
    },
  },
  // BODY-012 (MUST): When several headers have the same key, the broker uses the last one and ignores the others.
  {
    id: 'BODY-012c',
    title: 'uses the last of several headers with the same key behind headers with an empty key or value',
    clauses: ['BODY-012', 'DELIVERY-052'],
    profile: 'delivery',
    accepts: ['the last values are delivered', 'the broker refuses the message (not applicable)'],
    evidence: { frames: 7, messages: 3, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'empty-and-repeated');
      await client.subscribe(queue);
      for (const dropped of [
        [['empty', '']],
        [['', 'empty']],
        [
          ['empty', ''],
          ['void', ''],
        ],
      ] as const) {
        const headers = [...dropped, ['a', '1'], ['b', '2'], ['c', '3'], ['a', '4'], ['b', '5']] as const;
        const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '1', headers };
        const answer = await client.request(publish);
        if (answer.command === Command.Error)
          ctx.notApplicable('the broker refuses headers with an empty key or value (BODY-009)');
        const delivery = await client.delivery({ queue });
        const delivered = Object.fromEntries(['a', 'b', 'c'].map((name) => [name, delivery.header(name)]));
        const what = `the headers behind ${JSON.stringify(dropped)}`;
        ctx.assert.deepEqual(delivered, { a: '4', b: '5', c: '3' }, what);
        await client.ack(delivery);
      }
    },
  },
  // DELIVERY-052 (MUST): Deliver carries the headers of the published message unchanged, compared as a map, except
  // those that the broker replaces (FRAME-024) or drops (BODY-009).
  {
    id: 'DELIVERY-052d',
    title: 'delivers headers of a publisher with the names of those that a broker adds',
    clauses: ['DELIVERY-052'],
    profile: 'delivery',
    accepts: ['all are unchanged', 'deliveryAttempts is 1: the broker replaces it at the first delivery too'],
    evidence: { frames: 5, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'own-names');
      const headers = {
        deadLetterReason: 'MessageExpired',
        deadLetterSource: 'elsewhere',
        deadLetterAttempts: '4',
        deadLetteredAt: '2020-01-01T00:00:00Z',
      };
      await client.subscribe(queue);
      await client.publish(queue, '1', { headers: { ...headers, deliveryAttempts: '7' } });
      const delivery = await client.delivery({ queue });
      const delivered = Object.fromEntries(Object.keys(headers).map((name) => [name, delivery.header(name)]));
      ctx.assert.deepEqual(delivered, headers, 'the headers');
      ctx.assert.oneOf(delivery.header('deliveryAttempts'), ['7', '1'], 'header deliveryAttempts');
      await client.ack(delivery);
    },
  },
  // DELIVERY-052 (MUST): Deliver carries the headers of the published message unchanged, compared as a map, except
  // those that the broker replaces (FRAME-024) or drops (BODY-009).
  {
    id: 'DELIVERY-052b',
    title: 'delivers headers with unusual names and values unchanged, with a payload and without one',
    clauses: ['DELIVERY-052', 'BODY-003', 'PUBLISH-020'],
    profile: 'delivery',
    evidence: { frames: 10, messages: 4, assertions: 100 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'unusual-headers');
      await client.subscribe(queue);
      const named = unusualNames.map((name, index) => [name, `v${index}`] as const);
      const valued = unusualTexts.map((text, index) => [`k${index}`, text] as const);
      for (const headers of [named, valued]) {
        for (const payload of ['1', undefined]) {
          const { id } = await client.publish(queue, payload, { headers });
          const delivery = await client.delivery({ queue, id });
          for (const [name, value] of headers)
            ctx.assert.equal(delivery.header(name), value, `header ${JSON.stringify(name)}`, 'DELIVERY-052');
          ctx.assert.sameJson(delivery.payload, payload ?? '', 'the payload', 'PUBLISH-020');
          await client.ack(delivery);
        }
      }
    },
  },
  // DELIVERY-053 (MUST): The payload of Deliver is the same JSON value as the published payload, with its numbers
  // unrounded.
  {
    id: 'DELIVERY-053a',
    title:
      'delivers the JSON value that was published, including empty values, false, null, escapes and non-ASCII text',
    clauses: ['DELIVERY-053'],
    profile: 'delivery',
    evidence: { frames: 34, messages: 16 },
    run: (ctx) => expectSameValues(ctx, unusualValues),
  },
  // DELIVERY-053 (MUST): The payload of Deliver is the same JSON value as the published payload, with its numbers
  // unrounded.
  {
    id: 'DELIVERY-053b',
    title: 'delivers numbers of any size and precision without rounding',
    clauses: ['DELIVERY-053'],
    profile: 'delivery',
    evidence: { frames: 40, messages: 19 },
    run: (ctx) => expectSameValues(ctx, exactNumbers),
  },
  // DELIVERY-053 (MUST): The payload of Deliver is the same JSON value as the published payload, with its numbers
  // unrounded.
  {
    id: 'DELIVERY-053c',
    title: 'delivers payloads of every size class from 1 KiB to 512 KiB unchanged',
    clauses: ['DELIVERY-053'],
    profile: 'delivery',
    evidence: { frames: 20, messages: 8 },
    run: (ctx) => expectSameValues(ctx, payloadsOfManySizes(ctx)),
  },
  // DELIVERY-053 (MUST): The payload of Deliver is the same JSON value as the published payload, with its numbers
  // unrounded.
  {
    id: 'DELIVERY-053d',
    title:
      'delivers each payload unchanged to a subscriber that reads late, when others are served meanwhile',
    clauses: ['DELIVERY-053'],
    profile: 'delivery',
    evidence: { frames: 200, messages: 80 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const late = await newQueue(ctx, publisher, 'late', fanOutWithoutAck);
      const prompt = await newQueue(ctx, publisher, 'prompt', fanOutWithoutAck);
      const reader = await newSubscriber(ctx, prompt);
      const slow = await newSubscriber(ctx, late);
      slow.pauseReading();
      const ofLate = await publishDistinct(ctx, publisher, late, lateBytes);
      const ofPrompt = await publishDistinct(ctx, publisher, prompt, promptBytes);
      slow.resumeReading();
      for (const [subscriber, published] of [[reader, ofPrompt] as const, [slow, ofLate] as const]) {
        // How many came by then is another rule, and depends on what the broker keeps for a subscriber that does not read.
        await subscriber.ping();
        for (const { commandName, id, payload } of subscriber.received) {
          if (commandName !== 'Deliver') continue;
          ctx.assert.sameJson(payload, published.get(id) ?? '', `the payload of ${id}`);
        }
      }
    },
  },
  // DELIVERY-054 (SHOULD): The payload of Deliver consists of the same bytes as the published payload.
  {
    id: 'DELIVERY-054a',
    title: 'delivers exactly the bytes of the published payload',
    clauses: ['DELIVERY-054'],
    profile: 'delivery',
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'bytes');
      const payload = ' { "n" : 1.50e1 , "u":"\\u0041/\\/", "n":12345678901234567890 }\n';
      await client.subscribe(queue);
      await client.publish(queue, payload);
      const delivery = await client.delivery({ queue });
      ctx.assert.equal(delivery.text(), payload, 'the payload');
      await client.ack(delivery);
    },
  },
] satisfies readonly Check[];

/** More than the system and a broker keep of what a connection does not read. */
const lateBytes = 14 * 1024 * 1024;
const promptBytes = 2 * 1024 * 1024;
/** Small enough for brokers to copy it into the memory of a larger write. */
const distinctPayloadBytes = 15_500;

/** Publishes payloads that differ in each of their parts, forty in one write. Returns them by id. */
async function publishDistinct(
  ctx: CheckContext,
  publisher: Connection,
  queue: string,
  bytes: number,
): Promise<ReadonlyMap<string, string>> {
  const payloads = new Map<string, string>();
  const length = fittingLength(ctx.target, distinctPayloadBytes);
  const sinceMs = ctx.now();
  for (let sent = 0; sent < bytes; ) {
    const frames = Array.from({ length: 40 }, () => {
      const id = ctx.id('distinct');
      const payload = JSON.stringify(`${id} `.repeat(length / (id.length + 1)));
      payloads.set(id, payload);
      return { command: Command.Publish, id, queue, payload };
    });
    await keepRate(ctx, { sinceMs, count: payloads.size - frames.length });
    await publisher.sendTogether(frames);
    for (const { id, payload } of frames) {
      await publisher.expect({ command: 'PublishAck', id });
      sent += payload.length;
    }
  }
  return payloads;
}

/** Composed and decomposed letters, which are the same text after normalization. */
const composed = '\u00e9\u212b';
const decomposed = composed.normalize('NFD');

/** Texts that brokers trim, normalize, escape, or read as the end of a text. */
const unusualTexts: readonly string[] = [
  ...[
    ' v',
    'v ',
    '\tv\n',
    '\r\nv: w',
    '\u0000',
    'v\u0000w',
    '\u0001\u001b\u007f',
    '\u0085\u2028',
    '\ufeffv',
    '\u200b',
  ],
  ...[composed, decomposed, '\ufb01', '\u{1d11e}', '\u{1f468}\u200d\u{1f469}', '\ufffd', '\uffff'],
  ...[
    'null',
    'true',
    '0',
    '1.0',
    '{"a":1}',
    '"v"',
    '\\u0041',
    '%20+',
    '<b>&amp;\'"',
    'a,b;c=d',
    '=?utf-8?q?=41?=',
  ],
];

/** Names that mean something in other commands, in programming languages or in HTTP, and names that brokers change. */
const unusualNames: readonly string[] = [
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
    'id',
    'queue',
    'payload',
    'command',
    'version',
  ],
  ...[
    'headers',
    'messageId',
    'failureReason',
    'reason',
    'clientVersion',
    'serverVersion',
    'connectionId',
    'capabilities',
  ],
  ...[
    'maxInFlight',
    'supported-compression',
    'negotiated-compression',
    'errorCode',
    'Priority',
    'correlationid',
  ],
  ...[
    'Content-Length',
    'a.b',
    'a b',
    ' a',
    'a ',
    'a:',
    '\u0000',
    'a\u0000',
    composed,
    decomposed,
    '\ufeffa',
    '0',
    '$a',
    'a[0]',
  ],
];

/** Different ids that a broker confuses if it trims or normalizes them. */
function unusualIds(id: string): readonly string[] {
  return [
    ...[id, ` ${id}`, `${id} `, `${id}\n`, `${id}\u0000`, `\ufeff${id}`, `${id}\u200b`, `${id}/../${id}`],
    ...[`${id}${composed}`, `${id}${decomposed}`, '__proto__', 'constructor', id.toUpperCase()],
  ];
}

/** JSON texts around the sizes of usual buffers, and of random sizes between them, whose every part is different. */
function payloadsOfManySizes({ random, target }: CheckContext): readonly string[] {
  const around = [1_024, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072].flatMap((size) => [
    size + random.integer(-3, 3),
    random.integer(size, 2 * size),
  ]);
  const largest = fittingLength(target, 524_288);
  const sizes = [...around, largest].map((size) => (size <= largest ? size : random.integer(1024, largest)));
  return sizes.map((size) => JSON.stringify(numberedText(size)));
}
