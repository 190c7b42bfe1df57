// Checks of the body: encoding of text, repeated and empty headers, bytes after the last field, truncated bodies, versions. The broker
// must not carry out a body that it cannot read; it may answer with an Error or close the connection. Area: BODY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { countText } from '../count-text.ts';
import { Command } from '../wire/command.ts';
import { bodyBytes, bytes32, encodeBody, frameAround, string16, u8, u16 } from '../wire/encode.ts';
import type { FrameFields } from '../wire/frame.ts';
import { expectNothingStored, messageCountOf, newQueue } from './shared/queue-state.ts';
import type { Refusal } from './shared/refusals.ts';
import { connectAgainWhenClosed, expectBytesRefused, expectRefusedWith } from './shared/refusals.ts';

export const bodyChecks: CheckModule = [
  // BODY-003 (MUST): All text is UTF-8.
  {
    id: 'BODY-003a',
    title: 'delivers non-ASCII text in id, queue, headers and payload unchanged',
    clauses: ['BODY-003', 'DELIVERY-052'],
    profile: 'core',
    evidence: { frames: 4, messages: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const queue = await newQueue(ctx, connection, 'größe-日本語');
      const id = `${ctx.id('m')}-Ωمرحبا-🚀`;
      const payload = '{"text":"naïve ☃ 🚀"}';
      await connection.subscribe(queue);
      await connection.publish(queue, payload, { id, headers: { schlüssel: 'värde 値 🚀' } });
      const delivery = await connection.delivery({ queue });
      ctx.assert.equal(delivery.id, id, 'the id');
      ctx.assert.equal(delivery.header('schlüssel'), 'värde 値 🚀', 'the value of the header');
      ctx.assert.sameJson(delivery.payload, payload, 'the payload');
      await connection.ack(delivery);
    },
  },
  // BODY-005 (SHOULD): The broker refuses a command with an empty id with INVALID_MESSAGE and does not carry it out.
  {
    id: 'BODY-005a',
    title: 'refuses an empty id with INVALID_MESSAGE and does not store the message',
    clauses: ['BODY-005'],
    profile: 'core',
    accepts: ['Error INVALID_MESSAGE', 'closing the connection'],
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const queue = await newQueue(ctx, witness, 'no-id');
      const connection = await ctx.connect();
      const publish = { command: Command.Publish, id: '', queue, payload: '1' };
      await expectRefusedWith(ctx, connection, publish, { code: 'INVALID_MESSAGE', what: 'the id is empty' });
      ctx.assert.equal(await messageCountOf(witness, queue), 0, 'number of stored messages');
    },
  },
  // BODY-009 (SHOULD): The broker drops a header pair whose key or value is empty, and carries out the rest of the
  // message.
  {
    id: 'BODY-009a',
    title: 'carries out a Publish that has headers with an empty key or value',
    clauses: ['BODY-009'],
    profile: 'core',
    accepts: ['the broker removes headers with an empty key or value', 'the broker delivers them unchanged'],
    evidence: { frames: 4, messages: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const queue = await newQueue(ctx, connection, 'empty-headers');
      const headers = [
        ['', 'no key'],
        ['noValue', ''],
        ['whole', 'yes'],
      ] as const;
      await connection.subscribe(queue);
      await connection.publish(queue, '1', { headers });
      const delivery = await connection.delivery({ queue });
      ctx.assert.equal(delivery.header('whole'), 'yes', 'the header with a key and a value');
      ctx.assert.oneOf(delivery.header('noValue'), [undefined, ''], 'the header without a value');
      ctx.assert.oneOf(delivery.header(''), [undefined, 'no key'], 'the header without a key');
      await connection.ack(delivery);
    },
  },
  // BODY-011 (SHOULD): The broker ignores bytes after the last field of a body.
  {
    id: 'BODY-011a',
    title: 'ignores bytes after the last field of a body',
    clauses: ['BODY-011'],
    profile: 'core',
    evidence: { frames: 2, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const id = ctx.id('ping');
      await connection.sendRaw(withTrailingBytes({ command: Command.Ping, id }));
      await connection.expect({ command: 'Pong', id }, { clause: 'BODY-011' });
    },
  },
  // BODY-012 (MUST): When several headers have the same key, the broker uses the last one and ignores the others.
  {
    id: 'BODY-012a',
    title: 'uses the last of several headers with the same key, in Connect and in Deliver',
    clauses: ['BODY-012', 'COMPRESS-009'],
    profile: 'core',
    accepts: ['the algorithm of the last header is negotiated', 'no algorithm is negotiated'],
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect({
        headers: [
          ['supported-compression', 'gzip'],
          ['supported-compression', 'brotli'],
        ],
      });
      const negotiated = connection.connectAck.header('negotiated-compression');
      // A broker without compression negotiates nothing. Negotiating the algorithm of the first header is wrong for every broker.
      const allowed = ctx.target.capabilities.has('brotli') ? ['brotli'] : ['brotli', undefined];
      ctx.assert.oneOf(negotiated?.toLowerCase(), allowed, 'header negotiated-compression');
      const queue = await newQueue(ctx, connection, 'twice');
      await connection.subscribe(queue);
      const headers = [
        ['k', 'first'],
        ['other', 'x'],
        ['k', 'last'],
      ] as const;
      await connection.publish(queue, '1', { headers });
      const delivery = await connection.delivery({ queue });
      ctx.assert.equal(delivery.header('k'), 'last', 'the delivered value of the repeated header');
      await connection.ack(delivery);
    },
  },
  // BODY-013 (MUST): The broker writes version 1 into every frame that it sends.
  {
    id: 'BODY-013a',
    title: 'sends version 1 in every frame, even after a Publish with another version',
    clauses: ['BODY-013'],
    profile: 'core',
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const queue = await newQueue(ctx, connection, 'versions');
      await connection.subscribe(queue);
      await connection.publish(queue, '1');
      await connection.ack(await connection.delivery({ queue }));
      await publishVersion7(ctx, connection, queue);
      const versions = new Set(connection.received.map(({ version }) => version));
      ctx.assert.deepEqual([...versions], [1], 'the versions of all received frames');
    },
  },
  // BODY-014 (SHOULD): The broker ends a message that it forwards after the headers, even if the published body had
  // more bytes.
  {
    id: 'BODY-014a',
    title: 'delivers no bytes after the headers, even if the published body had some',
    clauses: ['BODY-014', 'BODY-011'],
    profile: 'core',
    evidence: { frames: 4, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const queue = await newQueue(ctx, connection, 'trail');
      const id = ctx.id('m');
      await connection.subscribe(queue);
      await connection.sendRaw(withTrailingBytes({ command: Command.Publish, id, queue, payload: '1' }));
      const answer = await connection.expectOrClosed({ command: ['PublishAck', 'Error'] });
      const isAccepted = typeof answer !== 'string' && answer.commandName === 'PublishAck';
      ctx.should(isAccepted, 'BODY-011', 'a body with bytes after its last field is accepted');
      if (!isAccepted) return ctx.notApplicable('the broker refuses a body with bytes after its last field');
      const delivery = await connection.delivery({ queue, id });
      ctx.assert.equal(delivery.trailingByteCount, 0, 'number of bytes after the headers');
      await connection.ack(delivery);
    },
  },
  // BODY-015 (MUST): The broker accepts ids of 1 to 256 bytes.
  {
    id: 'BODY-015a',
    title: 'accepts ids of 1 and of 256 bytes',
    clauses: ['BODY-015'],
    profile: 'core',
    evidence: { frames: 6, messages: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const queue = await newQueue(ctx, connection, 'ids');
      await connection.subscribe(queue);
      const longest = `é${'x'.repeat(254)}`;
      for (const id of ['x', longest]) {
        await connection.publish(queue, '1', { id });
        const delivery = await connection.delivery({ queue });
        ctx.assert.equal(delivery.id, id, `the delivered id of ${Buffer.byteLength(id)} bytes`);
        await connection.ack(delivery);
      }
    },
  },
  // BODY-016 (MAY): The broker refuses a command whose id is longer than 256 bytes with INVALID_MESSAGE.
  {
    id: 'BODY-016a',
    title: 'refuses an id of 257 bytes with INVALID_MESSAGE',
    clauses: ['BODY-016'],
    profile: 'core',
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const fields = { command: Command.ListQueues, id: 'x'.repeat(257) };
      await expectRefusedWith(ctx, connection, fields, {
        code: 'INVALID_MESSAGE',
        what: 'the id has 257 bytes',
      });
    },
  },
  // BODY-017 (MUST): The broker compares ids byte by byte, so that upper and lower case differ.
  {
    id: 'BODY-017a',
    title: 'treats message ids that differ in case as different ids',
    clauses: ['BODY-017'],
    profile: 'core',
    evidence: { frames: 6, messages: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const queue = await newQueue(ctx, connection, 'id-case');
      const lower = ctx.id('m');
      const both = [lower, lower.toUpperCase()];
      for (const id of both) await connection.publish(queue, '1', { id });
      ctx.assert.equal(await messageCountOf(connection, queue), 2, 'number of waiting messages');
      await connection.subscribe(queue);
      for (const id of both) {
        const delivery = await connection.delivery({ queue });
        ctx.assert.equal(delivery.id, id, 'the delivered id');
        await connection.ack(delivery);
      }
    },
  },
  // BODY-018 (MUST): The broker compares queue names byte by byte, so that upper and lower case differ.
  {
    id: 'BODY-018a',
    title: 'treats queue names as case-sensitive',
    clauses: ['BODY-018'],
    profile: 'core',
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const lower = await newQueue(ctx, connection, 'orders');
      const upper = await newQueue(ctx, connection, 'ORDERS');
      await connection.publish(upper, '1');
      ctx.assert.equal(
        await messageCountOf(connection, lower),
        0,
        'number of messages in the queue with the lower-case name',
      );
      ctx.assert.equal(
        await messageCountOf(connection, upper),
        1,
        'number of messages in the queue with the upper-case name',
      );
    },
  },
  // BODY-018 (MUST): The broker compares queue names byte by byte, so that upper and lower case differ.
  {
    id: 'BODY-018b',
    title: 'treats queue names as different that are equal only after Unicode normalization',
    clauses: ['BODY-018', 'CONN-010'],
    profile: 'core',
    evidence: { frames: 6, assertions: 3 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      // The letter A with a ring, and the sign of the unit of length, which normalizes to it.
      const letter = await newQueue(ctx, connection, '\u00c5');
      const sign = await newQueue(ctx, connection, '\u212b');
      const answer = await connection.publish(sign, '1');
      ctx.assert.equal(
        await messageCountOf(connection, sign),
        1,
        'number of messages in the queue of the sign',
      );
      ctx.assert.equal(await messageCountOf(connection, letter), 0, 'number of messages in the other queue');
      ctx.assert.equal(answer.queue, sign, 'the queue in PublishAck', 'CONN-010');
    },
  },
  // BODY-019 (MUST): The broker compares header names byte by byte, so that upper and lower case differ.
  {
    id: 'BODY-019a',
    title: 'treats header names as case-sensitive',
    clauses: ['BODY-019', 'COMPRESS-010', 'DELIVERY-052'],
    profile: 'core',
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect({ headers: { 'Supported-Compression': 'brotli,gzip' } });
      const negotiated = connection.connectAck.header('negotiated-compression');
      ctx.assert.equal(
        negotiated,
        undefined,
        'header negotiated-compression, when the name of the request header differs in case',
      );
      const queue = await newQueue(ctx, connection, 'header-case');
      await connection.subscribe(queue);
      await connection.publish(queue, '1', { headers: { key: 'lower', KEY: 'upper' } });
      const delivery = await connection.delivery({ queue });
      ctx.assert.equal(delivery.header('key'), 'lower', 'the header with the lower-case name');
      ctx.assert.equal(delivery.header('KEY'), 'upper', 'the header with the upper-case name');
      await connection.ack(delivery);
    },
  },
  // BODY-020 (SHOULD): The broker refuses invalid UTF-8 in an id, a queue name or a header name with INVALID_MESSAGE.
  {
    id: 'BODY-020a',
    title: 'refuses invalid UTF-8 in an id, a queue name or a header name with INVALID_MESSAGE',
    clauses: ['BODY-020', 'BODY-003'],
    profile: 'core',
    accepts: ['Error INVALID_MESSAGE', 'closing the connection'],
    evidence: { frames: 2, assertions: 3 },
    run: async (ctx) => {
      const nextConnection = connectAgainWhenClosed(ctx);
      const lone = Buffer.from([0x61, 0x80]);
      const id = ctx.id('m');
      const queue = ctx.queue('q');
      const bodies: Readonly<Record<string, Buffer>> = {
        id: publishParts({ id: lone, queue, headers: [] }),
        queue: publishParts({ id, queue: lone, headers: [] }),
        'header name': publishParts({ id, queue, headers: [[lone, 'v']] }),
      };
      let last: Awaited<ReturnType<typeof expectBytesRefused>> | undefined;
      for (const [field, bytes] of Object.entries(bodies)) {
        const connection = await nextConnection(last);
        last = await expectBytesRefused(ctx, connection, frameAround(bytes), `the ${field} is not UTF-8`);
        acceptInvalidMessage(ctx, last, `the ${field} is not UTF-8`);
      }
    },
  },
  // BODY-021 (SHOULD): The broker refuses invalid UTF-8 in a header value with INVALID_MESSAGE.
  {
    id: 'BODY-021a',
    title: 'refuses invalid UTF-8 in a header value with INVALID_MESSAGE',
    clauses: ['BODY-021'],
    profile: 'core',
    accepts: ['Error INVALID_MESSAGE', 'closing the connection'],
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const fields = { id: ctx.id('m'), queue: ctx.queue('q') };
      const bytes = publishParts({ ...fields, headers: [['note', Buffer.from([0x61, 0xc3, 0x28])]] });
      const what = 'a header value is not UTF-8';
      acceptInvalidMessage(ctx, await expectBytesRefused(ctx, connection, frameAround(bytes), what), what);
    },
  },
  // BODY-029 (SHOULD): The broker answers a truncated body by Error INVALID_MESSAGE.
  {
    id: 'BODY-029a',
    title: 'answers a truncated body with INVALID_MESSAGE',
    clauses: ['BODY-029'],
    profile: 'core',
    accepts: ['Error INVALID_MESSAGE, and the connection stays open', 'closing the connection'],
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const whole = publishParts({ id: ctx.id('m'), queue: ctx.queue('q'), headers: [] });
      const cut = frameAround(whole.subarray(0, -4));
      acceptInvalidMessage(
        ctx,
        await expectBytesRefused(ctx, connection, cut, 'the body ends in the payload'),
        'the body ends in the payload',
      );
    },
  },
  // BODY-031 (SHOULD): After a truncated body inside an intact frame, the broker keeps the connection open and reads
  // the next frame.
  {
    id: 'BODY-031a',
    title: 'reads the next frame after a truncated body',
    clauses: ['BODY-031'],
    profile: 'core',
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect({ own: true });
      const whole = publishParts({ id: ctx.id('m'), queue: ctx.queue('q'), headers: [] });
      const cut = frameAround(whole.subarray(0, -4));
      const { open } = await expectBytesRefused(ctx, connection, cut, 'the body ends in the payload');
      ctx.assert.ok(open, 'the connection stays open', { actual: 'closed' });
    },
  },
  // BODY-030 (MUST): The broker does not carry out a command whose body is truncated.
  {
    id: 'BODY-030a',
    title: 'does not carry out a truncated Publish',
    clauses: ['BODY-030', 'BODY-029'],
    profile: 'core',
    accepts: ['Error, and the connection stays open', 'closing the connection'],
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const queue = await newQueue(ctx, witness, 'broken');
      const nextConnection = connectAgainWhenClosed(ctx);
      const whole = publishParts({ id: ctx.id('m'), queue, headers: [['k', 'v']] });
      let last: Awaited<ReturnType<typeof expectBytesRefused>> | undefined;
      // After 6 missing bytes the body ends where the first header would begin.
      for (const missing of [1, 2, 3, 5, 6, 7, 8, 12]) {
        const bytes = frameAround(whole.subarray(0, -missing));
        last = await expectBytesRefused(
          ctx,
          await nextConnection(last),
          bytes,
          `${countText(missing, 'byte')} missing at the end`,
        );
        if (!last.open) break;
      }
      await expectNothingStored(ctx, witness, queue, { text: 'number of stored messages' });
    },
  },
  // BODY-033 (MUST): A truncated body or a broken field rule on one connection does not close any other connection, nor
  // delay or change its answers.
  {
    id: 'BODY-033a',
    title: 'answers another connection as before after truncated bodies and broken field rules',
    clauses: ['BODY-033'],
    profile: 'core',
    accepts: ['Error, and the connection stays open', 'closing the connection'],
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const queue = await newQueue(ctx, witness, 'shared');
      await witness.subscribe(queue);
      const whole = publishParts({ id: ctx.id('m'), queue, headers: [['k', 'v']] });
      const tooLong = encodeBody({ command: Command.ListQueues, id: 'x'.repeat(257) });
      for (const bytes of [whole.subarray(0, -1), whole.subarray(0, -3), tooLong]) {
        const connection = await ctx.connect({ own: true });
        await connection.sendRaw(frameAround(bytes));
        await connection.send({ command: Command.Ping, id: ctx.id('ping') });
        await connection.expectOrClosed('Pong');
        await expectServed(ctx, witness, queue);
      }
    },
  },
] satisfies readonly Check[];

