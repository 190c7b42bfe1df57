// Checks of limits that need a broker configuration with small values, so that a few frames reach them. Areas: CONN, LIMIT, DELIVERY,
// METRICS, FRAME.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { ConfigurationRequest } from '../configuration.ts';
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import { encodeFrame, frameAround } from '../wire/encode.ts';
import { confirmedCount, isServed, newPublisher, publishes, waitForQuietSecond } from './rate-limits.ts';
import { publishBodyOf } from './shared/bodies.ts';
import { recordAt, waitForRecord } from './shared/http-records.ts';
import { noteIfLate } from './shared/lateness.ts';
import { eventually, messageCountOf, newQueue } from './shared/queue-state.ts';
import {
  deliveredIds,
  type OptionFields,
  otherModes,
  otherModesWithAck,
} from './shared/queue-with-subscribers.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { publishSeries, takeAndAck } from './shared/subscribers.ts';
import { connectAs, connectAsSuperuser, newUser, withUsers } from './shared/users.ts';

const fewConnections = {
  rateLimit: { maxConnectionsPerIpPerWindow: 3, connectionWindowMs: 60_000 },
} as const satisfies ConfigurationRequest;

const fewMessages = {
  rateLimit: { maxMessagesPerClientPerSecond: 5, maxConnectionsPerIpPerWindow: 1000 },
} as const satisfies ConfigurationRequest;

const manyMessages = {
  rateLimit: { maxMessagesPerClientPerSecond: 40, maxConnectionsPerIpPerWindow: 1000 },
} as const satisfies ConfigurationRequest;

const smallWindow = { limits: { maxInFlightPerSubscriber: 3 } } as const satisfies ConfigurationRequest;

const fewAtATime = {
  limits: { maxConnections: 2 },
  rateLimit: { maxConnectionsPerIpPerWindow: 6, connectionWindowMs: 60_000 },
} as const satisfies ConfigurationRequest;

/** More than a broker keeps open at a time to tell them why they are refused. */
const refusedCount = 130;

