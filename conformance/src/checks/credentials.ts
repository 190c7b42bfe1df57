// Checks of a Connect with credentials: a token, users, or both. Area: AUTH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { Credentials } from '../wire/credentials.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { adminCommand, usersOf } from './shared/admin-commands.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { expectRefused } from './shared/refusals.ts';
import {
  closed,
  connectAsSuperuser,
  credentialsOf,
  expectAccepted,
  expectConnectRefused,
  nameOf,
  newUser,
  nextAnswerToConnect,
  superuser,
  token,
  userNamed,
  withToken,
  withTokenAndUsers,
  withUsers,
} from './shared/users.ts';

/** Other tokens: each differs in one way only. */
const wrongTokens = [
  ['another token', 'fedcba9876543210fedcba9876543210'],
  ['the first half of the token', token.slice(0, 16)],
  ['a text that begins with the token', `${token}0`],
  ['the token in upper case', token.toUpperCase()],
] as const;

/** A shorter password check is not seen beside the time of a frame. */
const visibleMs = 10;
const burst = 8;
/** A broker that checks passwords in its event loop answers at most one ping after each. */
const minPongs = 1.5 * burst;
/** A machine without a free core may leave a right broker too few pings in one burst; a broker that blocks is over `minPongs` in none. */
const maxBursts = 4;
/** More than wait and run on a machine with many cores. */
const flood = 200;
const maxWaiting = 32;
/** A busy machine makes the checks of a burst longer than one alone. */
const certainty = 2;

