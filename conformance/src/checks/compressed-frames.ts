// Checks of compressed frames that a client sends: without an agreed algorithm, before Connect, and together with it. Area: COMPRESS.
import type { Check, CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import { compressedFrame } from '../wire/compression.ts';
import { bodyBytes, encodeBody, encodeFrame, frameAround } from '../wire/encode.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { sendFramingFault } from './shared/refusals.ts';

export const compressedFrameChecks: CheckModule = [
  // COMPRESS-014 (SHOULD): After a successful Connect, the broker reads frames with flags 0x01 and 0x02, whether or not
  // the handshake agreed on their algorithm.
  {
    id: 'COMPRESS-014a',
    title: 'reads gzip and brotli frames after a handshake that agreed on no compression',
    clauses: ['COMPRESS-014'],
    profile: 'compression',
    evidence: { frames: 6, assertions: 2 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const queue = await newQueue(ctx, witness, 'unagreed');
      for (const algorithm of ['gzip', 'brotli'] as const) {
        const client = await ctx.connect({ own: true });
        const id = ctx.id(algorithm);
        const body = encodeBody({ command: Command.Publish, id, queue, payload: '1' });
        await client.sendRaw(compressedFrame(body, algorithm));
        const answer = await client.expect(({ command }) => command !== Command.Deliver, {
          what: `the answer to a ${algorithm} frame`,
          clause: 'COMPRESS-014',
        });
        ctx.assert.equal(answer.commandName, 'PublishAck', `the answer to a ${algorithm} frame`);
      }
      ctx.assert.equal(await messageCountOf(witness, queue), 2, 'number of stored messages');
    },
  },
  // COMPRESS-015 (SHOULD): Before a successful Connect, the broker refuses a compressed frame in the same way as one
  // with unknown flags.
  {
    id: 'COMPRESS-015a',
    title: 'refuses a compressed Connect as it refuses one with unknown flags',
    clauses: ['COMPRESS-015'],
    profile: 'compression',
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      // It does answer a Connect that is not compressed.
      await (await ctx.connect({ own: true })).ping();
      const body = encodeBody({ command: Command.Connect, id: ctx.id() });
      const unknown = await sendFramingFault(ctx, await ctx.rawConnect(), frameAround(body, { flags: 0x40 }));
      for (const algorithm of ['gzip', 'brotli'] as const) {
        const bytes = compressedFrame(body, algorithm);
        const { outcome } = await sendFramingFault(ctx, await ctx.rawConnect(), bytes);
        ctx.assert.equal(outcome, unknown.outcome, `the answer to a Connect in ${algorithm}`);
      }
    },
  },
  // COMPRESS-001 (MUST): The broker reads from the flags of each frame whether that frame is compressed, so that
  // compressed and uncompressed frames may follow each other in any order.
  {
    id: 'COMPRESS-001b',
    title: 'reads a compressed Publish that arrives together with the Connect that offers its algorithm',
    clauses: ['COMPRESS-001', 'CONN-032', 'FRAME-016'],
    profile: 'compression',
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const queue = await newQueue(ctx, witness, 'at-once');
      const headers = { ...ctx.target.credentials, 'supported-compression': 'gzip' };
      const connect = encodeFrame({ command: Command.Connect, id: ctx.id(), headers });
      // Longer than the default threshold, which binds who sends and not who reads.
      const payload = JSON.stringify('x'.repeat(2000));
      const body = encodeBody({ command: Command.Publish, id: ctx.id('m'), queue, payload });
      const connection = await ctx.rawConnect();
      await connection.sendPieces([Buffer.concat([connect, compressedFrame(body, 'gzip')])]);
      for (const expected of ['ConnectAck', 'PublishAck']) {
        const answer = await connection.next({ what: expected });
        ctx.assert.equal(answer.commandName, expected, 'the next answer');
      }
      ctx.assert.equal(await messageCountOf(witness, queue), 1, 'number of stored messages');
    },
  },
  // BODY-014 (SHOULD): The broker ends a message that it forwards after the headers, even if the published body had
  // more bytes.
  {
    id: 'BODY-014b',
    title: 'delivers no bytes after the headers, even if a compressed body had some',
    clauses: ['BODY-014', 'BODY-011', 'COMPRESS-016'],
    profile: 'compression',
    requires: { profiles: ['delivery'] },
    evidence: { frames: 8, messages: 2, assertions: 2 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const queue = await newQueue(ctx, witness, 'trail');
      await witness.subscribe(queue);
      for (const algorithm of ['gzip', 'brotli'] as const) {
        const client = await ctx.connect({ own: true, headers: { 'supported-compression': algorithm } });
        const id = ctx.id(algorithm);
        const body = encodeBody({ command: Command.Publish, id, queue, payload: '1' });
        const longer = bodyBytes(body, Buffer.from([0, 1, 0xff]));
        await client.sendRaw(compressedFrame(longer, algorithm));
        const answer = await client.expectOrClosed({ command: ['PublishAck', 'Error'] });
        if (typeof answer === 'string' || answer.command === Command.Error)
          return ctx.notApplicable('the broker refuses a body with bytes after its last field');
        const delivery = await witness.delivery({ queue, id });
        ctx.assert.equal(
          delivery.trailingByteCount,
          0,
          `number of bytes after the headers, with ${algorithm}`,
        );
        await witness.ack(delivery);
      }
    },
  },
] satisfies readonly Check[];
