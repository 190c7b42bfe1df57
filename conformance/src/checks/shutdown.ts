// Checks of an orderly stop: the broker gets SIGTERM while a subscriber has a message in flight, so that the shutdown lasts until its ack
// or until shutdownTimeout. Areas: SHUTDOWN, HEALTH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import { noteIfLate } from './shared/lateness.ts';
import { eventually, newQueue } from './shared/queue-state.ts';
import { fanOutWithAck, newSubscriber } from './shared/queue-with-subscribers.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { publishSeries } from './shared/subscribers.ts';

/** A broker that the check stops. It waits long enough for an ack that the check sends during the shutdown. */
export const stopped = {
  profile: 'limits',
  isolation: 'restart',
  prefers: { timing: { shutdownTimeoutMs: 6000 } },
} as const satisfies Partial<Check>;

/** The same with a short wait, for checks that send no ack. */
const stoppedSoon = {
  ...stopped,
  prefers: { timing: { shutdownTimeoutMs: 1200, ackTimeoutMs: 300, retryDelayMs: 100 } },
  waits: true,
} as const satisfies Partial<Check>;

export const shutdownChecks: CheckModule = [
  // SHUTDOWN-001 (MUST): On SIGTERM or SIGINT the broker stops accepting connections.
  {
    id: 'SHUTDOWN-001a',
    title: 'accepts no connection while it waits for an ack after SIGTERM',
    clauses: ['SHUTDOWN-001'],
    ...stopped,
    accepts: ['it refuses the TCP connection', 'it closes the connection', 'it answers Connect with Error'],
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      await messageInFlight(ctx);
      await ctx.broker.terminate();
      await waitForShutdown(ctx);
    },
  },
  // SHUTDOWN-002 (MUST): The broker waits up to shutdownTimeout, 30 s by default, for the acks of messages in flight
  // before it closes their connections.
  {
    id: 'SHUTDOWN-002a',
    title: 'keeps the connection of a message in flight open until shutdownTimeout, and no longer',
    clauses: ['SHUTDOWN-002'],
    ...stoppedSoon,
    evidence: { frames: 5, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const { subscriber } = await messageInFlight(ctx);
      const { shutdownTimeoutMs } = ctx.target;
      const stoppedAt = ctx.now();
      await ctx.broker.terminate();
      const { earlyMs, lateMs, closeMs } = ctx.timing;
      await subscriber.closed({ withinMs: shutdownTimeoutMs + lateMs + closeMs });
      const maxMs = shutdownTimeoutMs + lateMs;
      noteIfLate(ctx, { sinceMs: stoppedAt, maxMs, step: 'the end of the connection' });
      ctx.assert.betweenMs(
        ctx.now() - stoppedAt,
        shutdownTimeoutMs - earlyMs,
        shutdownTimeoutMs + lateMs,
        'the time from SIGTERM to the end of the connection',
      );
    },
  },
  // SHUTDOWN-004 (MUST): During a shutdown, the broker sends a Disconnect on each connection whose Connect it has
  // accepted, before it closes that connection.
  {
    id: 'SHUTDOWN-004a',
    title: 'sends a Disconnect with reason server_shutdown to clients with and without messages in flight',
    clauses: ['SHUTDOWN-004', 'SHUTDOWN-013'],
    accepts: ['another header reason, or none, with a warning'],
    ...stoppedSoon,
    evidence: { frames: 7, assertions: 2 },
    run: async (ctx) => {
      const { subscriber, publisher } = await messageInFlight(ctx);
      await ctx.broker.terminate();
      const withinMs = ctx.target.shutdownTimeoutMs + ctx.timing.answerMs;
      for (const client of [publisher, subscriber]) {
        const disconnect = await client.expect('Disconnect', { withinMs });
        ctx.assert.equal(disconnect.commandName, 'Disconnect', 'what the broker sends during its shutdown');
        const reason = disconnect.header('reason');
        const text = 'header reason of Disconnect is server_shutdown';
        ctx.should(reason === 'server_shutdown', 'SHUTDOWN-013', text, { actual: reason });
      }
    },
  },
  // SHUTDOWN-005 (SHOULD): During a shutdown, the broker neither delivers nor retries a message, nor adds a blocked
  // one.
  {
    id: 'SHUTDOWN-005a',
    title: 'neither repeats a delivery nor delivers a message that waits again during its shutdown',
    clauses: ['SHUTDOWN-005'],
    ...stoppedSoon,
    evidence: { frames: 10, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const { subscriber, publisher } = await messageInFlight(ctx);
      const other = await newQueue(ctx, publisher, 'other');
      const leaving = await newSubscriber(ctx, other);
      await publishSeries(ctx, publisher, other, 1);
      await leaving.delivery({ queue: other });
      await subscriber.subscribe(other);
      await ctx.broker.terminate();
      await waitForShutdown(ctx, 'SHUTDOWN-001');
      const before = deliveryCount(subscriber);
      await leaving.abort();
      const withinMs = ctx.target.shutdownTimeoutMs + ctx.timing.closeMs;
      await subscriber.closed({ withinMs, clause: 'SHUTDOWN-002' });
      ctx.assert.equal(deliveryCount(subscriber) - before, 0, 'number of deliveries during the shutdown');
    },
  },
  // SHUTDOWN-005 (SHOULD): During a shutdown, the broker neither delivers nor retries a message, nor adds a blocked
  // one.
  {
    id: 'SHUTDOWN-005b',
    title: 'does not repeat the delivery of a copy of a FanOutWithAck message during its shutdown',
    clauses: ['SHUTDOWN-005'],
    ...stoppedSoon,
    evidence: { frames: 6, messages: 2, assertions: 1 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const queue = await newQueue(ctx, publisher, 'copies', fanOutWithAck);
      const members = [await newSubscriber(ctx, queue), await newSubscriber(ctx, queue)];
      await publishSeries(ctx, publisher, queue, 1);
      for (const member of members) await member.delivery({ queue });
      await ctx.broker.terminate();
      await waitForShutdown(ctx, 'SHUTDOWN-001');
      const count = (): number => members.reduce((sum, member) => sum + deliveryCount(member), 0);
      const before = count();
      const withinMs = ctx.target.shutdownTimeoutMs + ctx.timing.closeMs;
      for (const member of members) await member.closed({ withinMs, clause: 'SHUTDOWN-002' });
      ctx.assert.equal(count() - before, 0, 'number of deliveries during the shutdown');
    },
  },
  // SHUTDOWN-006 (SHOULD): During a shutdown, the broker handles acks and pings.
  {
    id: 'SHUTDOWN-006a',
    title: 'answers a Ping and handles the ack of a message in flight during its shutdown',
    clauses: ['SHUTDOWN-006', 'SHUTDOWN-002'],
    ...stopped,
    evidence: { frames: 6, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const { subscriber, id } = await messageInFlight(ctx);
      await ctx.broker.terminate();
      await waitForShutdown(ctx, 'SHUTDOWN-001');
      await expectOpen(ctx, subscriber);
      await subscriber.ping({ clause: 'SHUTDOWN-006' });
      await subscriber.ack({ id, queue: '' });
      await subscriber.closed({ what: 'the broker closes the connection after the ack' });
    },
  },
  // SHUTDOWN-007 (SHOULD): During a shutdown, the broker answers every command except Ack, Ping and Disconnect by Error
  // SHUTTING_DOWN.
  {
    id: 'SHUTDOWN-007a',
    title: 'answers commands other than Ack and Ping with SHUTTING_DOWN during its shutdown',
    clauses: ['SHUTDOWN-007'],
    ...stopped,
    evidence: { frames: 11, assertions: 6 },
    run: async (ctx) => {
      const { subscriber, queue } = await messageInFlight(ctx);
      await ctx.broker.terminate();
      await waitForShutdown(ctx, 'SHUTDOWN-001');
      await expectOpen(ctx, subscriber, 'SHUTDOWN-002');
      const { Publish, Subscribe, CreateQueue, DeleteQueue, QueueInfo, ListQueues } = Command;
      for (const command of [Publish, Subscribe, CreateQueue, QueueInfo, DeleteQueue, ListQueues]) {
        const name = command === ListQueues ? {} : { queue };
        const options = { clause: 'SHUTDOWN-007' };
        const answer = await subscriber.request({ command, id: ctx.id(), ...name }, options);
        ctx.assert.equal(answer.errorCode, 'SHUTTING_DOWN', `the error code, ${frameText(answer)}`);
      }
    },
  },
  // SHUTDOWN-007 (SHOULD): During a shutdown, the broker answers every command except Ack, Ping and Disconnect by Error
  // SHUTTING_DOWN.
  {
    id: 'SHUTDOWN-007b',
    title: 'answers a blocked Publish with SHUTTING_DOWN at its shutdown',
    clauses: ['SHUTDOWN-007', 'SHUTDOWN-005'],
    ...stopped,
    evidence: { frames: 7, assertions: 2 },
    run: async (ctx) => {
      await messageInFlight(ctx);
      const publisher = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, publisher, 'full', { overflowStrategy: 2, maxQueueSize: 1 });
      await publishSeries(ctx, publisher, queue, 1);
      const id = ctx.id('blocked');
      await publisher.send({ command: Command.Publish, id, queue, payload: '1' });
      await waitUntil(ctx, ctx.now() + ctx.timing.silenceMs);
      const early = publisher.received.find((frame) => frame.id === id);
      const text = 'the Publish is blocked before the shutdown';
      ctx.assert.ok(early === undefined, text, { actual: early && frameText(early), clause: 'OVERFLOW-010' });
      await ctx.broker.terminate();
      const expected = { what: 'the answer to the blocked Publish', clause: 'SHUTDOWN-007' };
      const answer = await publisher.expect((frame) => frame.id === id, expected);
      ctx.assert.equal(answer.errorCode, 'SHUTTING_DOWN', `the error code, ${frameText(answer)}`);
    },
  },
  // HEALTH-017 (SHOULD): GET /ready answers 503, while the broker shuts down.
  {
    id: 'HEALTH-017a',
    title: 'answers GET /ready with 503 while it waits for an ack after SIGTERM',
    clauses: ['HEALTH-017'],
    ...stopped,
    profile: 'observability',
    accepts: ['it has /ready', 'it has no such path (not applicable)'],
    evidence: { frames: 5, responses: 2, assertions: 2 },
    run: async (ctx) => {
      const { subscriber } = await messageInFlight(ctx);
      const before = await ctx.http.get('/ready');
      if (before.status >= 400 && before.status < 500) ctx.notApplicable('the broker has no /ready');
      if (before.status !== 200) ctx.notShown(`/ready answers ${before.status} before the shutdown`);
      await ctx.broker.terminate();
      await waitForShutdown(ctx, 'SHUTDOWN-001');
      const { status } = await ctx.http.get('/ready');
      ctx.assert.equal(status, 503, 'the status of /ready during the shutdown');
      await expectOpen(ctx, subscriber, 'SHUTDOWN-002');
    },
  },
  // SHUTDOWN-008 (SHOULD): During a shutdown, the broker immediately closes connections that have no messages in
  // flight, after the Disconnect that SHUTDOWN-004 requires.
  {
    id: 'SHUTDOWN-008a',
    title: 'closes a connection without messages in flight while it waits for an ack on another one',
    clauses: ['SHUTDOWN-008'],
    ...stopped,
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const { publisher } = await messageInFlight(ctx);
      await ctx.broker.terminate();
      await publisher.closed();
    },
  },
  // SHUTDOWN-008 (SHOULD): During a shutdown, the broker immediately closes connections that have no messages in
  // flight, after the Disconnect that SHUTDOWN-004 requires.
  {
    id: 'SHUTDOWN-008b',
    title: 'closes a connection that has not sent Connect while it waits for an ack on another one',
    clauses: ['SHUTDOWN-008'],
    ...stopped,
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const silent = await ctx.rawConnect();
      const { subscriber } = await messageInFlight(ctx);
      await ctx.broker.terminate();
      await silent.closed({ clause: 'SHUTDOWN-008' });
      await expectOpen(ctx, subscriber, 'SHUTDOWN-002');
    },
  },
  // SHUTDOWN-009 (SHOULD): After a shutdown without a second signal, the process ends with exit code 0.
  {
    id: 'SHUTDOWN-009a',
    title: 'ends with exit code 0 when its last message in flight is acknowledged',
    clauses: ['SHUTDOWN-009', 'SHUTDOWN-012'],
    ...stopped,
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const { subscriber, id } = await messageInFlight(ctx);
      await ctx.broker.terminate();
      await waitForShutdown(ctx, 'SHUTDOWN-001');
      await expectOpen(ctx, subscriber, 'SHUTDOWN-002');
      const ackedAt = ctx.now();
      await subscriber.ack({ id, queue: '' });
      const { shutdownTimeoutMs } = ctx.target;
      const exit = await ctx.broker.exited(shutdownTimeoutMs + ctx.timing.stopMs);
      const durationMs = ctx.now() - ackedAt;
      const text = 'the process ends when no message is in flight, without waiting for shutdownTimeout';
      const detail = {
        expected: 'less than half of shutdownTimeout',
        actual: `${Math.round(durationMs)} ms`,
      };
      ctx.should(durationMs < shutdownTimeoutMs / 2, 'SHUTDOWN-012', text, detail);
      if (exit.code === null && exit.signal === null)
        ctx.notApplicable('the exit of the broker is not known');
      ctx.assert.deepEqual({ code: exit.code, signal: exit.signal }, { code: 0, signal: null }, 'the exit');
    },
  },
  // SHUTDOWN-012 (SHOULD): During a shutdown, the process ends as soon as no message is in flight, without waiting for
  // the rest of shutdownTimeout.
  {
    id: 'SHUTDOWN-012a',
    title: 'does not wait for the ack of a message whose queue was deleted',
    clauses: ['SHUTDOWN-012', 'SHUTDOWN-008'],
    ...stopped,
    evidence: { frames: 6, assertions: 1 },
    run: async (ctx) => {
      const { publisher, subscriber, queue } = await messageInFlight(ctx);
      await publisher.deleteQueue(queue);
      const stoppedAt = ctx.now();
      await ctx.broker.terminate();
      const { shutdownTimeoutMs } = ctx.target;
      await subscriber.closed({ withinMs: shutdownTimeoutMs + ctx.timing.closeMs, clause: 'SHUTDOWN-002' });
      const durationMs = Math.round(ctx.now() - stoppedAt);
      ctx.assert.ok(
        durationMs < shutdownTimeoutMs / 2,
        'the connection is closed without waiting for the ack',
        {
          expected: 'less than half of shutdownTimeout',
          actual: `${durationMs} ms`,
        },
      );
    },
  },
  // SHUTDOWN-010 (SHOULD): A second SIGTERM or SIGINT ends the process immediately.
  {
    id: 'SHUTDOWN-010a',
    title: 'ends at the second SIGTERM, although it waits for an ack',
    clauses: ['SHUTDOWN-010'],
    ...stopped,
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      if (process.platform === 'win32') ctx.notApplicable('Windows has no signal that can be sent twice');
      const { subscriber } = await messageInFlight(ctx);
      await ctx.broker.terminate();
      await waitForShutdown(ctx, 'SHUTDOWN-001');
      await expectOpen(ctx, subscriber, 'SHUTDOWN-002');
      const secondAt = ctx.now();
      await ctx.broker.terminate();
      const { shutdownTimeoutMs } = ctx.target;
      await ctx.broker.exited(shutdownTimeoutMs + ctx.timing.stopMs);
      const durationMs = Math.round(ctx.now() - secondAt);
      ctx.assert.ok(durationMs < shutdownTimeoutMs / 2, 'the process ends at the second SIGTERM', {
        expected: 'less than half of shutdownTimeout',
        actual: `${durationMs} ms`,
      });
    },
  },
  // SHUTDOWN-011 (MUST): At a shutdown, the broker stops accepting connections, then sends each client a Disconnect,
  // then waits for the messages in flight of a connection before it closes that connection, and then releases its
  // resources.
  {
    id: 'SHUTDOWN-011a',
    title: 'sends Disconnect when it accepts no connection any more, and before it waits for acks',
    clauses: ['SHUTDOWN-011'],
    ...stopped,
    evidence: { frames: 6, assertions: 2 },
    run: async (ctx) => {
      const { subscriber } = await messageInFlight(ctx);
      await ctx.broker.terminate();
      await subscriber.expect('Disconnect', { clause: 'SHUTDOWN-011' });
      const actual = await answerToNewConnection(ctx);
      ctx.assert.ok(actual !== 'ConnectAck', 'the broker accepts no connection after it sent Disconnect', {
        actual,
      });
      await expectOpen(ctx, subscriber, 'SHUTDOWN-002');
    },
  },
] satisfies readonly Check[];