const tokenChecks: CheckModule = [
  // AUTH-001 (MUST): When a token is configured, the broker accepts a Connect whose header authToken equals it.
  {
    id: 'AUTH-001a',
    title: 'accepts a Connect with the configured token, and carries out its commands',
    clauses: ['AUTH-001'],
    ...withToken,
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await expectAccepted(
        ctx,
        { authToken: token },
        { what: 'the token', clause: 'AUTH-001' },
      );
      const queue = await newQueue(ctx, client, 'token');
      await client.publish(queue, '1');
    },
  },
  // AUTH-002 (MUST): When a token is configured, the broker answers a Connect with another token by Error and sends no
  // ConnectAck.
  {
    id: 'AUTH-002a',
    title: 'refuses a Connect with another token, however similar it is',
    clauses: ['AUTH-002'],
    ...withToken,
    evidence: { frames: 4, assertions: 8 },
    run: async (ctx) => {
      for (const [what, authToken] of wrongTokens)
        await expectConnectRefused(ctx, { authToken }, { what, clause: 'AUTH-002' });
    },
  },
  // AUTH-003 (SHOULD): The broker answers a Connect that lacks the required credentials by Error AUTH_REQUIRED.
  {
    id: 'AUTH-003a',
    title: 'answers a Connect without the configured token with AUTH_REQUIRED',
    clauses: ['AUTH-003'],
    ...withToken,
    evidence: { frames: 1, assertions: 2 },
    run: async (ctx) => {
      const what = { what: 'no credentials', clause: 'AUTH-003' };
      const error = await expectConnectRefused(ctx, {}, what);
      ctx.assert.equal(error.errorCode, 'AUTH_REQUIRED', 'the error code');
    },
  },
  // AUTH-004 (SHOULD): The broker answers a Connect with wrong credentials by Error AUTH_FAILED.
  {
    id: 'AUTH-004a',
    title: 'answers a Connect with another token with AUTH_FAILED',
    clauses: ['AUTH-004'],
    ...withToken,
    evidence: { frames: 1, assertions: 2 },
    run: async (ctx) => {
      const [[what, authToken]] = wrongTokens;
      const error = await expectConnectRefused(ctx, { authToken }, { what, clause: 'AUTH-002' });
      ctx.assert.equal(error.errorCode, 'AUTH_FAILED', 'the error code');
    },
  },
  // AUTH-007 (MUST): The broker accepts or refuses a Connect without regard to credentials of a kind that is not
  // configured.
  {
    id: 'AUTH-007b',
    title: 'decides by the token alone, whatever user a Connect names, when only a token is configured',
    clauses: ['AUTH-007'],
    ...withToken,
    evidence: { frames: 2, assertions: 3 },
    run: async (ctx) => {
      const user = credentialsOf({ username: 'nobody', password: 'a password that nobody configured' });
      const clause = 'AUTH-007';
      await expectAccepted(ctx, { authToken: token, ...user }, { what: 'the token and a user', clause });
      await expectConnectRefused(ctx, user, { what: 'a user and no token', clause });
    },
  },
  // AUTH-008 (SHOULD): After the broker answers a Connect by AUTH_REQUIRED or AUTH_FAILED, it keeps the connection open
  // for another Connect.
  {
    id: 'AUTH-008a',
    title: 'accepts the token on a connection after a Connect without it and one with another',
    clauses: ['AUTH-008'],
    ...withToken,
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      for (const headers of [{}, { authToken: 'another' }]) {
        const answer = await nextAnswerToConnect(ctx, connection, headers, 'AUTH-008');
        ctx.assert.notEqual(nameOf(answer), closed, 'the connection after a refused Connect');
        ctx.assert.equal(nameOf(answer), 'Error', 'the answer to a Connect without the token', 'AUTH-002');
      }
      await expectLaterConnectAccepted(ctx, connection);
    },
  },
  // AUTH-008 (SHOULD): After the broker answers a Connect by AUTH_REQUIRED or AUTH_FAILED, it keeps the connection open
  // for another Connect.
  {
    id: 'AUTH-008b',
    title: 'keeps a connection open after a refused Connect, also when it refused other commands before',
    clauses: ['AUTH-008', 'CONN-003'],
    ...withToken,
    evidence: { frames: 4, assertions: 4 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      for (const what of ['the first command before Connect', 'the second one']) {
        await connection.send({ command: Command.ListQueues, id: ctx.id() });
        const about = { what: `the answer to ${what}`, clause: 'CONN-002' };
        const answer = await connection.expectOrClosed(() => true, about);
        ctx.assert.notEqual(nameOf(answer), closed, `the connection after ${what}`, 'CONN-003');
      }
      const refused = await nextAnswerToConnect(ctx, connection, { authToken: 'another' }, 'AUTH-008');
      ctx.assert.equal(nameOf(refused), 'Error', 'the answer to a Connect with another token', 'AUTH-002');
      await expectLaterConnectAccepted(ctx, connection);
    },
  },
  // AUTH-009 (SHOULD): After the broker answers the third Connect of a connection by AUTH_REQUIRED or AUTH_FAILED, it
  // closes the connection.
  {
    id: 'AUTH-009a',
    title: 'closes a connection after its third refused Connect',
    clauses: ['AUTH-009', 'AUTH-008'],
    ...withToken,
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const connection = await ctx.rawConnect();
      for (const count of [1, 2, 3]) {
        const answer = await nextAnswerToConnect(ctx, connection, { authToken: 'another' }, 'AUTH-008');
        const what = `the connection before its refused Connect ${count}`;
        ctx.assert.notEqual(nameOf(answer), closed, what, 'AUTH-008');
        ctx.assert.equal(nameOf(answer), 'Error', 'the answer to a Connect with another token', 'AUTH-002');
      }
      await connection.closed({ clause: 'AUTH-009' });
    },
  },
] satisfies readonly Check[];

/** On a connection on which a Connect was refused. */
async function expectLaterConnectAccepted(ctx: CheckContext, connection: Connection): Promise<void> {
  const answer = await nextAnswerToConnect(ctx, connection, { authToken: token }, 'AUTH-008');
  ctx.assert.ok(nameOf(answer) === 'ConnectAck', 'the broker accepts a later Connect with the token', {
    expected: 'ConnectAck',
    actual: nameOf(answer),
    possibleCauses: ['AUTH-001'],
  });
}