/** Asserts that a subscriber can publish to its queue and receives the message, which a fault on another connection must not prevent. */
async function expectServed(ctx: CheckContext, witness: Connection, queue: string): Promise<void> {
  const [id, clause] = [ctx.id('m'), 'BODY-033'];
  await witness.send({ command: Command.Publish, id, queue, payload: '1' });
  await witness.expect({ command: 'PublishAck', id }, { clause });
  const delivery = await witness.delivery({ queue, id }, { clause });
  ctx.assert.equal(delivery.id, id, 'the message that another connection published');
  await witness.ack(delivery);
}

/** A frame with bytes after the last field of its body. */
function withTrailingBytes(fields: FrameFields): Buffer {
  return frameAround(bodyBytes(encodeBody(fields), Buffer.from([0, 1, 0xff])));
}

/** The body of a Publish with fields that need not be valid text. The payload is the number 1. */
function publishParts(parts: {
  readonly id: string | Buffer;
  readonly queue: string | Buffer;
  readonly headers: readonly (readonly [string | Buffer, string | Buffer])[];
}): Buffer {
  const headers = parts.headers.flatMap(([key, value]) => [string16(key), string16(value)]);
  return bodyBytes(
    u8(1),
    u8(Command.Publish),
    string16(parts.id),
    string16(parts.queue),
    bytes32('1'),
    u16(parts.headers.length),
    ...headers,
  );
}

/**
 * Publishes with version 7. The broker may refuse the version, against a SHOULD; if it accepts the message it delivers it with version
 * 1.
 */
async function publishVersion7(ctx: CheckContext, connection: Connection, queue: string): Promise<void> {
  const id = ctx.id('m');
  await connection.send({ command: Command.Publish, id, queue, payload: '7', version: 7 });
  const answer = await connection.expectOrClosed({ command: ['PublishAck', 'Error'] });
  if (typeof answer === 'string' || answer.command === Command.Error) return;
  await connection.ack(await connection.delivery({ queue, id }));
}

/** Accepts the two allowed answers to a body that cannot be read. */
function acceptInvalidMessage(ctx: CheckContext, { error }: Refusal, what: string): void {
  ctx.acceptable(
    error === undefined ? 'closed' : error.errorCode,
    [
      { title: 'Error INVALID_MESSAGE', when: (actual) => actual === 'INVALID_MESSAGE' },
      { title: 'the connection is closed', when: (actual) => actual === 'closed' },
    ],
    `the answer, when ${what}`,
  );
}
