// Checks of frames: lengths, flags, bodies that do not decompress, and frames that arrive in pieces or together. A framing fault must not
// affect other connections. The answer to it is only recommended. Area: FRAME.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { compress } from '../wire/compression.ts';
import { bodyBytes, encodeBody, encodeFrame, frameAround } from '../wire/encode.ts';
import { fittingLength, publishBodyOf, sizedPayload, textOfLength } from './shared/bodies.ts';
import { pingFields, sendBytewise, sendPartialFrame } from './shared/partial-frames.ts';
import { expectNothingStored, newQueue } from './shared/queue-state.ts';
import { acceptFaultOutcome, readFaultOutcome, sendFramingFault } from './shared/refusals.ts';

const faultOutcomes = [
  'Error, then the connection is closed',
  'Error, and the connection stays open (warning)',
  'the connection is closed without an Error (warning)',
  'the frame is ignored without an Error (warning)',
];

export const framingChecks: CheckModule = [
  // FRAME-001 (MUST): A frame consists of a 4-byte unsigned big-endian body length N, one flags byte for compression
  // and N bytes of body, and the next frame follows without a gap.
  {
    id: 'FRAME-001a',
    title: 'reads bodies whose length needs one, two or three bytes of the length field',
    clauses: ['FRAME-001'],
    profile: 'core',
    evidence: { frames: 12, messages: 3 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const queue = await newQueue(ctx, connection, 'lengths');
      await connection.subscribe(queue);
      for (const length of [20, 300, fittingLength(ctx.target, 70_000)]) {
        const payload = JSON.stringify('x'.repeat(length));
        await connection.publish(queue, payload);
        const delivery = await connection.delivery({ queue });
        ctx.assert.sameJson(delivery.payload, payload, `the payload of ${length} characters`);
        await connection.ack(delivery);
        // The Pong is read only if it begins where the body ends.
        await connection.ping({ clause: 'FRAME-001' });
      }
    },
  },
  // FRAME-003 (MUST): The broker reads a frame with any body length from 2 to MaxMessageSize, both included.
  {
    id: 'FRAME-003a',
    title: 'accepts a Publish of exactly MaxMessageSize bytes and delivers it unchanged',
    clauses: ['FRAME-003', 'FRAME-018', 'DELIVERY-053'],
    profile: 'core',
    evidence: { frames: 4, messages: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const queue = await newQueue(ctx, connection, 'largest');
      const id = ctx.id('m');
      await connection.subscribe(queue);
      const sized = { id, queue, totalBytes: ctx.target.maxMessageSizeBytes };
      await connection.sendRaw(frameAround(publishBodyOf(sized)));
      await connection.expect({ command: 'PublishAck', id });
      const delivery = await connection.delivery({ queue, id });
      ctx.assert.sameJson(delivery.payload, sizedPayload(sized), 'the payload', 'DELIVERY-053');
      ctx.assert.between(
        delivery.bodyLengthBytes,
        1000,
        ctx.target.maxMessageSizeBytes,
        'the length of the delivered body in bytes',
      );
      await connection.ack(delivery);
    },
  },
  // FRAME-004 (MUST): A frame with a body length of 0 or 1 is a framing fault, and the broker does not carry it out.
  {
    id: 'FRAME-004a',
    title: 'carries out nothing for a frame with body length 0 or 1',
    clauses: ['FRAME-004'],
    profile: 'core',
    accepts: faultOutcomes,
    evidence: { frames: 2, assertions: 4 },
    run: async (ctx) => {
      for (const body of [Buffer.alloc(0), Buffer.from([1])]) {
        const connection = await ctx.connect({ own: true });
        const { outcome } = await sendFramingFault(ctx, connection, frameAround(body));
        acceptFaultOutcome(ctx, outcome);
      }
    },
  },
  // FRAME-005 (MUST): A frame with a body length over MaxMessageSize is a framing fault, and the broker does not carry
  // it out.
  {
    id: 'FRAME-005a',
    title: 'does not store a Publish whose body is one byte over MaxMessageSize',
    clauses: ['FRAME-005', 'FRAME-010'],
    profile: 'core',
    accepts: faultOutcomes,
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      const totalBytes = ctx.target.maxMessageSizeBytes + 1;
      const tooLarge = (publish: PublishNames): Buffer =>
        frameAround(publishBodyOf({ ...publish, totalBytes }));
      await expectNotStored(ctx, tooLarge, 'FRAME-011');
    },
  },
  // FRAME-006 (MUST): A frame whose flags byte is none of 0x00, 0x01 and 0x02 is a framing fault, and the broker does
  // not carry it out.
  {
    id: 'FRAME-006a',
    title: 'does not carry out a Publish with compression flags 0x03 or 0x80',
    clauses: ['FRAME-006', 'FRAME-010'],
    profile: 'core',
    accepts: faultOutcomes,
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      for (const flags of [0x03, 0x80]) {
        await expectNotStored(ctx, (publish) => frameAround(publishBody(publish), { flags }));
      }
    },
  },
  // FRAME-007 (MUST): A frame whose body does not decompress by the algorithm of its flags byte is a framing fault, and
  // the broker does not carry it out.
  {
    id: 'FRAME-007a',
    title: 'does not carry out a Publish whose gzip body is truncated',
    clauses: ['FRAME-007', 'FRAME-010'],
    profile: 'core',
    accepts: faultOutcomes,
    evidence: { frames: 4, assertions: 3 },
    run: (ctx) =>
      expectNotStored(ctx, (publish) => {
        const whole = compress(publishBody(publish), 'gzip');
        return frameAround(whole.subarray(0, -4), { flags: 1 });
      }),
  },
  // FRAME-007 (MUST): A frame whose body does not decompress by the algorithm of its flags byte is a framing fault, and
  // the broker does not carry it out.
  {
    id: 'FRAME-007b',
    title: 'carries out nothing for an uncompressed body with the flag of gzip or brotli',
    clauses: ['FRAME-007'],
    profile: 'core',
    accepts: faultOutcomes,
    evidence: { frames: 2, assertions: 4 },
    run: async (ctx) => {
      for (const flags of [1, 2]) {
        const connection = await ctx.connect({ own: true });
        const faulty = frameAround(encodeBody({ command: Command.ListQueues, id: ctx.id() }), { flags });
        const { outcome } = await sendFramingFault(ctx, connection, faulty);
        acceptFaultOutcome(ctx, outcome);
      }
    },
  },
  // FRAME-009 (MUST): After a framing fault, the broker accepts and serves new connections.
  {
    id: 'FRAME-009a',
    title: 'serves a new connection after each kind of framing fault',
    clauses: ['FRAME-009'],
    profile: 'core',
    isolation: 'fresh',
    sharesAttached: true,
    evidence: { frames: 8 },
    run: async (ctx) => {
      const faulty = await Promise.all([1, 2, 3, 4].map(() => ctx.connect({ own: true })));
      const totalBytes = ctx.target.maxMessageSizeBytes + 1;
      const faults = [
        frameAround(Buffer.alloc(0)),
        frameAround(publishBodyOf({ id: ctx.id('m'), queue: ctx.queue('q'), totalBytes })),
        frameAround(encodeBody(pingFields(ctx)), { flags: 0xff }),
        frameAround(encodeBody(pingFields(ctx)), { flags: 1 }),
      ];
      for (const [index, connection] of faulty.entries()) {
        const fault = faults[index] ?? Buffer.alloc(0);
        // Other checks judge the answer to the fault. The Ping has one where the broker ignores the fault.
        await connection.sendRaw(Buffer.concat([fault, encodeFrame(pingFields(ctx))]));
        await connection.expectOrClosed(() => true, { clause: 'FRAME-012' });
        const next = await ctx.rawConnect();
        await next.send({ command: Command.Connect, id: ctx.id() });
        await next.expect('ConnectAck', { clause: 'FRAME-009' });
      }
    },
  },
  // FRAME-010 (MUST): A framing fault on one connection does not close any other connection, nor delay or change its
  // answers.
  {
    id: 'FRAME-010a',
    title: 'completes a partial frame of one connection after a framing fault on another',
    clauses: ['FRAME-010'],
    profile: 'core',
    evidence: { frames: 3, assertions: 3 },
    run: async (ctx) => {
      const other = await ctx.connect({ own: true });
      const faulty = await ctx.connect({ own: true });
      const ping = pingFields(ctx);
      const rest = await sendPartialFrame(ctx, other, encodeFrame(ping));
      const plain = encodeBody(pingFields(ctx));
      const faultyRest = await sendPartialFrame(ctx, faulty, frameAround(plain, { flags: 1 }));
      const { outcome } = await sendFramingFault(ctx, faulty, faultyRest);
      acceptFaultOutcome(ctx, outcome);
      await other.sendPieces([rest]);
      await other.expect({ command: 'Pong', id: ping.id });
    },
  },
  // FRAME-011 (SHOULD): The broker answers a framing fault that concerns a size over a limit (body length or
  // decompressed size) by Error MESSAGE_TOO_LARGE.
  {
    id: 'FRAME-011a',
    title: 'answers a length over MaxMessageSize with MESSAGE_TOO_LARGE',
    clauses: ['FRAME-011'],
    profile: 'core',
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect({ own: true });
      const totalBytes = ctx.target.maxMessageSizeBytes + 1;
      const body = publishBodyOf({ id: ctx.id('m'), queue: ctx.queue('q'), totalBytes });
      await connection.sendRaw(frameAround(body));
      const error = await connection.expect('Error');
      ctx.assert.equal(
        error.errorCode,
        'MESSAGE_TOO_LARGE',
        'the error code for a length over MaxMessageSize',
      );
    },
  },
  // FRAME-012 (SHOULD): The broker answers every other framing fault (length 0 or 1, unknown flags, a body that does
  // not decompress) by Error INVALID_MESSAGE.
  {
    id: 'FRAME-012a',
    title: 'answers unknown flags and a body that does not decompress with INVALID_MESSAGE',
    clauses: ['FRAME-012'],
    profile: 'core',
    evidence: { frames: 4, assertions: 4 },
    run: async (ctx) => {
      for (const flags of [0x40, 1]) {
        const connection = await ctx.connect({ own: true });
        await connection.sendRaw(frameAround(encodeBody(pingFields(ctx)), { flags }));
        const error = await connection.expect('Error');
        ctx.assert.equal(error.errorCode, 'INVALID_MESSAGE', `the error code for flags ${flags}`);
      }
    },
  },
  // FRAME-013 (SHOULD): After the Error for a framing fault the broker closes the connection.
  {
    id: 'FRAME-013a',
    title: 'closes the connection after the Error for a framing fault',
    clauses: ['FRAME-013'],
    profile: 'core',
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect({ own: true });
      await connection.sendRaw(frameAround(encodeBody(pingFields(ctx)), { flags: 0x7f }));
      await connection.expect('Error', { clause: 'FRAME-012' });
      await connection.closed();
    },
  },
  // FRAME-014 (SHOULD): The broker carries out and answers complete commands that precede a faulty frame on the same
  // connection before it answers the fault.
  {
    id: 'FRAME-014a',
    title: 'answers the commands that precede a faulty frame before the Error for that frame',
    clauses: ['FRAME-014'],
    profile: 'core',
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      const connection = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, connection, 'before');
      const [publishId, pingId] = [ctx.id('m'), ctx.id('ping')];
      await connection.sendPieces([
        Buffer.concat([
          encodeFrame({ command: Command.Publish, id: publishId, queue, payload: '1' }),
          encodeFrame({ command: Command.Ping, id: pingId }),
          frameAround(encodeBody(pingFields(ctx)), { flags: 0x7f }),
        ]),
      ]);
      const ack = await connection.expect({ command: 'PublishAck', id: publishId });
      const pong = await connection.expect({ command: 'Pong', id: pingId });
      const error = await connection.expect('Error');
      const order = [ack, pong, error].sort((a, b) => a.sequence - b.sequence);
      ctx.assert.equal(order.at(-1)?.commandName, 'Error', 'the last of the three answers');
    },
  },
  // FRAME-015 (MUST): The broker reads a frame that arrives in several TCP segments, split at any byte, like one that
  // arrives in a single segment.
  {
    id: 'FRAME-015a',
    title: 'reads a frame that arrives byte by byte',
    clauses: ['FRAME-015'],
    profile: 'core',
    evidence: { frames: 8, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const other = await ctx.connect();
      const queue = await newQueue(ctx, client, 'bytewise');
      await client.subscribe(queue);
      const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '{"a":1}' };
      await sendBytewise(ctx, client, other, encodeFrame({ ...publish, headers: { k: 'v' } }));
      const delivery = await client.delivery({ queue, id: publish.id });
      ctx.assert.sameJson(delivery.payload, '{"a":1}', 'the payload');
      ctx.assert.equal(delivery.header('k'), 'v', 'the value of the header');
      await client.ack(delivery);
      await client.expect({ command: 'PublishAck', id: publish.id }, { clause: 'PUBLISH-001' });
    },
  },
  // FRAME-015 (MUST): The broker reads a frame that arrives in several TCP segments, split at any byte, like one that
  // arrives in a single segment.
  {
    id: 'FRAME-015b',
    title: 'reads two frames that are split at any byte',
    clauses: ['FRAME-015', 'FRAME-016'],
    profile: 'core',
    evidence: { frames: 20, assertions: 20 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const length = twoPings(ctx).bytes.length;
      for (let at = 1; at < length; at += 1) {
        const { bytes, ids } = twoPings(ctx);
        const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
        const pongs = [...ids];
        if (at <= length / 2) await connection.sendPieces(pieces);
        else {
          // The first Pong shows that the broker has read the first piece, so the second piece arrives alone.
          await connection.sendPieces(pieces.slice(0, 1));
          await connection.expect({ command: 'Pong', id: pongs.shift() ?? '' }, { clause: 'FRAME-015' });
          await connection.sendPieces(pieces.slice(1));
        }
        for (const id of pongs) await connection.expect({ command: 'Pong', id }, { clause: 'FRAME-015' });
      }
    },
  },
  // FRAME-015 (MUST): The broker reads a frame that arrives in several TCP segments, split at any byte, like one that
  // arrives in a single segment.
  {
    id: 'FRAME-015c',
    title: 'reads two large frames whose pieces arrive in turns on two connections',
    clauses: ['FRAME-015'],
    profile: 'core',
    evidence: { frames: 20, messages: 3 },
    run: async (ctx) => {
      const [first, second] = [await ctx.connect({ own: true }), await ctx.connect({ own: true })];
      const other = await ctx.connect();
      const queue = await newQueue(ctx, other, 'in-turns');
      const length = fittingLength(ctx.target, 200_000);
      const large = (connection: Connection, digit: number) => {
        const id = ctx.id('large');
        const payload = JSON.stringify(`${digit} `.repeat(length / 2));
        const bytes = encodeFrame({ command: Command.Publish, id, queue, payload });
        return { connection, id, payload, bytes };
      };
      const [one, two, whole] = [large(first, 1), large(second, 2), large(other, 3)];
      await other.sendPieces([whole.bytes]);
      await other.expect({ command: 'PublishAck', id: whole.id }, { clause: 'FRAME-003' });
      const pieceCount = 8;
      for (let piece = 0; piece < pieceCount; piece += 1) {
        for (const { connection, bytes } of [one, two]) {
          const cutAt = (part: number) => Math.ceil((bytes.length * part) / pieceCount);
          await connection.sendRaw(bytes.subarray(cutAt(piece), cutAt(piece + 1)));
          // Time for the broker to read the piece before the next one comes.
          await other.ping();
        }
      }
      for (const { connection, id } of [one, two]) await connection.expect({ command: 'PublishAck', id });
      await other.subscribe(queue);
      // Between publishers no order is due.
      const payloads = new Map([whole, one, two].map(({ id, payload }) => [id, payload]));
      for (let count = 0; count < payloads.size; count += 1) {
        const delivery = await other.delivery({ queue });
        ctx.assert.sameJson(
          delivery.payload,
          payloads.get(delivery.id) ?? '',
          `the payload of ${delivery.id}`,
        );
        await other.ack(delivery);
      }
    },
  },
  // FRAME-016 (MUST): The broker reads every one of several frames that arrive in a single TCP segment.
  {
    id: 'FRAME-016a',
    title: 'reads all of two hundred frames that arrive in one piece',
    clauses: ['FRAME-016'],
    profile: 'core',
    evidence: { frames: 200, assertions: 200 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const ids = Array.from({ length: 200 }, () => ctx.id('ping'));
      await connection.sendTogether(ids.map((id) => ({ command: Command.Ping, id })));
      for (const id of ids) await connection.expect({ command: 'Pong', id }, { clause: 'FRAME-016' });
    },
  },
  // FRAME-017 (SHOULD): The broker refuses a length over the limit or an unknown flags byte after the five header
  // bytes, without allocating memory or waiting for the body.
  {
    id: 'FRAME-017a',
    title: 'refuses a length over MaxMessageSize when only the five header bytes have arrived',
    clauses: ['FRAME-017'],
    profile: 'core',
    accepts: ['Error, then closing', 'closing without an Error'],
    evidence: { frames: 1, assertions: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect({ own: true });
      const lengthBytes = ctx.target.maxMessageSizeBytes + 1;
      await connection.sendRaw(frameAround(Buffer.alloc(0), { lengthBytes }));
      const { outcome } = await readFaultOutcome(ctx, connection);
      ctx.assert.oneOf(outcome, ['Error, then closed', 'closed'], 'the outcome of a header without a body');
    },
  },
  // FRAME-028 (MUST): The broker does not carry out a frame that is incomplete when its connection ends.
  {
    id: 'FRAME-028a',
    title: 'does not carry out a frame that is incomplete when the connection ends',
    clauses: ['FRAME-028'],
    profile: 'core',
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const queue = await newQueue(ctx, witness, 'cut-short');
      const connection = await ctx.connect({ own: true });
      const body = encodeBody({ command: Command.Publish, id: ctx.id('m'), queue, payload: '1' });
      // The fields are complete. Only the last of the bytes that follow them is missing.
      const frame = frameAround(bodyBytes(body, Buffer.from('more')));
      await connection.sendPieces([frame.subarray(0, -1)]);
      await connection.end();
      await connection.closed();
      await expectNothingStored(ctx, witness, queue, { text: 'number of stored messages' });
    },
  },
] satisfies readonly Check[];