const userChecks: CheckModule = [
  // AUTH-003 (SHOULD): The broker answers a Connect that lacks the required credentials by Error AUTH_REQUIRED.
  {
    id: 'AUTH-003b',
    title: 'answers a Connect without a user with AUTH_REQUIRED, when authorization is on',
    clauses: ['AUTH-003'],
    ...withUsers,
    evidence: { frames: 1, assertions: 2 },
    run: async (ctx) => {
      const error = await expectConnectRefused(ctx, {}, { what: 'no credentials', clause: 'AUTH-003' });
      ctx.assert.equal(error.errorCode, 'AUTH_REQUIRED', 'the error code');
    },
  },
  // AUTH-004 (SHOULD): The broker answers a Connect with wrong credentials by Error AUTH_FAILED.
  {
    id: 'AUTH-004b',
    title: 'answers a Connect with an unknown user, and one with a wrong password, with AUTH_FAILED',
    clauses: ['AUTH-004'],
    ...withUsers,
    evidence: { frames: 2, assertions: 4 },
    run: async (ctx) => {
      const unknown = userNamed(ctx, 'unknown');
      for (const user of [unknown, { ...superuser, password: 'wrong' }]) {
        const what = `user ${user.username} and a wrong password`;
        const error = await expectConnectRefused(ctx, credentialsOf(user), { what, clause: 'AUTH-006' });
        ctx.assert.equal(error.errorCode, 'AUTH_FAILED', `the error code for ${what}`);
      }
    },
  },
  // AUTH-005 (MUST): When authorization is on, the broker accepts a Connect whose headers authUsername and authPassword
  // name a user and its password.
  {
    id: 'AUTH-005a',
    title: 'accepts a Connect of the superuser and of a new user',
    clauses: ['AUTH-005'],
    ...withUsers,
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const clause = 'AUTH-005';
      const admin = await expectAccepted(ctx, credentialsOf(superuser), { what: 'the superuser', clause });
      const user = await newUser(ctx, admin, 'new');
      await expectAccepted(ctx, credentialsOf(user), { what: 'a new user', clause });
    },
  },
  // AUTH-006 (MUST): When authorization is on, the broker answers a Connect with an unknown user or a wrong password by
  // Error and sends no ConnectAck.
  {
    id: 'AUTH-006a',
    title: 'refuses a Connect with an unknown user, or with a password that is not exactly that of the user',
    clauses: ['AUTH-006'],
    ...withUsers,
    evidence: { frames: 7, assertions: 10 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'user');
      const { username, password } = user;
      const wrong = [
        ['an unknown user', { ...user, username: `${username}x` }],
        ['a password of another user', { username, password: superuser.password }],
        ['a longer password', { username, password: `${password}x` }],
        ['a shorter password', { username, password: password.slice(0, -1) }],
        ['a password in upper case', { username, password: password.toUpperCase() }],
      ] as const;
      for (const [what, other] of wrong)
        await expectConnectRefused(ctx, credentialsOf(other), { what, clause: 'AUTH-006' });
    },
  },
  // AUTH-007 (MUST): The broker accepts or refuses a Connect without regard to credentials of a kind that is not
  // configured.
  {
    id: 'AUTH-007c',
    title: 'decides by the user alone, whatever token a Connect carries, when only users are configured',
    clauses: ['AUTH-007'],
    ...withUsers,
    evidence: { frames: 2, assertions: 3 },
    run: async (ctx) => {
      const clause = 'AUTH-007';
      const both = { authToken: token, ...credentialsOf(superuser) };
      await expectAccepted(ctx, both, { what: 'the superuser and a token', clause });
      await expectConnectRefused(ctx, { authToken: token }, { what: 'a token and no user', clause });
    },
  },
  // AUTH-054 (SHOULD): The broker never writes a secret to logs, errors, traces or printed configuration.
  {
    id: 'AUTH-054a',
    title: 'sends no password and no token in the Errors that refuse them',
    clauses: ['AUTH-054'],
    ...withTokenAndUsers,
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const secret = `${ctx.id('secret')}-${'s'.repeat(72)}`;
      for (const [headers, clause] of [
        [{ authToken: secret }, 'AUTH-002'],
        [credentialsOf({ ...superuser, password: secret }), 'AUTH-006'],
      ] as const) {
        const error = await expectConnectRefused(ctx, headers, { what: 'a wrong secret', clause });
        expectNoSecret(ctx, error, secret);
      }
      const user = { ...userNamed(ctx, 'user'), password: secret };
      const command = { command: Command.AdminCreateUser, id: ctx.id(), payload: JSON.stringify(user) };
      expectNoSecret(ctx, await admin.request(command, { clause: 'AUTH-052' }), secret);
    },
  },
  // AUTH-012 (SHOULD): The broker checks passwords outside the event loop, so that it serves other connections
  // meanwhile.
  {
    id: 'AUTH-012a',
    title: 'answers a Ping while it checks passwords of other connections',
    clauses: ['AUTH-012'],
    ...withUsers,
    // A check of a password must take noticeable time.
    prefers: { authentication: { passwordCost: 10 } },
    isolation: 'fresh',
    accepts: [
      'many pings are answered during the password checks',
      'password checks are too short to see it (not applicable)',
    ],
    evidence: { frames: 8, assertions: 1 },
    run: async (ctx) => {
      const client = await connectAsSuperuser(ctx);
      const wrong = credentialsOf({ ...superuser, password: 'wrong' });
      const durations = await durationsAlone(ctx, wrong);
      if (Math.min(...durations) < visibleMs) ctx.notApplicable('a password check takes no noticeable time');
      const limitMs = burst * Math.max(...durations);
      let pongCount = 0;
      for (let count = 0; count < maxBursts && pongCount < minPongs; count += 1)
        pongCount = await pongsDuringBurst(ctx, client, wrong, limitMs);
      const what = `number of pings answered one after the other, while the broker checked ${burst} passwords`;
      ctx.assert.between(pongCount, minPongs, Number.POSITIVE_INFINITY, what);
    },
  },
  // AUTH-015 (SHOULD): The broker answers a Connect by Error RATE_LIMITED and closes the connection, when more password
  // checks would wait than AUTH-013 allows.
  {
    id: 'AUTH-015a',
    title:
      'refuses a Connect with RATE_LIMITED and closes the connection, when too many password checks wait',
    clauses: ['AUTH-015', 'AUTH-013'],
    ...withUsers,
    prefers: { authentication: { passwordCost: 10 } },
    isolation: 'fresh',
    waits: true,
    accepts: [
      'some Connects are answered by RATE_LIMITED, and their connections closed',
      'no more than 32 password checks wait at any time (not applicable)',
    ],
    evidence: { frames: flood, assertions: 2 },
    run: async (ctx) => {
      await connectAsSuperuser(ctx);
      const wrong = credentialsOf({ ...superuser, password: 'wrong' });
      // On a busy machine most of them take longer than one check.
      const oneMs = Math.min(...(await durationsAlone(ctx, wrong, 12)));
      const others = await openConnections(ctx, flood);
      const startedAt = ctx.now();
      await Promise.all(others.map((other) => sendConnect(ctx, other, wrong)));
      const refusals = await refusalsOf(ctx, others, oneMs * flood);
      const limited = others.filter((_, index) => refusals[index]?.errorCode === 'RATE_LIMITED');
      if (limited.length === 0) {
        const lastMs = Math.max(...refusals.map(({ atMs }) => atMs)) - startedAt;
        // The machine may have been busier before: they are measured on both sides of the flood.
        const shortestMs = Math.min(oneMs, ...(await durationsAlone(ctx, wrong, 12)));
        // Checks that run in parallel are as long as one alone, or longer: so many have waited at least.
        const waitedCount = Math.floor(lastMs / shortestMs / certainty);
        ctx.assert.between(waitedCount, 0, maxWaiting, 'number of password checks that waited', 'AUTH-013');
        ctx.notApplicable('fewer password checks waited than the limit allows');
      }
      for (const other of limited) await other.closed({ clause: 'AUTH-015' });
      ctx.assert.between(limited.length, 1, flood, 'number of Connects answered by RATE_LIMITED');
    },
  },
] satisfies readonly Check[];

