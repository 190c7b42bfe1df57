// Checks of which fault the broker reports when a command has two. A broker with other codes than the protocol's can be judged too, so each
// fault is first sent alone. Area: ERROR.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import { encodeBody, encodeFrame, frameAround } from '../wire/encode.ts';
import type { FrameFields } from '../wire/frame.ts';
import { newQueue } from './shared/queue-state.ts';
import { type FaultOutcome, sendFramingFault } from './shared/refusals.ts';
import { connectAsSuperuser, newConnectedUser, withUsers } from './shared/users.ts';

const maxPerSecond = 5;

/** If possible, a Publish to a missing queue is refused, and creates none. */
const withUsersAndNoNewQueues = {
  ...withUsers,
  prefers: { ...withUsers.prefers, queueDefaults: { enableAutoCreate: false } },
} as const satisfies Partial<Check>;

export const precedenceChecks: CheckModule = [
  // ERROR-007 (SHOULD): The broker reports a fault of the frame before any fault of its body.
  {
    id: 'ERROR-007a',
    title: 'refuses unknown flags with a truncated body as it refuses unknown flags alone',
    clauses: ['ERROR-007'],
    profile: 'core',
    evidence: { frames: 4, assertions: 1 },
    run: async (ctx) => {
      const whole = encodeBody({ command: Command.Ping, id: ctx.id() });
      const outcomeOf = async (bytes: Buffer): Promise<FaultOutcome> =>
        (await sendFramingFault(ctx, await ctx.connect({ own: true }), bytes)).outcome;
      const flags = await outcomeOf(frameAround(whole, { flags: 0x40 }));
      const truncated = await outcomeOf(frameAround(whole.subarray(0, 6)));
      if (flags === truncated) ctx.notApplicable('the broker answers the two faults alike');
      const both = await outcomeOf(frameAround(whole.subarray(0, 6), { flags: 0x40 }));
      ctx.assert.equal(both, flags, 'what follows unknown flags with a truncated body');
    },
  },
  // ERROR-008 (SHOULD): The broker reports a truncated body before a wrong version.
  {
    id: 'ERROR-008a',
    title: 'refuses a truncated Connect of another version as it refuses a truncated one',
    clauses: ['ERROR-008'],
    profile: 'core',
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      await expectFirstOf(ctx, {
        first: { body: connectBody(ctx, { version: 1, isWhole: false }) },
        second: { body: connectBody(ctx, { version: 2, isWhole: true }) },
        both: { body: connectBody(ctx, { version: 2, isWhole: false }) },
      });
    },
  },
  // ERROR-010 (SHOULD): The broker reports an exceeded rate before a missing handshake.
  {
    id: 'ERROR-010a',
    title: 'refuses a Publish before Connect with RATE_LIMITED when it exceeds the rate',
    clauses: ['ERROR-010', 'LIMIT-004'],
    profile: 'limits',
    requires: {
      configuration: {
        rateLimit: { maxMessagesPerClientPerSecond: maxPerSecond, maxConnectionsPerIpPerWindow: 1000 },
      },
    },
    evidence: { frames: 6, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      const queue = ctx.queue('q');
      const ids = Array.from({ length: maxPerSecond + 1 }, () => ctx.id('m'));
      await connection.sendTogether(ids.map((id) => ({ command: Command.Publish, id, queue, payload: '1' })));
      const last = ids.at(-1);
      const answer = await connection.expect((frame) => frame.id === last, {
        what: 'the answer to the Publish over the rate',
        clause: 'CONN-002',
      });
      ctx.assert.equal(answer.errorCode, 'RATE_LIMITED', `the error code, in ${frameText(answer)}`);
    },
  },
  // ERROR-011 (SHOULD): The broker reports a missing handshake before a broken field rule.
  {
    id: 'ERROR-011a',
    title:
      'refuses a Publish with an invalid queue name before Connect as it refuses a valid one before Connect',
    clauses: ['ERROR-011'],
    profile: 'core',
    evidence: { frames: 4, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      await expectFirstOf(ctx, {
        first: { body: publishBody(ctx, { queue: ctx.queue('q') }) },
        second: { body: publishBody(ctx, { queue: 'or/ders' }), client },
        both: { body: publishBody(ctx, { queue: 'or/ders' }) },
      });
    },
  },
  // ERROR-012 (SHOULD): The broker reports a broken field rule before a missing queue name.
  {
    id: 'ERROR-012a',
    title: 'refuses a Publish with 51 headers and without a queue name as it refuses one with 51 headers',
    clauses: ['ERROR-012'],
    profile: 'core',
    evidence: { frames: 6, assertions: 1 },
    run: async (ctx) => {
      const headers = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`h${index}`, 'v']));
      const queue = ctx.queue('q');
      await expectFirstOf(ctx, {
        first: { body: publishBody(ctx, { queue, headers }), client: await ctx.connect({ own: true }) },
        second: { body: publishBody(ctx, {}), client: await ctx.connect({ own: true }) },
        both: { body: publishBody(ctx, { headers }), client: await ctx.connect({ own: true }) },
      });
    },
  },
  // ERROR-013 (SHOULD): The broker reports a missing queue name before a missing right.
  {
    id: 'ERROR-013a',
    title: 'refuses a Publish without a queue name of a user without rights as that of the superuser',
    clauses: ['ERROR-013'],
    ...withUsersAndNoNewQueues,
    evidence: { frames: 8, assertions: 1 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const client = await newConnectedUser(ctx, admin, 'nobody', []);
      const queue = await newQueue(ctx, admin, 'forbidden');
      await expectFirstOf(ctx, {
        first: { body: publishBody(ctx, {}), client: admin },
        second: { body: publishBody(ctx, { queue }), client },
        both: { body: publishBody(ctx, {}), client },
      });
    },
  },
  // ERROR-014 (SHOULD): The broker reports a missing right before a missing queue.
  {
    id: 'ERROR-014a',
    title: 'does not tell a user without rights that a queue is missing',
    clauses: ['ERROR-014'],
    ...withUsersAndNoNewQueues,
    evidence: { frames: 8, assertions: 1 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const client = await newConnectedUser(ctx, admin, 'nobody', []);
      const existing = await newQueue(ctx, admin, 'forbidden');
      await expectFirstOf(ctx, {
        first: { body: publishBody(ctx, { queue: existing }), client },
        second: { body: publishBody(ctx, { queue: ctx.queue('missing') }), client: admin },
        both: { body: publishBody(ctx, { queue: ctx.queue('missing') }), client },
      });
    },
  },
  // ERROR-015 (SHOULD): The broker reports a missing or already existing queue before invalid options or an invalid
  // payload.
  {
    id: 'ERROR-015a',
    title: 'refuses to create an existing queue with invalid options as with other options',
    clauses: ['ERROR-015'],
    profile: 'core',
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'existing', { maxQueueSize: 5 });
      const bodyOf = (name: string, maxQueueSize: number): Buffer => {
        const payload = JSON.stringify({ maxQueueSize });
        return encodeBody({ command: Command.CreateQueue, id: ctx.id(), queue: name, payload });
      };
      await expectFirstOf(ctx, {
        first: { body: bodyOf(queue, 6), client },
        second: { body: bodyOf(ctx.queue('new'), 0), client },
        both: { body: bodyOf(queue, 0), client },
      });
    },
  },
  // ERROR-015 (SHOULD): The broker reports a missing or already existing queue before invalid options or an invalid
  // payload.
  {
    id: 'ERROR-015b',
    title: 'refuses a Publish with an invalid payload to a missing queue as it refuses a valid one',
    clauses: ['ERROR-015'],
    profile: 'core',
    prefers: { queueDefaults: { enableAutoCreate: false } },
    evidence: { frames: 6, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'existing');
      const missing = ctx.queue('missing');
      await expectFirstOf(ctx, {
        first: { body: publishBody(ctx, { queue: missing }), client },
        second: { body: publishBody(ctx, { queue, payload: 'no JSON' }), client },
        both: { body: publishBody(ctx, { queue: missing, payload: 'no JSON' }), client },
      });
    },
  },
  // ERROR-016 (SHOULD): The broker reports invalid options or an invalid payload before it looks for a repeat.
  {
    id: 'ERROR-016a',
    title: 'refuses a Publish with an invalid payload also when it has the id of a waiting message',
    clauses: ['ERROR-016'],
    profile: 'core',
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, client, 'repeated');
      const { id } = await client.publish(queue, '1');
      const payload = 'no JSON';
      const alone = await codeOf(ctx, { body: publishBody(ctx, { queue, payload }), client });
      if (alone === undefined) ctx.notApplicable('the broker does not refuse a payload that is not JSON');
      const again = {
        body: publishBody(ctx, { id, queue, payload }),
        client: await ctx.connect({ own: true }),
      };
      const repeated = await codeOf(ctx, again);
      ctx.assert.equal(repeated, alone, 'the error code for the id of a waiting message');
    },
  },
] satisfies readonly Check[];

