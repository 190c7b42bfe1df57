// Checks of the limits on publishes per second and on connections, in all and for each address. Area: LIMIT.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { ConfigurationRequest } from '../configuration.ts';
import type { Connection } from '../connection.ts';
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import { noteIfLate } from './shared/lateness.ts';
import { eventually, newQueue, waitForInfo } from './shared/queue-state.ts';
import { waitUntil } from './shared/retry-attempts.ts';

const maxPerSecond = 5;

const fewMessages = {
  rateLimit: { maxMessagesPerClientPerSecond: maxPerSecond, maxConnectionsPerIpPerWindow: 1000 },
} as const satisfies ConfigurationRequest;

const maxConnections = 3;
const windowMs = 4000;

const fewConnections = {
  rateLimit: { maxConnectionsPerIpPerWindow: maxConnections, connectionWindowMs: windowMs },
} as const satisfies ConfigurationRequest;

/** The defaults of the specification, which a broker uses when the rate limit is on and names no value. */
const defaults = { connectionsPerAddress: 20, messagesPerSecond: 1000 } as const;

/** Batches of ten that the check of every second sends at least: 40 a second are allowed, so many more are refused. */
const minBatches = 20;
/** Publishes in each of them: twenty batches a second are far more than the rate of that check allows, and so are three. */
const batchSize = 20;
/** The rate of that check and 10 percent. */
const maxConfirmed = 44;
/** For thousands of publishes at once: a busy machine takes longer for them than for one. */
const answersWithinMs = 20_000;

