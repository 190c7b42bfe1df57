// Checks of the encoding of a body: the order of the fields, their lengths, the headers, and the fields of an Error. Each sends a message
// whose fields need one part of the encoding and expects it unchanged. Area: BODY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { encodeBody, frameAround } from '../wire/encode.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { headerPairs } from '../wire/frame.ts';
import { fittingLength, textOfLength } from './shared/bodies.ts';
import { pingFields } from './shared/partial-frames.ts';
import { newQueue } from './shared/queue-state.ts';
import { expectBytesRefused } from './shared/refusals.ts';

export const encodingChecks: CheckModule = [
  // BODY-001 (MUST): A body consists of these fields in this order, without padding: version (1 byte), command (1
  // byte), id, queue, payload, headers.
  {
    id: 'BODY-001a',
    title:
      'delivers the fields of a message in their order, without padding, whatever the length of the payload',
    clauses: ['BODY-001'],
    profile: 'core',
    evidence: { frames: 10, messages: 4 },
    run: async (ctx) => {
      const { connection, queue } = await subscribed(ctx, 'layout');
      for (const payload of ['1', '12', '123', '1234'])
        await expectForwarded(ctx, connection, { queue, payload, headers: { k: 'v' } }, 'BODY-001');
    },
  },
  // BODY-002 (MUST): All integers are unsigned and big-endian.
  {
    id: 'BODY-002a',
    title: 'reads lengths whose lowest byte has its highest bit set',
    clauses: ['BODY-002'],
    profile: 'core',
    evidence: { frames: 8, messages: 3 },
    run: async (ctx) => {
      const { connection, queue } = await subscribed(ctx, 'unsigned');
      const long = textOfLength(200);
      for (const content of [
        { headers: { k: long } },
        { headers: { [long]: 'v' } },
        { id: idOfLength(ctx, 200) },
      ])
        await expectForwarded(
          ctx,
          connection,
          { queue, payload: JSON.stringify(long), ...content },
          'BODY-002',
        );
    },
  },
  // BODY-004 (MUST): Id, queue, header keys and header values are encoded as a 2-byte length in bytes followed by that
  // many bytes.
  {
    id: 'BODY-004a',
    title: 'delivers header keys and values of more than 255 bytes unchanged',
    clauses: ['BODY-004'],
    profile: 'core',
    evidence: { frames: 6, messages: 2 },
    run: async (ctx) => {
      const { connection, queue } = await subscribed(ctx, 'long-texts');
      const long = textOfLength(300);
      for (const headers of [{ k: long }, { [long]: 'v' }])
        await expectForwarded(ctx, connection, { queue, payload: '1', headers }, 'BODY-004');
    },
  },
  // BODY-006 (MUST): The broker reads a queue field of length 0 as no queue.
  {
    id: 'BODY-006a',
    title: 'does not create a queue with an empty name for a command that names no queue',
    clauses: ['BODY-006'],
    profile: 'core',
    accepts: ['an Error', 'closing the connection'],
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const existing = await newQueue(ctx, witness, 'named');
      for (const command of [Command.CreateQueue, Command.Publish, Command.Subscribe]) {
        const connection = await ctx.connect({ own: true });
        await connection.send({
          command,
          id: ctx.id(),
          ...(command === Command.Publish ? { payload: '1' } : {}),
        });
        await connection.send(pingFields(ctx));
        await connection.expectOrClosed('Pong');
        const names = await witness.listQueues();
        ctx.assert.ok(names.includes(existing), 'ListQueues names the queue that exists', {
          actual: names,
          clause: 'QUEUE-028',
        });
        ctx.assert.ok(!names.includes(''), 'there is no queue with an empty name', { actual: names });
      }
    },
  },
  // BODY-007 (MUST): A payload is encoded as a 4-byte length in bytes followed by that many bytes; length 0 means that
  // the message has no payload.
  {
    id: 'BODY-007a',
    title: 'delivers payloads whose length needs one, two or three bytes unchanged',
    clauses: ['BODY-007'],
    profile: 'core',
    evidence: { frames: 8, messages: 3 },
    run: async (ctx) => {
      const { connection, queue } = await subscribed(ctx, 'payloads');
      for (const length of [20, 300, fittingLength(ctx.target, 70_000)]) {
        const payload = JSON.stringify(textOfLength(length));
        await expectForwarded(ctx, connection, { queue, payload }, 'BODY-007');
      }
    },
  },
  // BODY-008 (MUST): Headers are encoded as a 2-byte count followed by that many pairs of key and value.
  {
    id: 'BODY-008a',
    title: 'delivers every header of a message with one, two and five headers',
    clauses: ['BODY-008'],
    profile: 'core',
    evidence: { frames: 8, messages: 3 },
    run: async (ctx) => {
      const { connection, queue } = await subscribed(ctx, 'headers');
      for (const count of [1, 2, 5]) {
        const headers = Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, `v${at}`]));
        await expectForwarded(ctx, connection, { queue, payload: '1', headers }, 'BODY-008');
      }
    },
  },
  // BODY-010 (MUST): An Error, and no other command, carries a code and a message after its headers.
  {
    id: 'BODY-010a',
    title: 'sends the code and the message of an Error after its headers, and in no other command',
    clauses: ['BODY-010'],
    profile: 'core',
    accepts: ['an Error', 'closing the connection'],
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'answered');
      await client.publish(queue, '1');
      const cut = frameAround(encodeBody({ command: Command.ListQueues, id: ctx.id() }).subarray(0, -4));
      const { error } = await expectBytesRefused(
        ctx,
        client,
        cut,
        'the body ends in the length of the payload',
      );
      for (const frame of client.received)
        ctx.assert.equal(
          frame.trailingByteCount,
          0,
          `number of bytes after the last field of ${frame.commandName}`,
        );
      if (error === undefined) return ctx.notApplicable('the broker closes the connection without an Error');
      ctx.assert.matches(error.errorCode, /./, 'the code of the Error');
    },
  },
] satisfies readonly Check[];

async function subscribed(
  ctx: CheckContext,
  name: string,
): Promise<{ readonly connection: Connection; readonly queue: string }> {
  const connection = await ctx.connect();
  const queue = await newQueue(ctx, connection, name);
  await connection.subscribe(queue);
  return { connection, queue };
}

function idOfLength(ctx: CheckContext, length: number): string {
  const id = ctx.id('m');
  return id + textOfLength(length - id.length);
}

type Content = {
  readonly queue: string;
  readonly id?: string;
  readonly payload: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Publishes a message and asserts that it is confirmed and delivered with the same fields, as `clause` requires. */
async function expectForwarded(
  ctx: CheckContext,
  connection: Connection,
  { queue, id = ctx.id('m'), payload, headers = {} }: Content,
  clause: string,
): Promise<void> {
  await connection.send({ command: Command.Publish, id, queue, payload, headers });
  await connection.expect({ command: 'PublishAck', id }, { clause });
  const delivery = await connection.delivery({ queue }, { clause });
  ctx.assert.equal(delivery.id, id, 'the id', clause);
  ctx.assert.deepEqual(sentHeaders(delivery, headers), headerPairs(headers), 'the headers', clause);
  ctx.assert.sameJson(delivery.payload, payload, 'the payload', clause);
  ctx.assert.equal(delivery.trailingByteCount, 0, 'number of bytes after the headers', clause);
  await connection.ack(delivery);
}

/** The headers of the delivery that the message was published with. A broker may add others. */
function sentHeaders(delivery: ReceivedFrame, headers: Readonly<Record<string, string>>) {
  return Object.keys(headers).map((name) => [name, delivery.header(name)]);
}
