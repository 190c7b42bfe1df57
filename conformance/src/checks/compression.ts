// Checks of compression: the negotiation in the handshake, what the broker sends, what it reads, and limits on decompressed bodies. A
// broker may send every frame uncompressed. Areas: COMPRESS, FRAME.
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { Algorithm } from '../wire/compression.ts';
import { algorithmFlags, defaultThresholdBytes } from '../wire/compression.ts';
import { encodeBody, frameAround } from '../wire/encode.ts';
import { publishBodyOf, publishPieces, sizedPayload, textOfLength } from './shared/bodies.ts';
import { gzipOf } from './shared/gzip.ts';
import { expectNothingStored, newQueue } from './shared/queue-state.ts';
import { acceptFaultOutcome, type FaultOutcome, sendFramingFault } from './shared/refusals.ts';

const negotiation: CheckModule = [
  // COMPRESS-009 (MUST): The broker names in header negotiated-compression of ConnectAck the first algorithm in
  // supported-compression of the Connect that it supports.
  {
    id: 'COMPRESS-009a',
    title: "negotiates the first algorithm of the client's list",
    clauses: ['COMPRESS-009', 'COMPRESS-019'],
    profile: 'compression',
    evidence: { frames: 4, assertions: 4 },
    run: async (ctx) => {
      for (const [list, expected, clause] of [
        ['gzip', 'gzip', 'COMPRESS-019'],
        ['brotli', 'brotli', 'COMPRESS-019'],
        ['gzip,brotli', 'gzip', 'COMPRESS-009'],
        ['brotli,gzip', 'brotli', 'COMPRESS-009'],
      ] as const) {
        const agreed = await negotiated(ctx, list);
        ctx.assert.equal(agreed, expected, `the algorithm negotiated for the list ${list}`, clause);
      }
    },
  },
  // COMPRESS-010 (MUST): The broker sends ConnectAck without header negotiated-compression when the Connect had no
  // header supported-compression.
  {
    id: 'COMPRESS-010a',
    title: 'negotiates no compression when Connect has no list',
    clauses: ['COMPRESS-010'],
    profile: 'compression',
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const { connectAck } = await ctx.connect();
      ctx.assert.equal(
        connectAck.header('negotiated-compression'),
        undefined,
        'header negotiated-compression',
      );
    },
  },
  // COMPRESS-011 (MUST): The broker sends ConnectAck without header negotiated-compression when it supports none of the
  // listed algorithms.
  {
    id: 'COMPRESS-011a',
    title: 'negotiates no compression when it supports no listed algorithm, and sends uncompressed frames',
    clauses: ['COMPRESS-011', 'COMPRESS-004'],
    profile: 'compression',
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ headers: { 'supported-compression': 'none-such,lz77-own' } });
      const agreed = client.connectAck.header('negotiated-compression');
      ctx.assert.equal(agreed, undefined, 'header negotiated-compression');
      ctx.assert.equal((await largeDelivery(ctx, client, client)).flags, 0, 'the flags of the Deliver frame');
    },
  },
  // COMPRESS-012 (MUST): The broker compares names in supported-compression case-insensitively.
  {
    id: 'COMPRESS-012a',
    title: 'compares the names of algorithms without regard to case',
    clauses: ['COMPRESS-012'],
    profile: 'compression',
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      ctx.assert.equal(
        await negotiated(ctx, 'BROTLI'),
        'brotli',
        'the algorithm negotiated for the list BROTLI',
      );
      ctx.assert.equal(
        await negotiated(ctx, 'GZip,brotli'),
        'gzip',
        'the algorithm negotiated for the list GZip,brotli',
      );
    },
  },
  // COMPRESS-013 (MUST): The broker skips unknown names in supported-compression.
  {
    id: 'COMPRESS-013a',
    title: 'skips algorithms that it does not know',
    clauses: ['COMPRESS-013'],
    profile: 'compression',
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      ctx.assert.equal(
        await negotiated(ctx, 'none-such,gzip'),
        'gzip',
        'the algorithm negotiated for the list none-such,gzip',
      );
    },
  },
] satisfies readonly Check[];