/** A faulty command, on this connection or on a new one without Connect. */
type Faulty = { readonly body: Buffer; readonly client?: Connection };

/** Asserts that a command with two faults gets the code of the first. Not applicable when the two faults do not have different codes. */
async function expectFirstOf(
  ctx: CheckContext,
  { first, second, both }: { readonly first: Faulty; readonly second: Faulty; readonly both: Faulty },
): Promise<void> {
  const [firstCode, secondCode] = [await codeOf(ctx, first), await codeOf(ctx, second)];
  if (firstCode === undefined || secondCode === undefined || firstCode === secondCode)
    ctx.notApplicable('the broker does not refuse the two faults with different codes');
  const expected = `the error code of a command with both faults (the other fault alone has ${secondCode})`;
  ctx.assert.equal(await codeOf(ctx, both), firstCode, expected);
}

/** The code of the Error that answers the command; undefined when there is none. */
async function codeOf(ctx: CheckContext, { body, client }: Faulty): Promise<string | undefined> {
  const connection = client ?? (await ctx.rawConnect());
  const before = connection.received.length;
  await connection.sendRaw(frameAround(body));
  // A broker may send the Error after the answer to the command that follows.
  for (const id of [ctx.id('ping'), ctx.id('ping')]) {
    await connection.sendRaw(encodeFrame({ command: Command.Ping, id }));
    if (typeof (await connection.expectOrClosed({ command: 'Pong', id })) === 'string') break;
  }
  const after = connection.received.slice(before);
  return after.find(({ command }) => command === Command.Error)?.errorCode;
}

function publishBody(ctx: CheckContext, fields: Partial<FrameFields>): Buffer {
  return encodeBody({ command: Command.Publish, id: ctx.id('m'), payload: '1', ...fields });
}

/** A Connect, or its beginning. */
function connectBody(ctx: CheckContext, { version, isWhole }: { version: number; isWhole: boolean }): Buffer {
  const whole = encodeBody({ command: Command.Connect, id: ctx.id(), version });
  return isWhole ? whole : whole.subarray(0, 6);
}