const tokenAndUserChecks: CheckModule = [
  // AUTH-031 (MAY): When a token and users are configured, the broker treats a Connect with authUsername and
  // authPassword as a Connect of that user.
  {
    id: 'AUTH-031a',
    title: 'gives a Connect with token, user and password the rights of the user',
    clauses: ['AUTH-031'],
    ...withTokenAndUsers,
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const user = await newUser(ctx, admin, 'without-rights');
      const client = await ctx.connect({ headers: { authToken: token, ...credentialsOf(user) } });
      const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' };
      await expectRefused(ctx, client, publish, 'the user has no rights', ['AUTH-016', 'AUTH-022']);
      ctx.assert.equal(await messageCountOf(admin, queue), 0, 'messageCount of the queue');
    },
  },
  // AUTH-032 (MAY): When a token and users are configured, the broker gives a Connect with the token alone all rights
  // on queues.
  {
    id: 'AUTH-032a',
    title: 'lets a Connect with the token alone use every queue, when users are configured too',
    clauses: ['AUTH-032'],
    ...withTokenAndUsers,
    evidence: { frames: 6, messages: 1, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ headers: { authToken: token } });
      const queue = ctx.queue('orders');
      const clause = 'AUTH-032';
      const commands = [Command.CreateQueue, Command.QueueInfo, Command.Subscribe, Command.Publish];
      for (const command of commands) {
        const answer = await client.request(
          { command, id: ctx.id('m'), queue, ...contentOf(command) },
          { clause },
        );
        ctx.assert.notEqual(answer.commandName, 'Error', `the answer to command ${command}`);
      }
      await client.delivery({ queue });
    },
  },
  // AUTH-033 (MAY): When a token and users are configured, the broker gives a Connect with the token alone no admin
  // rights.
  {
    id: 'AUTH-033a',
    title: 'refuses admin commands of a Connect with the token alone',
    clauses: ['AUTH-033'],
    ...withTokenAndUsers,
    evidence: { frames: 4, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ headers: { authToken: token } });
      const user = userNamed(ctx, 'created');
      await expectRefused(
        ctx,
        client,
        adminCommand(ctx, 'AdminCreateUser', user),
        'a token alone gives no admin rights',
      );
      const names = (await usersOf(await connectAsSuperuser(ctx))).map((listed) => listed['username']);
      ctx.assert.equal(names.includes(user.username), false, 'a user that must not be created exists');
    },
  },
] satisfies readonly Check[];