const sending: CheckModule = [
  // COMPRESS-004 (MUST): A broker sends compressed frames only on a connection whose handshake agreed on an algorithm.
  {
    id: 'COMPRESS-004a',
    title: 'sends only uncompressed frames to a subscriber without negotiated compression',
    clauses: ['COMPRESS-004'],
    profile: 'compression',
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const subscriber = await ctx.connect({ own: true });
      const delivery = await largeDelivery(ctx, publisher, subscriber);
      ctx.assert.equal(delivery.flags, 0, 'the flags of the Deliver frame');
    },
  },
  // COMPRESS-017 (MUST): The broker sends only uncompressed frames to a subscriber whose handshake agreed on no
  // algorithm, even if the Publish was compressed.
  {
    id: 'COMPRESS-017a',
    title:
      'sends a message uncompressed to a subscriber without negotiated compression after a compressed Publish',
    clauses: ['COMPRESS-017', 'COMPRESS-016'],
    profile: 'compression',
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect({ headers: { 'supported-compression': 'gzip' } });
      const subscriber = await ctx.connect();
      const delivery = await largeDelivery(ctx, publisher, subscriber, 'gzip');
      ctx.assert.equal(delivery.flags, 0, 'the flags of the Deliver frame');
    },
  },
  // COMPRESS-005 (MUST): A broker compresses only frames whose uncompressed body has at least CompressionThreshold
  // bytes.
  {
    id: 'COMPRESS-005a',
    title: 'compresses no frame whose body is shorter than the threshold',
    clauses: ['COMPRESS-005'],
    profile: 'compression',
    evidence: { frames: 10, messages: 2 },
    run: async (ctx) => {
      for (const algorithm of ['gzip', 'brotli']) {
        const client = await ctx.connect({ headers: { 'supported-compression': algorithm } });
        const queue = await newQueue(ctx, client, `just-below-${algorithm}`);
        const id = ctx.id('m');
        const payload = sizedPayload({ id, queue, totalBytes: defaultThresholdBytes - 1 });
        await client.subscribe(queue);
        await client.publish(queue, payload, { id });
        const delivery = await client.delivery({ queue });
        const { command, headers } = delivery;
        const bodyBytes = encodeBody({ command, id, queue, payload: delivery.payload, headers }).length;
        ctx.assert.ok(
          delivery.flags === 0 || bodyBytes >= defaultThresholdBytes,
          `after an offer of ${algorithm}, a frame with a body below the threshold is not compressed`,
          {
            expected: `flags 0 for a body of ${bodyBytes} bytes`,
            actual: delivery.flags,
          },
        );
        await client.ack(delivery);
      }
    },
  },
  // COMPRESS-007 (MUST): A broker compresses with the agreed algorithm and no other.
  {
    id: 'COMPRESS-007a',
    title: 'compresses only with the negotiated algorithm',
    clauses: ['COMPRESS-007', 'COMPRESS-006'],
    profile: 'compression',
    accepts: ['the frame is compressed with the negotiated algorithm', 'the frame is not compressed'],
    evidence: { frames: 9, messages: 2 },
    run: async (ctx) => {
      let compressedCount = 0;
      for (const algorithm of ['gzip', 'brotli'] as const) {
        const client = await ctx.connect({ headers: { 'supported-compression': algorithm } });
        const { flags } = await largeDelivery(ctx, client, client);
        const allowed = [algorithmFlags.none, algorithmFlags[algorithm]];
        ctx.assert.oneOf(flags, allowed, `the flags of the Deliver frame after negotiation of ${algorithm}`);
        const isCompressed = flags !== algorithmFlags.none;
        const text = `a body over the threshold is compressed after negotiation of ${algorithm}`;
        const isAgreed = client.connectAck.header('negotiated-compression') !== undefined;
        ctx.should(isCompressed || !isAgreed, 'COMPRESS-006', text, { actual: `flags ${flags}` });
        if (isCompressed) compressedCount += 1;
      }
      if (compressedCount === 0) ctx.notApplicable('the broker sends bodies over the threshold uncompressed');
    },
  },
] satisfies readonly Check[];