const publishRates: CheckModule = [
  // LIMIT-001 (MUST): The broker neither stores nor delivers a Publish that exceeds the rate of its client.
  {
    id: 'LIMIT-001b',
    title: 'limits the rate of publishes without payload, with headers, and to other queues too',
    clauses: ['LIMIT-001'],
    profile: 'limits',
    requires: { configuration: fewMessages },
    evidence: { frames: 20, assertions: 4 },
    run: async (ctx) => {
      const kinds: readonly (readonly [string, (fields: FrameFields, index: number) => FrameFields])[] = [
        ['without payload', ({ payload: _payload, ...fields }) => fields],
        ['with an empty text', (fields) => ({ ...fields, payload: '""' })],
        ['with headers', (fields) => ({ ...fields, headers: { priority: '2', label: 'x' } })],
        ['to another queue each', (fields, index) => ({ ...fields, queue: `${fields.queue}-${index}` })],
      ];
      for (const [kind, change] of kinds) {
        const { client, queue } = await newPublisher(ctx, kind);
        const count = 12 * maxPerSecond;
        const confirmed = await confirmedCount(ctx, client, publishes(ctx, queue, count).map(change));
        ctx.assert.between(confirmed, 0, count - 1, `number of confirmed publishes ${kind}`);
      }
    },
  },
  // LIMIT-002 (SHOULD): The broker answers a Publish that exceeds the rate by Error RATE_LIMITED with the id of the
  // Publish.
  {
    id: 'LIMIT-002a',
    title: 'answers a Publish over the rate with RATE_LIMITED and its id, and keeps the connection open',
    clauses: ['LIMIT-002', 'LIMIT-003'],
    profile: 'limits',
    requires: { configuration: fewMessages },
    evidence: { frames: 60, assertions: 2 },
    run: async (ctx) => {
      const { client, queue } = await newPublisher(ctx);
      const frames = publishes(ctx, queue, 60);
      await client.sendTogether([...frames, { command: Command.Ping, id: ctx.id('ping') }]);
      const answers: ReceivedFrame[] = [];
      for (const { id } of frames) {
        const answer = await client.expectOrClosed((frame) => frame.id === id, {
          what: `the answer to Publish ${id}`,
          clause: 'LIMIT-002',
        });
        if (typeof answer === 'string') break;
        answers.push(answer);
      }
      const refused = answers.filter(({ command }) => command !== Command.PublishAck);
      // A broker that closes the connection instead answers none of the others.
      const isEachConfirmed = answers.length === frames.length && refused.length === 0;
      const text = 'publishes over the rate are not confirmed';
      const actual = `${answers.length - refused.length} of ${frames.length} confirmed`;
      ctx.assert.ok(!isEachConfirmed, text, { actual, clause: 'LIMIT-001' });
      const codes = [...new Set(refused.map(({ errorCode }) => errorCode))];
      ctx.assert.deepEqual(
        codes,
        ['RATE_LIMITED'],
        'the error codes of the publishes that are not confirmed',
      );
      const isOpen = typeof (await client.expectOrClosed('Pong', { clause: 'LIMIT-003' })) !== 'string';
      ctx.assert.ok(isOpen, 'the connection stays open after RATE_LIMITED', {
        actual: 'closed',
        clause: 'LIMIT-003',
      });
    },
  },
  // LIMIT-004 (SHOULD): A Publish that the broker refuses for another reason than the rate counts towards the rate.
  {
    id: 'LIMIT-004a',
    title: 'refuses a valid Publish after as many refused ones as the rate allows',
    clauses: ['LIMIT-004'],
    profile: 'limits',
    requires: { configuration: fewMessages },
    evidence: { frames: 7, assertions: 1 },
    run: async (ctx) => {
      const { client, queue } = await newPublisher(ctx);
      const valid = { command: Command.Publish, id: ctx.id('valid'), queue, payload: '1' };
      await client.sendTogether([...publishes(ctx, '', maxPerSecond), valid]);
      const answer = await client.expect((frame) => frame.id === valid.id, {
        what: 'the answer to the valid Publish',
        clause: 'LIMIT-004',
      });
      ctx.assert.ok(answer.command === Command.Error, 'the broker refuses the valid Publish', {
        actual: frameText(answer),
      });
    },
  },
  // LIMIT-005 (MAY): The broker does not count commands other than Publish towards the rate.
  {
    id: 'LIMIT-005a',
    title: 'confirms a Publish after more other commands than the rate allows',
    clauses: ['LIMIT-005'],
    profile: 'limits',
    requires: { configuration: fewMessages },
    evidence: { frames: 13, assertions: 2 },
    run: async (ctx) => {
      const { client, queue } = await newPublisher(ctx);
      const commands = Array.from({ length: 2 * maxPerSecond }, () => ({
        command: Command.QueueInfo,
        id: ctx.id('info'),
        queue,
      }));
      const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' };
      await client.sendTogether([...commands, publish]);
      const answer = await client.expect((frame) => frame.id === publish.id, {
        what: 'the answer to the Publish',
        clause: 'LIMIT-005',
      });
      ctx.assert.ok(answer.command === Command.PublishAck, 'the broker confirms the Publish', {
        actual: frameText(answer),
      });
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 1 });
    },
  },
  // LIMIT-006 (SHOULD): After a second without publishes, the broker accepts MaxMessagesPerClientPerSecond publishes
  // that a client sends together.
  {
    id: 'LIMIT-006a',
    title: 'confirms as many publishes at once as the rate allows, after a second without publishes',
    clauses: ['LIMIT-006'],
    profile: 'limits',
    requires: { configuration: fewMessages },
    waits: true,
    evidence: { frames: 13, assertions: 2 },
    run: async (ctx) => {
      const { client, queue } = await newPublisher(ctx);
      await expectExceeded(ctx, client, queue);
      // The broker may have closed the connection.
      const again = client.isClosed ? await ctx.connect({ own: true }) : client;
      await waitForQuietSecond(ctx);
      const confirmed = await confirmedCount(ctx, again, publishes(ctx, queue, maxPerSecond));
      ctx.assert.equal(confirmed, maxPerSecond, 'number of confirmed publishes after a second without any');
    },
  },
  // LIMIT-007 (SHOULD): In any period of one second, the broker accepts at most 1.1 times MaxMessagesPerClientPerSecond
  // publishes of a client.
  {
    id: 'LIMIT-007a',
    title: 'confirms in no period of one second more than the rate plus 10 percent',
    clauses: ['LIMIT-007', 'LIMIT-001'],
    profile: 'limits',
    requires: {
      configuration: {
        rateLimit: { maxMessagesPerClientPerSecond: 40, maxConnectionsPerIpPerWindow: 1000 },
      },
    },
    waits: true,
    evidence: { frames: 200, assertions: 20 },
    run: async (ctx) => {
      const { client, queue } = await newPublisher(ctx);
      const batches: Batch[] = [];
      const until = ctx.now() + 2200;
      // A busy machine takes longer for as many.
      while ((ctx.now() < until || batches.length < minBatches) && !client.isClosed) {
        const sentAt = ctx.now();
        const confirmed = await confirmedCount(ctx, client, publishes(ctx, queue, batchSize));
        batches.push({ sentAt, answeredAt: ctx.now(), confirmed });
        await waitUntil(ctx, sentAt + 50);
      }
      // The broker handled a batch between its sending and its last answer.
      const seconds = batches.map((first) =>
        batches.filter(
          ({ sentAt, answeredAt }) => sentAt >= first.sentAt && answeredAt - first.sentAt < 1000,
        ),
      );
      for (const inOneSecond of seconds) {
        const sum = inOneSecond.reduce((total, { confirmed }) => total + confirmed, 0);
        ctx.assert.between(sum, 0, maxConfirmed, 'number of confirmed publishes in one second');
      }
      if (seconds.some((inOneSecond) => inOneSecond.length * batchSize > maxConfirmed)) return;
      const reason = 'in no second were more publishes answered than the rate allows';
      ctx.noteLateness(reason);
      ctx.notShown(reason);
    },
  },
  // LIMIT-020 (SHOULD): A client that exceeds its rate does not change the rate of any other client.
  {
    id: 'LIMIT-020a',
    title: 'confirms the publishes of a client while another client exceeds its rate',
    clauses: ['LIMIT-020', 'LIMIT-006'],
    profile: 'limits',
    requires: { configuration: fewMessages },
    waits: true,
    evidence: { frames: 66, assertions: 1 },
    run: async (ctx) => {
      const { client, queue } = await newPublisher(ctx);
      const other = await ctx.connect({ own: true });
      await waitForQuietSecond(ctx);
      await expectExceeded(ctx, client, queue);
      const confirmed = await confirmedCount(ctx, other, publishes(ctx, queue, maxPerSecond));
      ctx.assert.equal(confirmed, maxPerSecond, 'number of confirmed publishes of the other client');
    },
  },
] satisfies readonly Check[];