export const credentialChecks: CheckModule = [...tokenChecks, ...userChecks, ...tokenAndUserChecks];

function contentOf(command: number): { readonly payload?: string } {
  return command === Command.Publish ? { payload: '1' } : {};
}

function openConnections(ctx: CheckContext, count: number): Promise<readonly Connection[]> {
  return Promise.all(Array.from({ length: count }, () => ctx.rawConnect()));
}

/** The number of pings that are answered one after the other, while the broker refuses a burst of Connects with a wrong password. */
async function pongsDuringBurst(
  ctx: CheckContext,
  client: Connection,
  wrong: Credentials,
  limitMs: number,
): Promise<number> {
  const others = await openConnections(ctx, burst);
  await Promise.all(others.map((other) => sendConnect(ctx, other, wrong)));
  let isOver = false;
  const over = refusalsOf(ctx, others, limitMs).finally(() => {
    isOver = true;
  });
  // It is awaited below, after pings that may fail first.
  over.catch(() => {});
  let pongCount = 0;
  for (; !isOver; pongCount += 1) await client.ping({ clause: 'AUTH-012' });
  await over;
  return pongCount;
}

/** The times from a Connect to its refusal, while nothing else happens. */
async function durationsAlone(ctx: CheckContext, wrong: Credentials, count = 3): Promise<readonly number[]> {
  const durations: number[] = [];
  // Each is opened in its turn: on a busy machine the last of them would wait longer than a broker waits for its Connect.
  while (durations.length < count) {
    const connection = await ctx.rawConnect();
    const startedAt = ctx.now();
    const answer = await nextAnswerToConnect(ctx, connection, wrong, 'AUTH-006');
    ctx.assert.equal(nameOf(answer), 'Error', 'the answer to a Connect with a wrong password', 'AUTH-006');
    durations.push(ctx.now() - startedAt);
  }
  return durations;
}

function expectNoSecret(ctx: CheckContext, answer: ReceivedFrame, secret: string): void {
  const text = `${answer.errorMessage ?? ''}${answer.text()}`;
  ctx.assert.equal(text.includes(secret), false, `the ${answer.commandName} contains the secret`);
}

function sendConnect(ctx: CheckContext, connection: Connection, headers: Credentials): Promise<void> {
  return connection.send({ command: Command.Connect, id: ctx.id(), headers });
}

/** The Errors that answer the Connects of these connections. */
function refusalsOf(
  ctx: CheckContext,
  connections: readonly Connection[],
  workMs = 0,
): Promise<readonly ReceivedFrame[]> {
  const refusal = (connection: Connection): Promise<ReceivedFrame> =>
    connection.expect('Error', { withinMs: ctx.timing.passwordMs + workMs });
  return Promise.all(connections.map(refusal));
}