const reading: CheckModule = [
  // COMPRESS-001 (MUST): The broker reads from the flags of each frame whether that frame is compressed, so that
  // compressed and uncompressed frames may follow each other in any order.
  {
    id: 'COMPRESS-001a',
    title: 'reads compressed and uncompressed frames in any order',
    clauses: ['COMPRESS-001'],
    profile: 'compression',
    evidence: { frames: 10, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect({ headers: { 'supported-compression': 'gzip' } });
      const queue = await newQueue(ctx, client, 'mixed');
      const payload = JSON.stringify(textOfLength(2000));
      await client.subscribe(queue);
      for (const options of [{}, { compress: 'gzip' }, {}, { compress: 'gzip' }] as const) {
        await client.publish(queue, payload, options);
        const delivery = await client.delivery({ queue });
        ctx.assert.sameJson(delivery.payload, payload, 'the payload');
        await client.ack(delivery);
      }
    },
  },
  // COMPRESS-002 (MUST): Flags byte 0x01 means that the body is compressed with gzip.
  {
    id: 'COMPRESS-002a',
    title: 'accepts a Publish in a gzip frame and delivers its fields',
    clauses: ['COMPRESS-002', 'COMPRESS-016'],
    profile: 'compression',
    evidence: { frames: 6, messages: 1 },
    run: (ctx) => expectFieldsDelivered(ctx, 'gzip'),
  },
  // COMPRESS-003 (MUST): Flags byte 0x02 means that the body is compressed with brotli.
  {
    id: 'COMPRESS-003a',
    title: 'accepts a Publish in a brotli frame and delivers its fields',
    clauses: ['COMPRESS-003', 'COMPRESS-016'],
    profile: 'compression',
    evidence: { frames: 6, messages: 1 },
    run: (ctx) => expectFieldsDelivered(ctx, 'brotli'),
  },
  // COMPRESS-002 (MUST): Flags byte 0x01 means that the body is compressed with gzip.
  {
    id: 'COMPRESS-002b',
    title: 'reads gzip as other encoders write it: with a file name, with a comment, and with stored blocks',
    clauses: ['COMPRESS-002', 'COMPRESS-016'],
    profile: 'compression',
    evidence: { frames: 10, messages: 4 },
    run: async (ctx) => {
      await expectBodiesRead(ctx, 'gzip', [
        ['stored blocks', (body) => gzipSync(body, { level: 0 })],
        ['codes of Huffman that are fixed', (body) => gzipSync(body, { strategy: constants.Z_FIXED })],
        ['a file name', (body) => withHeaderText(gzipSync(body), 0x08)],
        ['a comment', (body) => withHeaderText(gzipSync(body), 0x10)],
      ]);
    },
  },
  // COMPRESS-003 (MUST): Flags byte 0x02 means that the body is compressed with brotli.
  {
    id: 'COMPRESS-003b',
    title: 'reads brotli as other encoders write it: with small and large windows, and of each quality',
    clauses: ['COMPRESS-003', 'COMPRESS-016'],
    profile: 'compression',
    evidence: { frames: 14, messages: 6 },
    run: async (ctx) => {
      await expectBodiesRead(ctx, 'brotli', [
        ...[10, 16, 17, 24].map((bits) => brotliWith('a window of 2 to the power', 'LGWIN', bits)),
        ...[0, 11].map((quality) => brotliWith('quality', 'QUALITY', quality)),
      ]);
    },
  },
  // COMPRESS-018 (SHOULD): The broker reads a compressed frame whose uncompressed body is shorter than
  // CompressionThreshold, since the threshold applies to the sender only.
  {
    id: 'COMPRESS-018a',
    title: 'reads a compressed frame whose body is shorter than the threshold',
    clauses: ['COMPRESS-018'],
    profile: 'compression',
    evidence: { frames: 2, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ headers: { 'supported-compression': 'gzip' } });
      const fields = { command: Command.ListQueues, id: ctx.id() };
      const answer = await client.request(fields, { compress: 'gzip' });
      ctx.assert.equal(answer.commandName, 'ListQueues', 'the answer');
    },
  },
] satisfies readonly Check[];

