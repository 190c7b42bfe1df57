// Checks of the handshake: commands before Connect, the answer to Connect, versions, and the handshake, frame and idle timeouts. Areas:
// CONN, AUTH.
import type { Capability } from '../catalogue-words.ts';
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { ConfigurationRequest } from '../configuration.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { encodeFrame } from '../wire/encode.ts';
import type { FrameFields } from '../wire/frame.ts';
import { noteIfLate } from './shared/lateness.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { deliveredIds, fanOutWithoutAck, newSubscriber } from './shared/queue-with-subscribers.ts';
import { waitUntil } from './shared/retry-attempts.ts';

/** Short timeouts keep the checks short. The idle timeout is not shortened, so that it does not end these connections. */
const shortTimeouts = {
  timing: { handshakeTimeoutMs: 1000, frameTimeoutMs: 1000 },
} as const satisfies ConfigurationRequest;
const shortIdleTimeout = { timing: { idleTimeoutMs: 1000 } } as const satisfies ConfigurationRequest;
/** For a check that also does something meanwhile. */
const longerIdleTimeout = { timing: { idleTimeoutMs: 2000 } } as const satisfies ConfigurationRequest;

/** The capabilities that a broker tells its clients. */
const announced = ['nack', 'maxInFlight'] as const satisfies readonly Capability[];