const connectionCounts: CheckModule = [
  // LIMIT-009 (MUST): The broker closes each connection that exceeds MaxConnectionsPerIpPerWindow for its address, and
  // does not accept a Connect on it.
  {
    id: 'LIMIT-009a',
    title: 'closes each of forty connections over the limit of their address, and serves those within it',
    clauses: ['LIMIT-009'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: fewConnections },
    evidence: { frames: 2 * maxConnections, assertions: maxConnections + 1 },
    run: async (ctx) => {
      const startedAt = ctx.now();
      const clients: Connection[] = [];
      for (let count = 0; count < maxConnections; count += 1) clients.push(await ctx.connect({ own: true }));
      const attempts = await Promise.all(Array.from({ length: 40 }, () => ctx.tryConnect()));
      const accepted = attempts.filter((connection) => connection !== undefined);
      for (const connection of accepted) await connection.send({ command: Command.Connect, id: ctx.id() });
      for (const connection of accepted) await connection.closed({ clause: 'LIMIT-009' });
      const served = accepted.filter(({ received }) =>
        received.some(({ command }) => command === Command.ConnectAck),
      );
      noteEndOfWindow(ctx, startedAt);
      ctx.assert.equal(served.length, 0, 'number of connections over the limit that are served');
      for (const client of clients) {
        const { commandName } = await client.ping();
        ctx.assert.equal(commandName, 'Pong', 'the answer to a Ping within the limit');
      }
    },
  },
  // LIMIT-024 (SHOULD): The broker closes a connection that exceeds the limit per address immediately, before the
  // client has sent a frame.
  {
    id: 'LIMIT-024a',
    title: 'closes a connection over the limit of its address before the connection has sent anything',
    clauses: ['LIMIT-024'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: fewConnections },
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const startedAt = ctx.now();
      for (let count = 0; count < maxConnections; count += 1) await ctx.connect({ own: true });
      await (await ctx.tryConnect())?.closed({ clause: 'LIMIT-024' });
      const isAnotherServed = await isServed(ctx);
      noteEndOfWindow(ctx, startedAt);
      ctx.assert.equal(isAnotherServed, false, 'a later connection is served');
    },
  },
  // LIMIT-011 (SHOULD): A connection that the broker rejected does not count towards the limit per address.
  {
    id: 'LIMIT-011a',
    title: 'serves connections of an address again after the window, when it rejected others meanwhile',
    clauses: ['LIMIT-011'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: fewConnections },
    waits: true,
    evidence: { frames: 6, assertions: 4 },
    run: async (ctx) => {
      const startedAt = ctx.now();
      for (let count = 0; count < maxConnections; count += 1) await ctx.connect({ own: true });
      const endsAt = ctx.now() + windowMs;
      // In the second half of the window, so that they would still count after it.
      await waitUntil(ctx, endsAt - windowMs / 2);
      for (let count = 0; count < maxConnections; count += 1) await isServed(ctx);
      const isAnotherServed = await isServed(ctx);
      noteEndOfWindow(ctx, startedAt);
      ctx.assert.equal(isAnotherServed, false, 'a connection over the limit is served', 'LIMIT-009');
      await waitUntil(ctx, endsAt + ctx.timing.earlyMs);
      for (let count = 0; count < maxConnections; count += 1)
        ctx.assert.equal(await isServed(ctx), true, 'a connection within the limit is served');
    },
  },
  // LIMIT-012 (MUST): When MaxConnections connections are open, the broker closes each further connection and does not
  // accept a Connect on it.
  {
    id: 'LIMIT-012a',
    title: 'closes a connection over MaxConnections, with CONNECTION_LIMIT, until another one has ended',
    clauses: ['LIMIT-012', 'LIMIT-023'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: { limits: { maxConnections } } },
    accepts: [
      'the Error comes before the connection has sent anything',
      'the Error answers its Connect',
      'the connection is refused or closed without an Error, with a warning',
    ],
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const [first] = [await ctx.connect({ own: true })];
      for (let count = 1; count < maxConnections; count += 1) await ctx.connect({ own: true });
      const received = await sentToRejected(ctx);
      const isAccepted = received.some(({ command }) => command === Command.ConnectAck);
      ctx.assert.ok(!isAccepted, 'a Connect over MaxConnections is not accepted', { actual: 'ConnectAck' });
      const code = received.find(({ command }) => command === Command.Error)?.errorCode;
      const text = 'a connection over MaxConnections gets Error CONNECTION_LIMIT';
      ctx.should(code === 'CONNECTION_LIMIT', 'LIMIT-023', text, { actual: code });
      await first.disconnect();
      await first.closed({ clause: 'CONN-024' });
      await eventually(
        ctx,
        () => isServed(ctx),
        (served) => served,
        {
          text: 'a connection is served after another one has ended',
        },
      );
    },
  },
  // LIMIT-012 (MUST): When MaxConnections connections are open, the broker closes each further connection and does not
  // accept a Connect on it.
  {
    id: 'LIMIT-012b',
    title: 'counts connections towards MaxConnections that have sent nothing',
    clauses: ['LIMIT-012'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: { limits: { maxConnections } } },
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      for (let count = 1; count < maxConnections; count += 1) await ctx.rawConnect();
      // Its answer shows that the broker has seen those that were opened before.
      await client.ping();
      const received = await sentToRejected(ctx);
      const isAccepted = received.some(({ command }) => command === Command.ConnectAck);
      ctx.assert.ok(!isAccepted, 'a Connect over MaxConnections is not accepted', { actual: 'ConnectAck' });
    },
  },
  // LIMIT-019 (MUST): Rate limiting is on by default, with 20 connections per address in 60 s and 1000 messages per
  // client and second.
  {
    id: 'LIMIT-019a',
    title:
      'serves 20 connections of an address and rejects a later one, when the rate limit has its defaults',
    clauses: ['LIMIT-019', 'LIMIT-009'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: { rateLimit: {} } },
    evidence: { frames: 20, assertions: 21 },
    run: async (ctx) => {
      const { connectionsPerAddress } = defaults;
      for (let count = 1; count <= connectionsPerAddress; count += 1)
        ctx.assert.equal(await isServed(ctx), true, `connection ${count} of the address is served`);
      // A new window may begin meanwhile, so that as many again may be served.
      let furtherCount = 0;
      while (furtherCount <= connectionsPerAddress && (await isServed(ctx))) furtherCount += 1;
      ctx.assert.between(
        furtherCount,
        0,
        connectionsPerAddress,
        'number of further connections that are served',
      );
    },
  },
  // LIMIT-019 (MUST): Rate limiting is on by default, with 20 connections per address in 60 s and 1000 messages per
  // client and second.
  {
    id: 'LIMIT-019b',
    title: 'confirms about 1000 publishes of a client in a second, when the rate limit has its defaults',
    clauses: ['LIMIT-019', 'LIMIT-001', 'LIMIT-006'],
    profile: 'limits',
    isolation: 'fresh',
    requires: { configuration: { rateLimit: {} } },
    waits: true,
    evidence: { frames: 1000, assertions: 2 },
    run: async (ctx) => {
      const { messagesPerSecond } = defaults;
      const { client, queue } = await newPublisher(ctx);
      await waitForQuietSecond(ctx);
      const startedAt = ctx.now();
      const count = 5 * messagesPerSecond;
      const confirmed = await confirmedCount(ctx, client, publishes(ctx, queue, count));
      const seconds = Math.ceil((ctx.now() - startedAt) / 1000);
      // A new second may begin during the burst, and the unused messages of the previous second may count.
      ctx.assert.between(confirmed, 1, messagesPerSecond * (seconds + 2), 'number of confirmed publishes');
      // On a busy machine a broker without the limit takes as long for all of them; one that reads no faster than the rate takes longer.
      if (confirmed === count && seconds < 4) {
        const reason = `all ${count} publishes took so long that the rate may have allowed them`;
        ctx.noteLateness(reason);
        ctx.notShown(reason);
      }
      ctx.should(confirmed >= messagesPerSecond, 'LIMIT-006', 'the rate allows a burst of 1000 publishes', {
        actual: confirmed,
      });
    },
  },
] satisfies readonly Check[];