type PublishNames = { readonly id: string; readonly queue: string };

/** Sends a faulty Publish on a new connection and asserts that no message is stored, whatever the answer is. */
async function expectNotStored(
  ctx: CheckContext,
  faultyFrame: (publish: PublishNames) => Buffer,
  errorClause?: 'FRAME-011',
): Promise<void> {
  const witness = await ctx.connect();
  const queue = ctx.id('faulty');
  await witness.createQueue(queue);
  const connection = await ctx.connect({ own: true });
  const { outcome } = await sendFramingFault(ctx, connection, faultyFrame({ id: ctx.id('m'), queue }));
  acceptFaultOutcome(ctx, outcome, errorClause);
  await expectNothingStored(ctx, witness, queue, { text: 'number of stored messages' });
}

function publishBody({ id, queue }: PublishNames): Buffer {
  return encodeBody({ command: Command.Publish, id, queue, payload: JSON.stringify(textOfLength(40)) });
}

function twoPings(ctx: CheckContext): { readonly bytes: Buffer; readonly ids: readonly string[] } {
  const ids = [`a${ctx.id()}`.slice(-4), `b${ctx.id()}`.slice(-4)];
  return { ids, bytes: Buffer.concat(ids.map((id) => encodeFrame({ command: Command.Ping, id }))) };
}