const decompressedSizes: CheckModule = [
  // FRAME-002 (MUST): N is the number of bytes of the body as sent, after compression and without the flags byte.
  {
    id: 'FRAME-002a',
    title: 'sends the length that a compressed body has as it is sent',
    clauses: ['FRAME-002'],
    profile: 'compression',
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ headers: { 'supported-compression': 'gzip' } });
      const queue = await newQueue(ctx, client, 'compressed');
      const payload = JSON.stringify(textOfLength(3000));
      await client.subscribe(queue);
      await client.publish(queue, payload);
      const delivery = await client.delivery({ queue }, { clause: 'FRAME-002' });
      ctx.assert.sameJson(delivery.payload, payload, 'the payload', 'COMPRESS-016');
      await client.ack(delivery);
      await client.ping({ clause: 'FRAME-002' });
      if (delivery.flags === algorithmFlags.none) ctx.notApplicable('the broker compresses no frame');
    },
  },
  // FRAME-019 (MUST): The broker does not store a Publish whose body decompresses to more than MaxMessageSize.
  {
    id: 'FRAME-019a',
    title: 'does not store a Publish that decompresses to one byte over MaxMessageSize',
    clauses: ['FRAME-019', 'FRAME-020', 'FRAME-010'],
    profile: 'compression',
    accepts: ['a framing fault', 'Error MESSAGE_TOO_LARGE, and the connection stays open'],
    evidence: { frames: 5, assertions: 3 },
    run: async (ctx) => {
      await expectTooLarge(ctx, ctx.target.maxMessageSizeBytes + 1);
    },
  },
  // FRAME-026 (MUST): The broker accepts a body that decompresses to at most MaxMessageSize.
  {
    id: 'FRAME-026a',
    title: 'accepts a Publish that decompresses to exactly MaxMessageSize and delivers it',
    clauses: ['FRAME-026', 'COMPRESS-016', 'FRAME-018'],
    profile: 'compression',
    evidence: { frames: 5, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ headers: { 'supported-compression': 'gzip' } });
      const queue = await newQueue(ctx, client, 'largest');
      const id = ctx.id('m');
      const publish = { id, queue, totalBytes: ctx.target.maxMessageSizeBytes };
      await client.subscribe(queue);
      const body = await gzipOf([publishBodyOf(publish)]);
      await client.sendRaw(frameAround(body, { flags: algorithmFlags.gzip }));
      await client.expect({ command: 'PublishAck', id });
      const delivery = await client.delivery({ queue, id }, { clause: 'FRAME-002' });
      ctx.assert.sameJson(delivery.payload, sizedPayload(publish), 'the payload is complete');
      await client.ack(delivery);
    },
  },
  // FRAME-027 (MUST): After a body that decompresses to more than 64 MiB, the broker keeps serving all other
  // connections.
  {
    id: 'FRAME-027a',
    title:
      'keeps serving other connections after a body that decompresses to more than 64 MiB, and does not store it',
    clauses: ['FRAME-027', 'FRAME-019', 'FRAME-008'],
    profile: 'compression',
    isolation: 'fresh',
    accepts: ['a framing fault', 'Error MESSAGE_TOO_LARGE, and the connection stays open, with a warning'],
    evidence: { frames: 5, assertions: 3 },
    run: async (ctx) => {
      const outcome = await expectTooLarge(ctx, 65 * 1024 * 1024);
      const isFault = outcome !== 'Error, still open';
      ctx.should(isFault, 'FRAME-008', 'the connection is closed, as after other framing faults');
    },
  },
] satisfies readonly Check[];

export const compressionChecks: CheckModule = [...negotiation, ...sending, ...reading, ...decompressedSizes];

/** The algorithm that the broker negotiates for this list, in lower case. */
async function negotiated(ctx: CheckContext, list: string): Promise<string | undefined> {
  const { connectAck } = await ctx.connect({ headers: { 'supported-compression': list } });
  return connectAck.header('negotiated-compression')?.toLowerCase();
}