export const rateLimitChecks: CheckModule = [...publishRates, ...connectionCounts];

type Batch = { readonly sentAt: number; readonly answeredAt: number; readonly confirmed: number };

/** A client that has published nothing, and a queue for its messages. */
export async function newPublisher(
  ctx: CheckContext,
  name = 'rate',
): Promise<{ readonly client: Connection; readonly queue: string }> {
  const client = await ctx.connect({ own: true });
  // By another client: a broker may count all commands.
  return { client, queue: await newQueue(ctx, await ctx.connect(), name.replaceAll(' ', '-')) };
}

/** After it, nothing that a client has sent counts towards its rate, also where the broker counts all commands, such as Connect. */
export async function waitForQuietSecond(ctx: CheckContext): Promise<void> {
  await waitUntil(ctx, ctx.now() + 1000 + ctx.timing.earlyMs);
}

export function publishes(ctx: CheckContext, queue: string, count: number): readonly FrameFields[] {
  const ids = Array.from({ length: count }, () => ctx.id('m'));
  return ids.map((id) => ({ command: Command.Publish, id, queue, payload: '1' }));
}

/** Sends all in one write and waits for their answers, or for the end of the connection. Returns the number of PublishAcks. */
export async function confirmedCount(ctx: CheckContext, client: Connection, frames: readonly FrameFields[]) {
  const ping = { command: Command.Ping, id: ctx.id('ping') };
  await client.sendTogether([...frames, ping]);
  // Most answers have arrived before the Pong.
  await client.expectOrClosed({ command: 'Pong', id: ping.id }, { withinMs: answersWithinMs });
  const answered = new Set(client.received.map(({ id }) => id));
  for (const { id } of frames.filter((frame) => !answered.has(frame.id)))
    await client.expectOrClosed((frame) => frame.id === id, { what: `the answer to Publish ${id}` });
  const ids = new Set(frames.map(({ id }) => id));
  return client.received.filter(({ command, id }) => command === Command.PublishAck && ids.has(id)).length;
}

