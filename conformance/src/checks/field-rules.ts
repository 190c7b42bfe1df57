// Checks of the limits of fields: length and characters of queue names, number and length of headers. For each limit, one check shows
// that the largest value is accepted and another that a value one larger is refused. Area: BODY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import type { FrameFields } from '../wire/frame.ts';
import { infoField, messageCountOf, newQueue } from './shared/queue-state.ts';
import { connectAgainWhenClosed, expectRefused, expectRefusedWith } from './shared/refusals.ts';

const refusals = ['Error INVALID_MESSAGE', 'closing the connection'];

export const fieldRuleChecks: CheckModule = [
  // BODY-022 (MUST): The broker accepts a queue name of 1 to 256 UTF-16 units that consists of Unicode letters (L),
  // decimal digits (Nd), hyphen, underscore and full stop.
  {
    id: 'BODY-022a',
    title: 'accepts queue names of 256 UTF-16 units in letters and digits of any script, with - _ and .',
    clauses: ['BODY-022'],
    profile: 'core',
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const scripts = ctx.queue('Aé中ﾊ٣९𝒳-_.');
      for (const queue of [paddedName(ctx, 256), scripts]) {
        await connection.createQueue(queue);
        ctx.assert.equal(await infoField(connection, queue, 'name'), queue, 'the name in QueueInfo');
      }
    },
  },
  // BODY-023 (SHOULD): The broker refuses a queue name of more than 256 UTF-16 units with INVALID_MESSAGE.
  {
    id: 'BODY-023a',
    title: 'refuses a queue name of 257 UTF-16 units with INVALID_MESSAGE',
    clauses: ['BODY-023'],
    profile: 'core',
    accepts: refusals,
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const fields = { command: Command.CreateQueue, id: ctx.id(), queue: paddedName(ctx, 257) };
      await expectRefusedWith(ctx, connection, fields, {
        code: 'INVALID_MESSAGE',
        what: 'the queue name has 257 UTF-16 units',
      });
    },
  },
  // BODY-024 (SHOULD): The broker refuses a queue name with INVALID_MESSAGE, when it contains a character that BODY-022
  // does not list.
  {
    id: 'BODY-024a',
    title: 'refuses queue names that contain other characters with INVALID_MESSAGE',
    clauses: ['BODY-024'],
    profile: 'core',
    accepts: refusals,
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const nextConnection = connectAgainWhenClosed(ctx);
      let last: Awaited<ReturnType<typeof expectRefusedWith>> | undefined;
      // The first name comes twice.
      for (const character of [' ', ' ', '/', '*', '!', '\0', '\n', '½', '🚀']) {
        const queue = ctx.queue(`bad${character}name`);
        const what = `the queue name contains ${JSON.stringify(character)}`;
        const fields = { command: Command.CreateQueue, id: ctx.id(), queue };
        last = await expectRefusedWith(ctx, await nextConnection(last), fields, {
          code: 'INVALID_MESSAGE',
          what,
        });
        if (!last.open) break;
      }
    },
  },
  // BODY-025 (MUST): The broker accepts a message with 50 headers.
  {
    id: 'BODY-025a',
    title: 'accepts a message with 50 headers and delivers them all',
    clauses: ['BODY-025', 'DELIVERY-052'],
    profile: 'core',
    evidence: { frames: 4, messages: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const queue = await newQueue(ctx, connection, 'many-headers');
      // One of them is as long as a value may be.
      const headers = { ...numberedHeaders(49), longest: 'x'.repeat(4096) };
      await connection.subscribe(queue);
      await connection.publish(queue, '1', { headers });
      const delivery = await connection.delivery({ queue });
      const delivered = Object.fromEntries(Object.keys(headers).map((key) => [key, delivery.header(key)]));
      ctx.assert.deepEqual(delivered, headers, 'the headers');
      await connection.ack(delivery);
    },
  },
  // BODY-026 (SHOULD): The broker refuses a message with more than 50 headers with INVALID_MESSAGE.
  {
    id: 'BODY-026a',
    title: 'refuses a message with 51 headers with INVALID_MESSAGE',
    clauses: ['BODY-026'],
    profile: 'core',
    accepts: refusals,
    evidence: { frames: 4, assertions: 2 },
    run: (ctx) => expectRefusedPublish(ctx, { headers: numberedHeaders(51) }, 'the message has 51 headers'),
  },
  // BODY-027 (MUST): The broker accepts a header value of 4096 UTF-16 units.
  {
    id: 'BODY-027a',
    title: 'accepts a header value of 4096 UTF-16 units, independent of its length in bytes',
    clauses: ['BODY-027'],
    profile: 'core',
    evidence: { frames: 6, messages: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const queue = await newQueue(ctx, connection, 'long-header');
      await connection.subscribe(queue);
      for (const value of ['中'.repeat(4096), '🚀'.repeat(2048)]) {
        await connection.publish(queue, '1', { headers: { long: value } });
        const delivery = await connection.delivery({ queue });
        ctx.assert.equal(delivery.header('long'), value, 'the value of the header');
        await connection.ack(delivery);
      }
    },
  },
  // BODY-028 (SHOULD): The broker refuses a header value of more than 4096 UTF-16 units with INVALID_MESSAGE.
  {
    id: 'BODY-028a',
    title: 'refuses a header value of 4097 UTF-16 units with INVALID_MESSAGE',
    clauses: ['BODY-028'],
    profile: 'core',
    accepts: refusals,
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      // A character beyond the first 65,536 has two units.
      for (const long of ['x'.repeat(4097), `x${'\u{1F680}'.repeat(2048)}`])
        await expectRefusedPublish(ctx, { headers: { long } }, 'a header value has 4097 UTF-16 units');
    },
  },
  // BODY-032 (SHOULD): After a command that breaks a field rule, the broker keeps the connection open and reads the
  // next frame.
  {
    id: 'BODY-032a',
    title: 'reads the next frame after a command with a queue name, headers or an id outside the limits',
    clauses: ['BODY-032'],
    profile: 'core',
    evidence: { frames: 2, assertions: 3 },
    run: async (ctx) => {
      let refusedCount = 0;
      for (const faulty of [
        { command: Command.CreateQueue, id: ctx.id(), queue: ctx.queue('bad name') },
        { command: Command.Publish, id: ctx.id('m'), queue: ctx.queue('q'), headers: numberedHeaders(51) },
        { command: Command.ListQueues, id: 'x'.repeat(257) },
      ]) {
        const connection = await ctx.connect({ own: true });
        await connection.send(faulty);
        const id = ctx.id('ping');
        await connection.send({ command: Command.Ping, id });
        const pong = await connection.expectOrClosed({ command: 'Pong', id });
        ctx.assert.ok(typeof pong !== 'string', 'the connection stays open', { actual: 'closed' });
        if (connection.received.some(({ command }) => command === Command.Error)) refusedCount += 1;
      }
      if (refusedCount === 0) ctx.notApplicable('the broker refuses none of the commands');
    },
  },
] satisfies readonly Check[];

async function expectRefusedPublish(
  ctx: CheckContext,
  fault: Pick<FrameFields, 'headers'>,
  what: string,
): Promise<void> {
  const witness = await ctx.connect();
  const queue = await newQueue(ctx, witness, 'refused');
  const connection = await ctx.connect();
  const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '1', ...fault };
  const { error } = await expectRefused(ctx, connection, publish, what);
  if (error !== undefined) ctx.assert.equal(error.errorCode, 'INVALID_MESSAGE', 'the error code');
  ctx.assert.equal(await messageCountOf(witness, queue), 0, 'number of stored messages');
}

/** A queue name with exactly this many UTF-16 units. */
function paddedName(ctx: CheckContext, length: number): string {
  return ctx.queue('long-').padEnd(length, 'n');
}

function numberedHeaders(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`h${index}`, `v${index}`]));
}