/** A subscriber that has one message and has not acknowledged it. The publisher has nothing in flight. */
export async function messageInFlight(ctx: CheckContext) {
  const publisher = await ctx.connect({ own: true });
  const queue = await newQueue(ctx, publisher, 'held');
  const subscriber = await newSubscriber(ctx, queue);
  const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
  await subscriber.delivery({ queue, id });
  return { publisher, subscriber, queue, id };
}

/** Waits until the broker accepts no connection any more. */
async function waitForShutdown(ctx: CheckContext, clause?: string): Promise<void> {
  const isRefused = (answer: string): boolean => answer !== 'ConnectAck';
  const text = 'the broker accepts no connection after SIGTERM';
  await eventually(ctx, () => answerToNewConnection(ctx), isRefused, { text, clause });
}

/** What happens to a new connection that sends Connect. */
async function answerToNewConnection(ctx: CheckContext): Promise<string> {
  const connection = await ctx.tryConnect();
  if (connection === undefined) return 'no TCP connection';
  await connection.send({ command: Command.Connect, id: ctx.id() });
  const answer = await connection.expectOrClosed(() => true, { what: 'the answer to Connect' });
  if (typeof answer === 'string') return 'the connection is closed';
  await connection.abort();
  return answer.commandName;
}

/** Asserts that the broker waits for the ack of the message in flight: the connection is open for some time, not only until it is closed. */
export async function expectOpen(ctx: CheckContext, subscriber: Connection, clause?: string): Promise<void> {
  await waitUntil(ctx, ctx.now() + ctx.timing.silenceMs);
  const { isClosed } = subscriber;
  ctx.assert.ok(!isClosed, 'the connection of a message in flight is open during the shutdown', {
    actual: isClosed ? 'closed' : 'open',
    ...(clause === undefined ? {} : { clause }),
  });
}

function deliveryCount({ received }: Connection): number {
  return received.filter(({ command }) => command === Command.Deliver).length;
}