/** Publishes more than the rate allows, and asserts that the broker does not confirm all of it. */
async function expectExceeded(ctx: CheckContext, client: Connection, queue: string): Promise<void> {
  const count = 12 * maxPerSecond;
  const confirmed = await confirmedCount(ctx, client, publishes(ctx, queue, count));
  const what = 'number of confirmed publishes of a client that exceeds its rate';
  ctx.assert.between(confirmed, 0, count - 1, what, 'LIMIT-001');
}

/** Everything that the broker sends to a connection over MaxConnections until it closes it. Fails if it does not. */
async function sentToRejected(ctx: CheckContext): Promise<readonly ReceivedFrame[]> {
  const rejected = await ctx.tryConnect();
  if (rejected === undefined) return [];
  const unasked = 'a connection that has not sent Connect gets no ConnectAck';
  await rejected.expectSilence('ConnectAck', ctx.timing.silenceMs, unasked);
  if (!rejected.isClosed && rejected.received.length === 0)
    await rejected.send({ command: Command.Connect, id: ctx.id() });
  await rejected.closed();
  return rejected.received;
}

/** On a busy machine the window may have ended, so that the broker counts the first connections no longer. */
function noteEndOfWindow(ctx: CheckContext, startedAt: number): void {
  noteIfLate(ctx, { sinceMs: startedAt, maxMs: windowMs, step: 'opening the connections' });
}

/** Opens a connection and sends Connect. False when the broker refuses or closes the connection. */
export async function isServed(ctx: CheckContext): Promise<boolean> {
  const connection = await ctx.tryConnect();
  if (connection === undefined) return false;
  await connection.send({ command: Command.Connect, id: ctx.id() });
  const answer = await connection.expectOrClosed(() => true, { what: 'the answer to Connect' });
  return typeof answer !== 'string' && answer.command === Command.ConnectAck;
}