export const handshakeChecks: CheckModule = [
  // CONN-039 (SHOULD): The broker lists its optional capabilities in header capabilities of ConnectAck, separated by
  // commas.
  {
    id: 'CONN-039a',
    title: 'lists the capabilities that its target file declares in header capabilities of ConnectAck',
    clauses: ['CONN-039'],
    profile: 'core',
    accepts: ['the header lists them', 'no header, when there are none (not applicable)'],
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const { connectAck } = await ctx.connect({ own: true });
      const header = connectAck.header('capabilities');
      const declared = announced.filter((name) => ctx.target.capabilities.has(name));
      if (header === undefined && declared.length === 0) ctx.notApplicable('the broker declares none');
      const listed = (header ?? '').split(',').map((name) => name.trim());
      const missing = declared.filter((name) => !listed.includes(name));
      ctx.assert.deepEqual(missing, [], `the declared capabilities that are not in "${header ?? ''}"`);
    },
  },
  // AUTH-007 (MUST): The broker accepts or refuses a Connect without regard to credentials of a kind that is not
  // configured.
  {
    id: 'AUTH-007a',
    title: 'accepts a Connect with credentials when no authentication is configured',
    clauses: ['AUTH-007'],
    profile: 'core',
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      if (Object.keys(ctx.target.credentials).length > 0)
        ctx.notApplicable('the broker requires credentials');
      const credentials = [
        { authToken: 'a token that nobody configured' },
        { authUsername: 'nobody', authPassword: 'a password that nobody configured' },
      ];
      for (const headers of credentials) {
        const connection = await ctx.rawConnect();
        await connection.send({ command: Command.Connect, id: ctx.id(), headers });
        const answer = await connection.next({ what: 'ConnectAck', clause: 'AUTH-007' });
        ctx.assert.equal(
          answer.commandName,
          'ConnectAck',
          `the answer to Connect with ${Object.keys(headers)}`,
        );
      }
    },
  },
  // CONN-001 (MUST): Before a successful Connect, the broker carries out no command except Connect, Ping and
  // Disconnect.
  {
    id: 'CONN-001a',
    title: 'carries out no command before Connect',
    clauses: ['CONN-001', 'CONN-002'],
    profile: 'core',
    accepts: ['Error NOT_AUTHENTICATED', 'another Error, closing, or no answer (warning)'],
    evidence: { frames: 2, assertions: 4 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      const queue = ctx.queue('before-connect');
      const commands = commandsOn(ctx, queue);
      await connection.sendTogether([...commands, { command: Command.Ping, id: ctx.id('ping') }]);
      const end = await connection.expectOrClosed('Pong', { clause: 'CONN-018' });
      const before = connection.received.filter((frame) => frame.command !== Command.Pong);
      ctx.assert.ok(
        before.every((frame) => frame.command === Command.Error),
        'no command before Connect has a positive answer',
        { actual: before.map((frame) => frame.commandName) },
      );
      const answered = typeof end !== 'string' && before.length === commands.length;
      ctx.should(answered, 'CONN-002', 'each command before Connect is answered with an Error', {
        actual: before.length,
      });
      const witness = await ctx.connect();
      ctx.assert.equal(
        await messageCountOf(witness, queue),
        undefined,
        'messageCount of a queue that must not exist',
      );
    },
  },
  // CONN-002 (SHOULD): The broker answers a command that it refuses for lack of a successful Connect by Error
  // NOT_AUTHENTICATED.
  {
    id: 'CONN-002a',
    title: 'answers a command before Connect with NOT_AUTHENTICATED and then accepts Connect',
    clauses: ['CONN-002', 'CONN-003'],
    profile: 'core',
    evidence: { frames: 2, assertions: 3 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      await connection.send({ command: Command.ListQueues, id: ctx.id() });
      const error = await connection.expect('Error');
      ctx.assert.equal(error.errorCode, 'NOT_AUTHENTICATED', 'the error code');
      await connection.send({ command: Command.Connect, id: ctx.id() });
      await connection.expect('ConnectAck', { clause: 'CONN-003' });
    },
  },
  // CONN-004 (SHOULD): The broker closes the connection on a Disconnect before Connect.
  {
    id: 'CONN-004a',
    title: 'closes the connection or sends an Error after Disconnect before Connect',
    clauses: ['CONN-004', 'CONN-018'],
    profile: 'core',
    accepts: ['the connection is closed', 'Error NOT_AUTHENTICATED'],
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      await connection.ping();
      await connection.send({ command: Command.Disconnect, id: ctx.id() });
      const end = await connection.expectOrClosed('Error');
      ctx.acceptable(
        typeof end === 'string' ? 'closed' : end.errorCode,
        [
          { title: 'the connection is closed', when: (actual) => actual === 'closed' },
          { title: 'Error NOT_AUTHENTICATED', when: (actual) => actual === 'NOT_AUTHENTICATED' },
        ],
        'the answer to Disconnect before Connect',
      );
    },
  },
  // CONN-007 (SHOULD): The broker gives ConnectAck the id of its Connect.
  {
    id: 'CONN-007a',
    title: 'answers Connect with a ConnectAck that has the same id',
    clauses: ['CONN-007', 'CONN-005'],
    profile: 'core',
    evidence: { frames: 1, assertions: 2 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      const id = ctx.id();
      await connection.send({ command: Command.Connect, id });
      const ack = await connection.expect('ConnectAck', { clause: 'CONN-005' });
      ctx.assert.equal(ack.id, id, 'the id of ConnectAck');
    },
  },
  // CONN-011 (SHOULD): The broker answers a Connect with a version byte other than 1 by Error UNSUPPORTED_VERSION.
  {
    id: 'CONN-011a',
    title: 'answers a Connect of version 2 with UNSUPPORTED_VERSION and closes the connection',
    clauses: ['CONN-011', 'CONN-012'],
    profile: 'core',
    evidence: { frames: 1, assertions: 3 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      await connection.send({ command: Command.Connect, id: ctx.id(), version: 2 });
      const error = await connection.expect('Error');
      ctx.assert.equal(error.errorCode, 'UNSUPPORTED_VERSION', 'the error code');
      await connection.closed({ clause: 'CONN-012' });
    },
  },
  // CONN-013 (SHOULD): The broker ignores the version byte of frames after Connect.
  {
    id: 'CONN-013a',
    title: 'ignores the version byte after Connect',
    clauses: ['CONN-013'],
    profile: 'core',
    evidence: { frames: 2, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect();
      const id = ctx.id();
      const answer = await connection.request({ command: Command.ListQueues, id, version: 9 });
      ctx.assert.equal(answer.commandName, 'ListQueues', 'the answer to a command of version 9');
    },
  },
  // CONN-014 (SHOULD): The broker closes a connection on which no Connect has arrived within handshakeTimeout after it
  // was opened.
  {
    id: 'CONN-014a',
    title: 'closes a connection without Connect at the handshake timeout, and not earlier',
    clauses: ['CONN-014', 'CONN-015'],
    profile: 'limits',
    requires: { configuration: shortTimeouts },
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      const connected = await ctx.connect({ own: true });
      const startedAt = ctx.now();
      const silent = await ctx.rawConnect();
      await expectTimedOut(ctx, silent, { startedAt, timeoutMs: shortTimeouts.timing.handshakeTimeoutMs });
      // This connection was opened earlier. It would be closed by now if Connect had not stopped its handshake timeout.
      await connected.ping({ clause: 'CONN-015' });
    },
  },
  // CONN-014 (SHOULD): The broker closes a connection on which no Connect has arrived within handshakeTimeout after it
  // was opened.
  {
    id: 'CONN-014b',
    title: 'closes a connection without Connect at the handshake timeout, although it sends Pings',
    clauses: ['CONN-014'],
    profile: 'limits',
    requires: { configuration: shortTimeouts },
    evidence: { frames: 1, assertions: 2 },
    run: async (ctx) => {
      const startedAt = ctx.now();
      const connection = await ctx.rawConnect();
      const timeoutMs = shortTimeouts.timing.handshakeTimeoutMs;
      await expectTimedOutMeanwhile(ctx, connection, { startedAt, timeoutMs }, () =>
        connection.send({ command: Command.Ping, id: ctx.id('ping') }),
      );
      if (connection.received.length === 0) ctx.noteLateness('no Pong came before the handshake timeout');
    },
  },
  // CONN-016 (SHOULD): The broker closes a connection on which a frame is not complete within frameTimeout of its first
  // byte.
  {
    id: 'CONN-016a',
    title: 'closes a connection with an incomplete frame at the frame timeout, and not earlier',
    clauses: ['CONN-016'],
    profile: 'limits',
    requires: { configuration: shortTimeouts },
    evidence: { frames: 1, assertions: 2 },
    run: async (ctx) => {
      const ping = encodeFrame({ command: Command.Ping, id: ctx.id('ping') });
      // It may begin a segment, or follow a whole frame in it, and may not even have its length.
      for (const [before, end] of [
        [Buffer.alloc(0), -1],
        [ping, -1],
        [ping, 3],
      ] as const) {
        const connection = await ctx.connect({ own: true });
        const startedAt = ctx.now();
        await connection.sendPieces([Buffer.concat([before, ping.subarray(0, end)])]);
        await expectTimedOut(ctx, connection, { startedAt, timeoutMs: shortTimeouts.timing.frameTimeoutMs });
      }
    },
  },
  // CONN-016 (SHOULD): The broker closes a connection on which a frame is not complete within frameTimeout of its first
  // byte.
  {
    id: 'CONN-016b',
    title: 'closes a connection whose frame comes byte by byte at the frame timeout after its first byte',
    clauses: ['CONN-016'],
    profile: 'limits',
    requires: { configuration: shortTimeouts },
    evidence: { frames: 1, assertions: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect({ own: true });
      const startedAt = ctx.now();
      const timeoutMs = shortTimeouts.timing.frameTimeoutMs;
      // It has more bytes than can be sent before the deadline, so that it is never complete.
      const frame = encodeFrame({ command: Command.Ping, id: ctx.id('ping').padEnd(slowFrameBytes, '-') });
      const bytes = frame.subarray(0, -1).values();
      await expectTimedOutMeanwhile(ctx, connection, { startedAt, timeoutMs }, async () => {
        const { value, done } = bytes.next();
        if (done !== true) await connection.sendPieces([Buffer.from([value])]);
      });
    },
  },
  // CONN-016 (SHOULD): The broker closes a connection on which a frame is not complete within frameTimeout of its first
  // byte.
  {
    id: 'CONN-016c',
    title: 'keeps a connection on which some frame is always incomplete, but none for the frame timeout',
    clauses: ['CONN-016'],
    profile: 'limits',
    requires: { configuration: shortTimeouts },
    evidence: { frames: 8, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.connect({ own: true });
      const { frameTimeoutMs } = shortTimeouts.timing;
      let rest: Buffer = Buffer.alloc(0);
      let id = '';
      for (let count = 0; count < 8; count += 1) {
        id = ctx.id('ping');
        const ping = encodeFrame({ command: Command.Ping, id });
        const sinceMs = ctx.now();
        await connection.sendPieces([Buffer.concat([rest, ping.subarray(0, -4)])]);
        rest = ping.subarray(-4);
        await waitUntil(ctx, sinceMs + frameTimeoutMs / 4);
        noteIfLate(ctx, { sinceMs, maxMs: frameTimeoutMs / 2, step: 'the end of a frame' });
      }
      await connection.sendPieces([rest]);
      const pong = await connection.expect({ command: 'Pong', id }, { clause: 'CONN-016' });
      ctx.assert.equal(pong.id, id, 'the answer to the last frame');
    },
  },
  // CONN-017 (SHOULD): The broker closes a connection on which the client has sent no byte for idleTimeout, even if the
  // broker was sending.
  {
    id: 'CONN-017a',
    title: 'closes a connection on which the client sends nothing for the idle timeout, and not earlier',
    clauses: ['CONN-017'],
    profile: 'limits',
    requires: { configuration: shortIdleTimeout },
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      const connection = await ctx.connect({ own: true });
      const startedAt = ctx.now();
      await connection.ping();
      await expectTimedOut(ctx, connection, { startedAt, timeoutMs: shortIdleTimeout.timing.idleTimeoutMs });
    },
  },
  // CONN-017 (SHOULD): The broker closes a connection on which the client has sent no byte for idleTimeout, even if the
  // broker was sending.
  {
    id: 'CONN-017b',
    title:
      'closes a connection on which the client sends nothing for the idle timeout, although it gets messages',
    clauses: ['CONN-017'],
    profile: 'limits',
    requires: { configuration: longerIdleTimeout },
    evidence: { frames: 4, messages: 1, assertions: 2 },
    run: async (ctx) => {
      let publisher = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, publisher, 'unconfirmed', fanOutWithoutAck);
      const startedAt = ctx.now();
      const connection = await newSubscriber(ctx, queue);
      const timeoutMs = longerIdleTimeout.timing.idleTimeoutMs;
      await expectTimedOutMeanwhile(ctx, connection, { startedAt, timeoutMs }, async () => {
        // On a busy machine the publisher may have been idle for too long itself.
        if (publisher.isClosed) publisher = await ctx.connect({ own: true });
        await publisher.send({ command: Command.Publish, id: ctx.id('m'), queue, payload: '1' });
      });
      if (deliveredIds(connection, queue).length === 0)
        ctx.noteLateness('no message came before the idle timeout');
    },
  },
  // CONN-017 (SHOULD): The broker closes a connection on which the client has sent no byte for idleTimeout, even if the
  // broker was sending.
  {
    id: 'CONN-017c',
    title: 'keeps a connection whose client sends something within each idle timeout, answered or not',
    clauses: ['CONN-017'],
    profile: 'limits',
    requires: { configuration: shortIdleTimeout },
    evidence: { frames: 14, assertions: 3 },
    run: async (ctx) => {
      const [pinging, acknowledging] = [await ctx.connect({ own: true }), await ctx.connect({ own: true })];
      const slow = await ctx.connect({ own: true });
      const { idleTimeoutMs } = shortIdleTimeout.timing;
      const slowId = ctx.id('slow');
      const slowFrame = encodeFrame({ command: Command.Ping, id: slowId });
      let sinceMs = ctx.now();
      for (let count = 0; count < 9; count += 1) {
        sinceMs = ctx.now();
        await pinging.send({ command: Command.Ping, id: ctx.id('ping') });
        await acknowledging.send({ command: Command.Ack, id: ctx.id('unknown') });
        await slow.sendPieces([slowFrame.subarray(count, count + 1)]);
        await waitUntil(ctx, sinceMs + idleTimeoutMs / 4);
        noteIfLate(ctx, { sinceMs, maxMs: idleTimeoutMs / 2, step: 'the next command' });
      }
      await slow.sendPieces([slowFrame.subarray(9)]);
      const slowPong = await slow.expect({ command: 'Pong', id: slowId }, { clause: 'CONN-017' });
      ctx.assert.equal(slowPong.id, slowId, 'the answer to a frame that came in pieces');
      for (const connection of [pinging, acknowledging]) {
        const id = ctx.id('last');
        await connection.send({ command: Command.Ping, id });
        noteIfLate(ctx, { sinceMs, maxMs: (3 * idleTimeoutMs) / 4, step: 'the last command' });
        const pong = await connection.expect({ command: 'Pong', id }, { clause: 'CONN-017' });
        ctx.assert.equal(pong.id, id, 'the answer to the last command');
      }
    },
  },
  // CONN-018 (MUST): The broker answers a Ping before Connect by Pong.
  {
    id: 'CONN-018a',
    title: 'answers a Ping before Connect',
    clauses: ['CONN-018', 'CONN-020'],
    profile: 'core',
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      const id = ctx.id('ping');
      await connection.send({ command: Command.Ping, id });
      await connection.expect({ command: 'Pong', id }, { clause: 'CONN-018' });
    },
  },
  // CONN-032 (MUST): The broker handles frames that follow a Connect only after it has accepted or refused the Connect.
  {
    id: 'CONN-032a',
    title: 'answers commands that arrive together with Connect, after ConnectAck',
    clauses: ['CONN-032', 'CONN-031'],
    profile: 'core',
    evidence: { frames: 4, assertions: 4 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      const queue = ctx.queue('at-once');
      await connection.sendTogether([
        { command: Command.Connect, id: ctx.id() },
        { command: Command.CreateQueue, id: ctx.id(), queue },
        { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' },
        { command: Command.Ping, id: ctx.id('ping') },
      ]);
      const first = await connection.next();
      ctx.assert.equal(first.commandName, 'ConnectAck', 'the first answer');
      for (const answer of ['CreateQueue', 'PublishAck', 'Pong'] as const) await connection.expect(answer);
    },
  },
  // CONN-037 (SHOULD): The broker sends headers serverVersion and connectionId in ConnectAck.
  {
    id: 'CONN-037a',
    title: 'sends serverVersion and connectionId in ConnectAck, also to a client that offers compression',
    clauses: ['CONN-037'],
    profile: 'core',
    evidence: { frames: 2, assertions: 4 },
    run: async (ctx) => {
      for (const headers of [{}, { 'supported-compression': 'gzip' }]) {
        const { connectAck } = await ctx.connect({ own: true, headers });
        ctx.assert.matches(connectAck.header('serverVersion'), /./, 'header serverVersion');
        ctx.assert.matches(connectAck.header('connectionId'), /./, 'header connectionId');
      }
    },
  },
  // CONN-038 (MUST): The broker ignores headers of a Connect that it does not know.
  {
    id: 'CONN-038a',
    title: 'ignores headers of Connect that it does not know',
    clauses: ['CONN-038', 'CONN-005'],
    profile: 'core',
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      const known = { clientVersion: '0.0.1-suite', 'supported-compression': 'none-such' };
      for (const [headers, clause] of [
        [known, 'CONN-005'],
        [{ ...known, 'x-unknown': 'anything', another: 'ünknown' }, 'CONN-038'],
      ] as const) {
        const connection = await ctx.rawConnect();
        await connection.send({ command: Command.Connect, id: ctx.id(), headers });
        const answer = await connection.expect({ command: ['ConnectAck', 'Error'] }, { clause });
        ctx.assert.equal(answer.commandName, 'ConnectAck', 'the answer to Connect', clause);
      }
    },
  },
] satisfies readonly Check[];