export const limitChecks: CheckModule = [
  // LIMIT-004 (SHOULD): A Publish that the broker refuses for another reason than the rate counts towards the rate.
  {
    id: 'LIMIT-004b',
    title: 'counts publishes that came before their Connect towards the rate of those behind it',
    clauses: ['LIMIT-004'],
    profile: 'limits',
    requires: { configuration: fewMessages },
    evidence: { frames: 8, assertions: 1 },
    run: async (ctx) => {
      const queue = await newQueue(ctx, await ctx.connect(), 'rate');
      const client = await ctx.rawConnect();
      const { maxMessagesPerClientPerSecond } = fewMessages.rateLimit;
      const early = publishes(ctx, queue, maxMessagesPerClientPerSecond);
      const connect = { command: Command.Connect, id: ctx.id('connect') };
      const valid = { command: Command.Publish, id: ctx.id('valid'), queue, payload: '1' };
      const sinceMs = ctx.now();
      await client.sendTogether([...early, connect, valid]);
      await client.expect({ command: 'ConnectAck', id: connect.id });
      const what = 'the answer to the Publish behind the Connect';
      const answer = await client.expect((frame) => frame.id === valid.id, { what });
      noteIfLate(ctx, { sinceMs, maxMs: 1000, step: 'the answer to the last Publish' });
      ctx.assert.ok(answer.command === Command.Error, 'the broker refuses the Publish behind the Connect', {
        actual: frameText(answer),
      });
    },
  },
  // LIMIT-011 (SHOULD): A connection that the broker rejected does not count towards the limit per address.
  {
    id: 'LIMIT-011b',
    title: 'does not count connections over MaxConnections towards the limit of their address',
    clauses: ['LIMIT-011'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: fewAtATime },
    evidence: { frames: 4, assertions: 8 },
    run: async (ctx) => {
      const [first] = [await ctx.connect({ own: true }), await ctx.connect({ own: true })];
      for (let count = 0; count < 6; count += 1)
        ctx.assert.equal(await isServed(ctx), false, 'a third connection is served', 'LIMIT-012');
      await first.disconnect();
      await first.closed({ clause: 'CONN-024' });
      const what = { text: 'a connection is served after another one has ended' };
      await eventually(
        ctx,
        () => isServed(ctx),
        (served) => served,
        what,
      );
    },
  },
  // LIMIT-023 (SHOULD): Before the broker closes a connection that exceeds MaxConnections, it sends Error
  // CONNECTION_LIMIT.
  {
    id: 'LIMIT-023a',
    title: 'sends CONNECTION_LIMIT to each of 130 connections over MaxConnections, one after the other',
    clauses: ['LIMIT-023', 'LIMIT-012'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: { limits: { maxConnections: 2 } } },
    evidence: { frames: 130, assertions: 130 },
    run: async (ctx) => {
      for (let count = 0; count < 2; count += 1) await ctx.connect({ own: true });
      for (let count = 1; count <= refusedCount; count += 1) {
        const refused = await ctx.tryConnect();
        await refused?.send({ command: Command.Connect, id: ctx.id() });
        const answer = await refused?.expectOrClosed(() => true, {
          what: `the answer to connection ${count}`,
        });
        const code = typeof answer === 'object' ? answer.errorCode : 'none';
        ctx.assert.ok(
          code === 'CONNECTION_LIMIT',
          `connection ${count} over MaxConnections gets CONNECTION_LIMIT`,
          {
            actual: code,
            possibleCauses: ['LIMIT-012'],
          },
        );
        await refused?.closed();
      }
    },
  },
  // CONN-023 (SHOULD): The broker does not count Ack and Ping towards the message rate.
  {
    id: 'CONN-023a',
    title: 'does not count Ping and Ack towards the message rate',
    clauses: ['CONN-023'],
    profile: 'limits',
    requires: { configuration: fewMessages },
    waits: true,
    evidence: { frames: 36, assertions: 2 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const client = await ctx.connect({ own: true });
      const queue = await newQueue(ctx, witness, 'rate');
      await waitForQuietSecond(ctx);
      const ids = Array.from({ length: 30 }, () => ctx.id('ping'));
      await client.sendTogether([
        ...ids.map((id) => ({ command: Command.Ping, id })),
        ...ids.map((id) => ({ command: Command.Ack, id })),
      ]);
      for (const id of ids) await client.expect({ command: 'Pong', id });
      const published = await publishSeries(ctx, client, queue, 5);
      ctx.assert.equal(await messageCountOf(witness, queue), published.length, 'number of waiting messages');
    },
  },
  // LIMIT-007 (SHOULD): In any period of one second, the broker accepts at most 1.1 times MaxMessagesPerClientPerSecond
  // publishes of a client.
  {
    id: 'LIMIT-007b',
    title: 'confirms no more than the rate plus 10 percent of two bursts around the end of a second',
    clauses: ['LIMIT-007', 'LIMIT-001'],
    profile: 'limits',
    requires: { configuration: manyMessages },
    waits: true,
    evidence: { frames: 41, assertions: 1 },
    run: async (ctx) => {
      const rate = manyMessages.rateLimit.maxMessagesPerClientPerSecond;
      const { client, queue } = await newPublisher(ctx, 'bursts');
      await waitForQuietSecond(ctx);
      const startedAt = ctx.now();
      await client.publish(queue, '1');
      // A broker that counts in seconds from the first Publish begins the next one between the two bursts.
      await waitUntil(ctx, startedAt + 900);
      const burstAt = ctx.now();
      const first = await confirmedCount(ctx, client, publishes(ctx, queue, rate));
      await waitUntil(ctx, startedAt + 1100);
      const second = await confirmedCount(ctx, client, publishes(ctx, queue, rate));
      noteIfLate(ctx, { sinceMs: burstAt, maxMs: 1000, step: 'publishing both bursts' });
      ctx.assert.between(first + second, 1, Math.floor(1.1 * rate), 'number of confirmed publishes');
    },
  },
  // LIMIT-001 (MUST): The broker neither stores nor delivers a Publish that exceeds the rate of its client.
  {
    id: 'LIMIT-001a',
    title: 'does not store a Publish that exceeds the rate of its client',
    clauses: ['LIMIT-001', 'PUBLISH-003'],
    profile: 'limits',
    requires: { configuration: fewMessages },
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const witness = await ctx.connect();
      const queue = await newQueue(ctx, witness, 'burst');
      const client = await ctx.connect({ own: true });
      const ids = Array.from({ length: 60 }, () => ctx.id('m'));
      const startedAt = ctx.now();
      await client.sendTogether(ids.map((id) => ({ command: Command.Publish, id, queue, payload: '1' })));
      await client.send({ command: Command.Ping, id: ctx.id('last') });
      // The broker may close the connection instead of answering.
      await client.expectOrClosed('Pong');
      const stored = Number(await messageCountOf(witness, queue));
      const seconds = Math.ceil((ctx.now() - startedAt) / 1000);
      // A new second may begin during the burst, and the unused messages of the previous second may count.
      const maxStored = fewMessages.rateLimit.maxMessagesPerClientPerSecond * (seconds + 2);
      ctx.assert.between(stored, 0, maxStored, 'number of stored messages');
      if (stored === 0) ctx.notShown('the broker stored no Publish within the rate');
      if (client.isClosed) return;
      const confirmed = client.received.filter(({ command }) => command === Command.PublishAck).length;
      ctx.assert.equal(
        confirmed,
        stored,
        'number of confirmed messages, which equals the number of stored messages',
        'PUBLISH-003',
      );
    },
  },
  // DELIVERY-045 (SHOULD): The broker never lets a window exceed maxInFlightPerSubscriber.
  {
    id: 'DELIVERY-045a',
    title: 'keeps at most maxInFlightPerSubscriber messages in flight to a subscriber',
    clauses: ['DELIVERY-045'],
    profile: 'limits',
    requires: { configuration: smallWindow },
    evidence: { frames: 24, messages: 8 },
    run: (ctx) => expectSmallWindow(ctx, 'small-window', {}),
  },
  // DELIVERY-045 (SHOULD): The broker never lets a window exceed maxInFlightPerSubscriber.
  {
    id: 'DELIVERY-045b',
    title:
      'keeps at most maxInFlightPerSubscriber messages of a FanOutWithAck or PriorityBased queue in flight to a subscriber',
    clauses: ['DELIVERY-045'],
    profile: 'limits',
    requires: { configuration: smallWindow },
    evidence: { frames: 44, messages: 16 },
    run: async (ctx) => {
      for (const [name, mode] of Object.entries(otherModesWithAck)) await expectSmallWindow(ctx, name, mode);
    },
  },
  // LIMIT-020 (SHOULD): A client that exceeds its rate does not change the rate of any other client.
  {
    id: 'LIMIT-020b',
    title: 'confirms the publishes of a user on one connection while the user exceeds the rate on another',
    clauses: ['LIMIT-020', 'LIMIT-006'],
    profile: 'limits',
    requires: { configuration: { ...fewMessages, ...withUsers.requires.configuration }, profiles: ['auth'] },
    prefers: withUsers.prefers,
    waits: true,
    evidence: { frames: 66, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'rate');
      const user = await newUser(ctx, admin, 'user', [{ queuePattern: queue, operations: ['Publish'] }]);
      const connections = [await connectAs(ctx, user), await connectAs(ctx, user)] as const;
      await waitForQuietSecond(ctx);
      const max = fewMessages.rateLimit.maxMessagesPerClientPerSecond;
      const [exceeded, confirmed] = [
        await confirmedCount(ctx, connections[0], publishes(ctx, queue, 12 * max)),
        await confirmedCount(ctx, connections[1], publishes(ctx, queue, max)),
      ];
      const what = 'number of confirmed publishes of a client that exceeds its rate';
      ctx.assert.between(exceeded, 0, 12 * max - 1, what, 'LIMIT-001');
      ctx.assert.equal(confirmed, max, 'number of confirmed publishes on the other connection');
    },
  },
  // METRICS-019 (MUST): A broker whose metrics record has total_connections_rejected increases it by one for each
  // connection that it rejects.
  {
    id: 'METRICS-019a',
    title: 'increases total_connections_rejected for each connection over the limit of its address',
    clauses: ['METRICS-019', 'LIMIT-009'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: fewConnections },
    evidence: { frames: 3, responses: 1, assertions: 4 },
    run: async (ctx) => {
      const before = await recordAt(ctx, '/metrics/', [200]);
      for (let count = 0; count < 3; count += 1) await ctx.connect({ own: true });
      for (let count = 0; count < 2; count += 1) {
        const rejected = await ctx.rawConnect();
        await rejected.sendRaw(encodeFrame({ command: Command.Connect, id: ctx.id() }));
        const end = await rejected.expectOrClosed('ConnectAck');
        const actual = typeof end === 'string' ? end : frameText(end);
        ctx.assert.ok(typeof end === 'string', 'the connection is rejected', { actual, clause: 'LIMIT-009' });
      }
      const field = 'total_connections_rejected';
      if (!(field in before)) ctx.notApplicable(`the shorter form of the record has no ${field}`);
      await waitForRecord(ctx, '/metrics/', { [field]: Number(before[field]) + 2 });
    },
  },
  // FRAME-021 (SHOULD): When a queue has a dead letter queue, the broker refuses a Publish to it with
  // MESSAGE_TOO_LARGE, if the message would not fit into a frame with the longer of the two queue names.
  {
    id: 'FRAME-021a',
    title: 'refuses a message that would exceed MaxMessageSize in its dead letter queue',
    clauses: ['FRAME-021'],
    profile: 'delivery',
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'fits-barely', { enableDeadLetterQueue: true });
      const totalBytes = ctx.target.maxMessageSizeBytes;
      await client.sendRaw(frameAround(publishBodyOf({ id: ctx.id('m'), queue, totalBytes })));
      const error = await client.expect('Error');
      ctx.assert.equal(error.errorCode, 'MESSAGE_TOO_LARGE', 'the error code');
      ctx.assert.equal(await messageCountOf(client, queue), 0, 'number of waiting messages');
    },
  },
  // FRAME-021 (SHOULD): When a queue has a dead letter queue, the broker refuses a Publish to it with
  // MESSAGE_TOO_LARGE, if the message would not fit into a frame with the longer of the two queue names.
  {
    id: 'FRAME-021b',
    title: 'refuses a message that would exceed MaxMessageSize in its dead letter queue, in the other modes',
    clauses: ['FRAME-021'],
    profile: 'delivery',
    evidence: { frames: 8, assertions: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModes)) {
        const queue = await newQueue(ctx, client, name, { ...mode, enableDeadLetterQueue: true });
        const totalBytes = ctx.target.maxMessageSizeBytes;
        await client.sendRaw(frameAround(publishBodyOf({ id: ctx.id('m'), queue, totalBytes })));
        const error = await client.expect('Error');
        ctx.assert.equal(error.errorCode, 'MESSAGE_TOO_LARGE', `the error code in a queue that is ${name}`);
        ctx.assert.equal(await messageCountOf(client, queue), 0, 'number of waiting messages');
      }
    },
  },
] satisfies readonly Check[];

/** Asserts that a subscriber that acknowledges without a delay has at most maxInFlightPerSubscriber messages of a queue in flight. */
async function expectSmallWindow(ctx: CheckContext, name: string, mode: OptionFields): Promise<void> {
  const client = await ctx.connect();
  const queue = await newQueue(ctx, client, name, mode);
  await publishSeries(ctx, client, queue, 16);
  await client.subscribe(queue);
  // A broker may enlarge the window at each Ack, at most to the limit.
  const ackedCount = 8;
  await takeAndAck(client, queue, ackedCount);
  const delivered = (): number => deliveredIds(client, queue).length;
  const seen = async (): Promise<number> => Number(await messageCountOf(client, queue)) + delivered();
  await eventually(ctx, seen, (count) => count === 16, {
    text: 'the number of waiting and delivered messages is 16',
    causesOf: () => ['QUEUE-025', 'DELIVERY-002'],
  });
  const largest = smallWindow.limits.maxInFlightPerSubscriber;
  ctx.assert.between(delivered() - ackedCount, 0, largest, `number of messages of ${name} in flight`);
}