/** Publishes a payload of 3,000 characters and returns its delivery. */
async function largeDelivery(
  ctx: CheckContext,
  publisher: Connection,
  subscriber: Connection,
  compress?: Algorithm,
) {
  const queue = ctx.id('large');
  await publisher.createQueue(queue);
  const payload = JSON.stringify(textOfLength(compress === undefined ? 3000 : 4000));
  await subscriber.subscribe(queue);
  await publisher.publish(queue, payload, compress === undefined ? {} : { compress });
  const delivery = await subscriber.delivery({ queue });
  ctx.assert.sameJson(delivery.payload, payload, 'the payload', 'COMPRESS-016');
  await subscriber.ack(delivery);
  return delivery;
}

async function expectFieldsDelivered(ctx: CheckContext, compress: Algorithm): Promise<void> {
  const publisher = await ctx.connect({ headers: { 'supported-compression': compress } });
  const subscriber = await ctx.connect();
  const queue = await newQueue(ctx, subscriber, 'carried');
  const id = ctx.id('m');
  const payload = JSON.stringify({ text: textOfLength(2000) });
  await subscriber.subscribe(queue);
  await publisher.publish(queue, payload, { id, headers: { k: 'v' }, compress });
  const delivery = await subscriber.delivery({ queue });
  ctx.assert.equal(delivery.id, id, 'the id');
  ctx.assert.equal(delivery.header('k'), 'v', 'the value of the header');
  ctx.assert.sameJson(delivery.payload, payload, 'the payload');
  await subscriber.ack(delivery);
}

type Encoding = readonly [name: string, encode: (body: Buffer) => Buffer];

/** Publishes a message in each encoding of its body, and asserts that it is delivered. */
async function expectBodiesRead(
  ctx: CheckContext,
  algorithm: Algorithm,
  encodings: readonly Encoding[],
): Promise<void> {
  const client = await ctx.connect({ headers: { 'supported-compression': algorithm } });
  const queue = await newQueue(ctx, client, 'encoded');
  await client.subscribe(queue);
  for (const [name, encode] of encodings) {
    const id = ctx.id('m');
    const payload = JSON.stringify({ name, text: textOfLength(2000) });
    const body = encodeBody({ command: Command.Publish, id, queue, payload });
    await client.sendRaw(frameAround(encode(body), { flags: algorithmFlags[algorithm] }));
    await client.expect({ command: 'PublishAck', id }, { what: `PublishAck for a body with ${name}` });
    const delivery = await client.delivery({ queue });
    ctx.assert.sameJson(delivery.payload, payload, `the payload of a body with ${name}`, 'COMPRESS-016');
    await client.ack(delivery);
  }
}

function brotliWith(what: string, parameter: 'LGWIN' | 'QUALITY', value: number): Encoding {
  const params = { [constants[`BROTLI_PARAM_${parameter}`]]: value };
  return [`${what} ${value}`, (body) => brotliCompressSync(body, { params })];
}

/** The gzip member with an optional field of its header, a text that ends with a zero byte. `flag`: says which field it is. */
function withHeaderText(member: Buffer, flag: number): Buffer {
  const header = Buffer.from(member.subarray(0, 10));
  header.writeUInt8(flag, 3);
  return Buffer.concat([header, Buffer.from('body.bin\0'), member.subarray(10)]);
}

/** Returns how the broker answered. */
async function expectTooLarge(ctx: CheckContext, totalBytes: number): Promise<FaultOutcome> {
  const witness = await ctx.connect();
  const queue = await newQueue(ctx, witness, 'too-large');
  const client = await ctx.connect({ headers: { 'supported-compression': 'gzip' } });
  const body = await gzipOf(publishPieces({ id: ctx.id('m'), queue, totalBytes }));
  const frame = frameAround(body, { flags: algorithmFlags.gzip });
  const { outcome, error } = await sendFramingFault(ctx, client, frame);
  if (outcome === 'Error, still open') {
    ctx.assert.equal(error?.command, Command.Error, 'the answer on a connection that stays open');
    ctx.should(error?.errorCode === 'MESSAGE_TOO_LARGE', 'FRAME-020', 'the error code is MESSAGE_TOO_LARGE');
  } else acceptFaultOutcome(ctx, outcome, 'FRAME-011');
  await witness.ping({ clause: 'FRAME-027' });
  await expectNothingStored(ctx, witness, queue, { text: 'number of stored messages', clause: 'FRAME-019' });
  return outcome;
}