/** Commands that would create a queue, a message or a subscription, and ListQueues. */
function commandsOn(ctx: CheckContext, queue: string): readonly FrameFields[] {
  return [
    { command: Command.CreateQueue, id: ctx.id(), queue },
    { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' },
    { command: Command.Subscribe, id: ctx.id(), queue },
    { command: Command.ListQueues, id: ctx.id() },
  ];
}

/** More bytes than `expectTimedOutMeanwhile` sends until its deadline, unless all times are scaled by more than 7. */
const slowFrameBytes = 250;

/** As `expectTimedOut`, while something that must not prolong the timeout is done again and again. */
async function expectTimedOutMeanwhile(
  ctx: CheckContext,
  connection: Connection,
  wait: { readonly startedAt: number; readonly timeoutMs: number },
  disturb: () => Promise<void>,
): Promise<void> {
  let isOver = false;
  const over = expectTimedOut(ctx, connection, wait).finally(() => {
    isOver = true;
  });
  // It is awaited below, when nothing more is done.
  over.catch(() => {});
  while (!isOver) {
    await disturb();
    await waitUntil(ctx, ctx.now() + wait.timeoutMs / 8);
  }
  await over;
}

/** Waits until the connection is closed, at most until the deadline, and asserts that this is not before the timeout. */
async function expectTimedOut(
  ctx: CheckContext,
  connection: Connection,
  wait: { readonly startedAt: number; readonly timeoutMs: number },
): Promise<void> {
  await connection.closed({ withinMs: wait.timeoutMs + ctx.timing.closeMs });
  const lastedMs = ctx.now() - wait.startedAt;
  ctx.assert.ok(lastedMs >= wait.timeoutMs - ctx.timing.earlyMs, 'the connection is not closed early', {
    expected: `open for ${wait.timeoutMs} ms`,
    actual: `closed after ${Math.round(lastedMs)} ms`,
  });
}
