// Checks of the admin commands: users, passwords and access lists. Area: AUTH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { display, ExpectationFailure } from '../expectation.ts';
import { frameText } from '../trace.ts';
import type { AdminCommandName } from '../wire/command.ts';
import { Command } from '../wire/command.ts';
import type { FrameFields } from '../wire/frame.ts';
import { newQueue } from './shared/queue-state.ts';
import { expectRefused, expectRefusedWith } from './shared/refusals.ts';
import type { JsonRecord } from './shared/required-fields.ts';
import type { Entry, User } from './shared/users.ts';
import {
  connectAs,
  connectAsSuperuser,
  credentialsOf,
  expectAccepted,
  expectConnectRefused,
  grant,
  newUser,
  operations,
  superuser,
  userNamed,
  withUsers,
} from './shared/users.ts';

const userCommands: CheckModule = [
  // AUTH-035 (MUST): AdminCreateUser creates a user that can connect, and answers with its username.
  {
    id: 'AUTH-035a',
    title: 'creates a user that can connect, and answers with its username',
    clauses: ['AUTH-035'],
    ...withUsers,
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = userNamed(ctx, 'new');
      const { username } = user;
      await expectAnswer(ctx, admin, { name: 'AdminCreateUser', payload: user, answer: { username } });
      await expectAccepted(ctx, credentialsOf(user), { what: 'the new user', clause: 'AUTH-035' });
    },
  },
  // AUTH-036 (MUST): AdminDeleteUser deletes the user and answers with its username.
  {
    id: 'AUTH-036a',
    title: 'deletes a user, which cannot connect any more, and answers with its username',
    clauses: ['AUTH-036'],
    ...withUsers,
    evidence: { frames: 5, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'deleted');
      await connectAs(ctx, user);
      const { username } = user;
      await expectAnswer(ctx, admin, {
        name: 'AdminDeleteUser',
        payload: { username },
        answer: { username },
      });
      await expectConnectRefused(ctx, credentialsOf(user), { what: 'the deleted user', clause: 'AUTH-036' });
      const names = (await usersOf(admin)).map((listed) => listed['username']);
      ctx.assert.equal(names.includes(username), false, 'the list of users contains the deleted one');
    },
  },
  // AUTH-037 (MUST): AdminChangePassword sets the new password, makes the old one invalid, and answers with the
  // username.
  {
    id: 'AUTH-037a',
    title: 'sets the new password of a user, makes the old one invalid, and answers with the username',
    clauses: ['AUTH-037'],
    ...withUsers,
    evidence: { frames: 5, assertions: 4 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'user');
      await expectPasswordChanged(ctx, admin, user, 'AUTH-037');
    },
  },
  // AUTH-038 (MUST): The broker lets a user without superuser rights change its own password.
  {
    id: 'AUTH-038a',
    title: 'lets a user without rights change its own password',
    clauses: ['AUTH-038', 'AUTH-037'],
    ...withUsers,
    evidence: { frames: 6, assertions: 4 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'user');
      await expectPasswordChanged(ctx, await connectAs(ctx, user), user, 'AUTH-038');
    },
  },
  // AUTH-041 (MUST): The broker answers AdminListUsers with an array that has one object for each user, with username,
  // isSuperuser and createdAt in Unix seconds.
  {
    id: 'AUTH-041a',
    title: 'lists each user once, with username, isSuperuser and createdAt in Unix seconds',
    clauses: ['AUTH-041'],
    ...withUsers,
    evidence: { frames: 3, assertions: 6 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const before = Math.floor(Date.now() / 1000) - clockToleranceS;
      const { username } = await newUser(ctx, admin, 'user');
      const users = await usersOf(admin);
      for (const [name, isSuperuser] of [
        [superuser.username, true],
        [username, false],
      ] as const) {
        const [listed, ...more] = users.filter((one) => one['username'] === name);
        ctx.assert.equal(more.length, 0, `further objects for user ${name}`);
        ctx.assert.equal(listed?.['isSuperuser'], isSuperuser, `isSuperuser of ${name}`);
      }
      const created = users.find((one) => one['username'] === username)?.['createdAt'];
      ctx.assert.equal(Number.isInteger(created), true, `createdAt is a whole number (${created})`);
      const after = Math.ceil(Date.now() / 1000) + clockToleranceS;
      ctx.assert.between(Number(created), before, after, 'createdAt of the new user, in Unix seconds');
    },
  },
  // AUTH-048 (SHOULD): The broker answers an AdminCreateUser for an existing user by Error USER_EXISTS.
  {
    id: 'AUTH-048a',
    title: 'answers an AdminCreateUser for an existing user with USER_EXISTS',
    clauses: ['AUTH-048'],
    ...withUsers,
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'user');
      const again = { ...user, password: 'another password' };
      const expected = { what: 'the user exists', code: 'USER_EXISTS' };
      await expectRefusedWith(ctx, admin, commandOf(ctx, 'AdminCreateUser', again), expected);
      await expectAccepted(ctx, credentialsOf(user), { what: 'the first password', clause: 'AUTH-048' });
    },
  },
  // AUTH-049 (SHOULD): The broker answers an admin command about an unknown user by Error USER_NOT_FOUND, except
  // AdminGetUserPermissions (AUTH-044).
  {
    id: 'AUTH-049a',
    title: 'answers admin commands about an unknown user with USER_NOT_FOUND',
    clauses: ['AUTH-049'],
    ...withUsers,
    evidence: { frames: 8, assertions: 8 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const { username } = userNamed(ctx, 'unknown');
      const queuePattern = '*';
      for (const [name, payload] of [
        ['AdminDeleteUser', { username }],
        ['AdminChangePassword', { username, newPassword: 'new' }],
        ['AdminGrantPermission', { username, queuePattern, operations: ['Publish'] }],
        ['AdminRevokePermission', { username, queuePattern }],
      ] as const) {
        const expected = { what: `${name} names an unknown user`, code: 'USER_NOT_FOUND' };
        await expectRefusedWith(ctx, admin, commandOf(ctx, name, payload), expected);
      }
    },
  },
  // AUTH-050 (SHOULD): The broker answers an AdminDeleteUser for a superuser by Error FORBIDDEN.
  {
    id: 'AUTH-050a',
    title: 'refuses to delete the superuser, with FORBIDDEN',
    clauses: ['AUTH-050'],
    ...withUsers,
    // A broker that deletes it must not harm other checks.
    isolation: 'fresh',
    evidence: { frames: 3, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const { username } = superuser;
      const expected = { what: 'it would delete a superuser', code: 'FORBIDDEN' };
      await expectRefusedWith(ctx, admin, commandOf(ctx, 'AdminDeleteUser', { username }), expected);
      await expectAccepted(ctx, credentialsOf(superuser), { what: 'the superuser', clause: 'AUTH-050' });
    },
  },
  // AUTH-051 (MUST): The broker accepts every password of 1 to 72 bytes.
  {
    id: 'AUTH-051a',
    title: 'accepts passwords of 1 and of 72 bytes, and those with any characters',
    clauses: ['AUTH-051'],
    ...withUsers,
    evidence: { frames: 10, assertions: 5 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const passwords = ['x', 'a'.repeat(72), `${'é€'.repeat(14)}é`, ' ":\\\t{}', '\u{1f511}'.repeat(18)];
      for (const [index, password] of passwords.entries()) {
        const user = { ...userNamed(ctx, `user-${index}`), password };
        const created = await admin.request(commandOf(ctx, 'AdminCreateUser', user), { clause: 'AUTH-051' });
        ctx.assert.equal(
          created.commandName,
          'AdminCreateUser',
          `the answer with a password of ${lengthOf(password)}`,
        );
        const what = `a password of ${lengthOf(password)}`;
        await expectAccepted(ctx, credentialsOf(user), { what, clause: 'AUTH-051' });
      }
    },
  },
  // AUTH-052 (SHOULD): The broker refuses an empty password and a password over 72 bytes with INVALID_PAYLOAD.
  {
    id: 'AUTH-052a',
    title: 'refuses an empty password and one of 73 bytes with INVALID_PAYLOAD',
    clauses: ['AUTH-052'],
    ...withUsers,
    evidence: { frames: 8, assertions: 8 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const { username } = await newUser(ctx, admin, 'user');
      for (const password of ['', 'a'.repeat(73), `${'é'.repeat(36)}a`]) {
        const expected = { what: `the password has ${lengthOf(password)}`, code: 'INVALID_PAYLOAD' };
        const created = { ...userNamed(ctx, `user-${password.length}`), password };
        await expectRefusedWith(ctx, admin, commandOf(ctx, 'AdminCreateUser', created), expected);
        const changed = { username, newPassword: password };
        await expectRefusedWith(ctx, admin, commandOf(ctx, 'AdminChangePassword', changed), expected);
      }
    },
  },
  // AUTH-053 (MUST): The broker accepts a user name of 1 to 64 characters, each of which queue names may contain.
  {
    id: 'AUTH-053a',
    title: 'accepts user names of 1 and of 64 characters, and each kind of character of queue names',
    clauses: ['AUTH-053'],
    ...withUsers,
    // Such short names cannot be unique.
    isolation: 'fresh',
    evidence: { frames: 10, assertions: 10 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      for (const username of ['x', 'n'.repeat(64), 'a-b_c.9', 'Ünïcode', 'пользователь', '利用者']) {
        const user = { username, password: 'password' };
        const answer = await admin.request(commandOf(ctx, 'AdminCreateUser', user), { clause: 'AUTH-053' });
        ctx.assert.equal(answer.commandName, 'AdminCreateUser', `the answer for user name ${username}`);
        await expectAccepted(ctx, credentialsOf(user), { what: `user name ${username}`, clause: 'AUTH-053' });
      }
    },
  },
] satisfies readonly Check[];

/** The clocks of the runner and of the broker may differ a little. */
const clockToleranceS = 5;

const permissionCommands: CheckModule = [
  // AUTH-024 (MUST): AdminGrantPermission for a pattern that the user has replaces the operations of that entry.
  {
    id: 'AUTH-024a',
    title: 'replaces the operations of an entry that is granted again',
    clauses: ['AUTH-024'],
    ...withUsers,
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queuePattern = ctx.queue('orders');
      const user = await newUser(ctx, admin, 'user', [
        { queuePattern, operations: ['Publish', 'Subscribe'] },
      ]);
      const replaced: Entry = { queuePattern, operations: ['GetQueueInfo'] };
      await grant(admin, user, replaced);
      ctx.assert.deepEqual(
        await permissionsOf(admin, user),
        [replaced],
        'the access list after the second grant',
      );
    },
  },
  // AUTH-025 (MUST): The broker answers an AdminRevokePermission positively when the user has no entry with that
  // pattern.
  {
    id: 'AUTH-025a',
    title: 'answers an AdminRevokePermission positively when the user has no such entry',
    clauses: ['AUTH-025'],
    ...withUsers,
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const kept: Entry = { queuePattern: ctx.queue('kept'), operations: ['Publish'] };
      const user = await newUser(ctx, admin, 'user', [kept]);
      const payload = { username: user.username, queuePattern: ctx.queue('never-granted') };
      const answer = await admin.request(commandOf(ctx, 'AdminRevokePermission', payload), {
        clause: 'AUTH-025',
      });
      ctx.assert.equal(answer.commandName, 'AdminRevokePermission', 'the answer');
      ctx.assert.deepEqual(await permissionsOf(admin, user), [kept], 'the access list afterwards');
    },
  },
  // AUTH-039 (MUST): AdminGrantPermission gives the operations on the pattern and answers with username, queuePattern
  // and operations.
  {
    id: 'AUTH-039a',
    title: 'gives the operations on a pattern, and answers with username, queuePattern and operations',
    clauses: ['AUTH-039'],
    ...withUsers,
    evidence: { frames: 6, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const user = await newUser(ctx, admin, 'user');
      const entry = { username: user.username, queuePattern: queue, operations: ['Publish', 'GetQueueInfo'] };
      await expectAnswer(ctx, admin, { name: 'AdminGrantPermission', payload: entry, answer: entry });
      const client = await connectAs(ctx, user);
      const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' };
      const answer = await client.request(publish, { clause: 'AUTH-039' });
      ctx.assert.equal(answer.commandName, 'PublishAck', 'the answer to a Publish that was granted');
    },
  },
  // AUTH-040 (MUST): AdminRevokePermission removes the entry of the pattern and answers with username and queuePattern.
  {
    id: 'AUTH-040a',
    title: 'removes the entry of a pattern, and answers with username and queuePattern',
    clauses: ['AUTH-040'],
    ...withUsers,
    evidence: { frames: 6, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const kept: Entry = { queuePattern: ctx.queue('kept'), operations: ['Publish'] };
      const user = await newUser(ctx, admin, 'user', [
        { queuePattern: queue, operations: ['Publish'] },
        kept,
      ]);
      const payload = { username: user.username, queuePattern: queue };
      await expectAnswer(ctx, admin, { name: 'AdminRevokePermission', payload, answer: payload });
      ctx.assert.deepEqual(await permissionsOf(admin, user), [kept], 'the access list afterwards');
      const client = await connectAs(ctx, user);
      const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' };
      await expectRefused(ctx, client, publish, 'the right was revoked');
    },
  },
  // AUTH-042 (MUST): The broker answers AdminGetUserPermissions with an array that has one object for each entry of the
  // access list, with queuePattern and operations.
  {
    id: 'AUTH-042a',
    title: 'answers AdminGetUserPermissions with one object for each entry',
    clauses: ['AUTH-042'],
    ...withUsers,
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const entries: readonly Entry[] = [
        { queuePattern: ctx.queue('orders.*'), operations: ['Publish'] },
        { queuePattern: '*', operations: ['ListQueues', 'Subscribe'] },
      ];
      const user = await newUser(ctx, admin, 'with-entries', entries);
      ctx.assert.deepEqual(
        await permissionsOf(admin, user),
        sortedEntries(entries),
        'the entries of the user',
      );
      const other = await newUser(ctx, admin, 'without-entries');
      ctx.assert.deepEqual(await permissionsOf(admin, other), [], 'the entries of a user without any');
    },
  },
  // AUTH-043 (MUST): The broker lets a user without superuser rights ask for its own permissions.
  {
    id: 'AUTH-043a',
    title: 'lets a user without superuser rights ask for its own permissions',
    clauses: ['AUTH-043'],
    ...withUsers,
    evidence: { frames: 4, assertions: 1 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const entry: Entry = { queuePattern: ctx.queue('orders'), operations: ['Publish'] };
      const user = await newUser(ctx, admin, 'user', [entry]);
      const { username } = user;
      const client = await connectAs(ctx, user);
      const answer = await client.request(commandOf(ctx, 'AdminGetUserPermissions', { username }), {
        clause: 'AUTH-043',
      });
      ctx.assert.equal(answer.commandName, 'AdminGetUserPermissions', 'the answer');
      ctx.assert.deepEqual(answer.json(), [entry], 'the permissions of the user');
    },
  },
  // AUTH-044 (SHOULD): The broker answers an AdminGetUserPermissions for an unknown user with an empty array.
  {
    id: 'AUTH-044a',
    title: 'answers an AdminGetUserPermissions for an unknown user with an empty array',
    clauses: ['AUTH-044'],
    ...withUsers,
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const { username } = userNamed(ctx, 'unknown');
      const answer = await admin.request(commandOf(ctx, 'AdminGetUserPermissions', { username }), {
        clause: 'AUTH-044',
      });
      ctx.assert.equal(answer.commandName, 'AdminGetUserPermissions', 'the answer');
      ctx.assert.deepEqual(answer.json(), [], 'the permissions of an unknown user');
    },
  },
  // AUTH-045 (MUST): The broker carries out an admin command for superusers only, except what AUTH-038 and AUTH-043
  // allow.
  {
    id: 'AUTH-045a',
    title: 'carries out no admin command of a user without superuser rights, except about itself',
    clauses: ['AUTH-045'],
    ...withUsers,
    evidence: { frames: 12, assertions: 12 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'user', [{ queuePattern: '*', operations }]);
      const other = await newUser(ctx, admin, 'other', [{ queuePattern: '*', operations: ['Publish'] }]);
      const before = await permissionsOf(admin, other);
      const created = userNamed(ctx, 'created');
      const { username } = other;
      const client = await connectAs(ctx, user);
      for (const [name, payload] of [
        ['AdminCreateUser', created],
        ['AdminChangePassword', { username, newPassword: 'new' }],
        ['AdminGrantPermission', { username, queuePattern: '*', operations: ['Subscribe'] }],
        ['AdminRevokePermission', { username, queuePattern: '*' }],
        [
          'AdminGrantPermission',
          { username: user.username, queuePattern: 'mine', operations: ['Subscribe'] },
        ],
        ['AdminListUsers', undefined],
        ['AdminGetUserPermissions', { username }],
        ['AdminDeleteUser', { username }],
      ] as const)
        await expectRefused(ctx, client, commandOf(ctx, name, payload), `${name} needs a superuser`);
      await expectAccepted(ctx, credentialsOf(other), { what: 'the other user', clause: 'AUTH-045' });
      ctx.assert.deepEqual(await permissionsOf(admin, other), before, 'the access list of the other user');
      const names = (await usersOf(admin)).map((listed) => listed['username']);
      ctx.assert.equal(names.includes(created.username), false, 'a user that must not be created exists');
    },
  },
  // AUTH-046 (SHOULD): The broker answers an admin command by Error UNKNOWN_COMMAND, when authorization is off.
  {
    id: 'AUTH-046a',
    title: 'answers an admin command with UNKNOWN_COMMAND or another Error, when authorization is off',
    clauses: ['AUTH-046'],
    profile: 'auth',
    accepts: ['Error UNKNOWN_COMMAND', 'another Error'],
    evidence: { frames: 2, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect({ own: true });
      const answer = await client.request(commandOf(ctx, 'AdminListUsers', undefined), {
        clause: 'AUTH-046',
      });
      ctx.assert.ok(answer.command === Command.Error, 'the broker answers by Error', {
        actual: frameText(answer),
      });
    },
  },
  // AUTH-047 (SHOULD): The broker answers an admin command with a missing or invalid payload by Error INVALID_PAYLOAD.
  {
    id: 'AUTH-047a',
    title: 'answers an admin command with a missing or invalid payload with INVALID_PAYLOAD',
    clauses: ['AUTH-047'],
    ...withUsers,
    evidence: { frames: 20, assertions: 20 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const { username } = await newUser(ctx, admin, 'user');
      const password = 'password';
      for (const [name, payload] of [
        ['AdminCreateUser', undefined],
        ['AdminCreateUser', '{"username":'],
        ['AdminCreateUser', JSON.stringify([ctx.queue('in-a-list'), password])],
        ['AdminCreateUser', JSON.stringify({ password })],
        ['AdminCreateUser', JSON.stringify({ username: ctx.queue('without-password') })],
        ['AdminCreateUser', JSON.stringify({ username: 5, password })],
        ['AdminCreateUser', JSON.stringify({ username: '', password })],
        ['AdminDeleteUser', '{}'],
        ['AdminChangePassword', JSON.stringify({ username })],
        ['AdminGrantPermission', JSON.stringify({ username, queuePattern: '*' })],
        ['AdminGrantPermission', JSON.stringify({ username, operations: ['Publish'] })],
        ['AdminGrantPermission', JSON.stringify({ username, queuePattern: '*', operations: 'Publish' })],
        ['AdminGrantPermission', JSON.stringify({ username, queuePattern: '*', operations: ['Shout'] })],
        ['AdminRevokePermission', JSON.stringify({ username })],
        ['AdminGetUserPermissions', undefined],
      ] as const) {
        const fields = {
          command: Command[name],
          id: ctx.id(),
          ...(payload === undefined ? {} : { payload }),
        };
        const what = `the payload of ${name} is ${payload ?? 'missing'}`;
        await expectRefusedWith(ctx, admin, fields, { what, code: 'INVALID_PAYLOAD' });
      }
      ctx.assert.deepEqual(await permissionsOf(admin, { username }), [], 'the access list of the user');
    },
  },
] satisfies readonly Check[];

export const userAdministrationChecks: CheckModule = [...userCommands, ...permissionCommands];

function commandOf(ctx: CheckContext, name: AdminCommandName, payload: object | undefined): FrameFields {
  const content = payload === undefined ? {} : { payload: JSON.stringify(payload) };
  return { command: Command[name], id: ctx.id(), ...content };
}

/** Sends an admin command, and asserts that the positive answer contains these values. */
async function expectAnswer(
  ctx: CheckContext,
  admin: Connection,
  exchange: { readonly name: AdminCommandName; readonly payload: object; readonly answer: JsonRecord },
): Promise<void> {
  const { name, payload, answer: expected } = exchange;
  const answer = await admin.request(commandOf(ctx, name, payload));
  ctx.assert.equal(answer.commandName, name, `the answer to ${name}`);
  const content = answer.json() as JsonRecord | undefined;
  const shown = Object.fromEntries(Object.keys(expected).map((field) => [field, content?.[field]]));
  ctx.assert.deepEqual(shown, expected, `the payload of the answer to ${name}`);
}

async function expectPasswordChanged(
  ctx: CheckContext,
  connection: Connection,
  user: User,
  clause: string,
): Promise<void> {
  const { username } = user;
  const newPassword = 'the new password';
  const command = commandOf(ctx, 'AdminChangePassword', { username, newPassword });
  const answer = await connection.request(command, { clause });
  ctx.assert.equal(answer.commandName, 'AdminChangePassword', 'the answer to AdminChangePassword', clause);
  ctx.assert.equal(
    (answer.json() as JsonRecord | undefined)?.['username'],
    username,
    'the username of the answer',
    'AUTH-037',
  );
  await expectAccepted(ctx, credentialsOf({ username, password: newPassword }), {
    what: 'the new password',
    clause,
  });
  await expectConnectRefused(ctx, credentialsOf(user), { what: 'the old password', clause: 'AUTH-037' });
}

async function usersOf(admin: Connection): Promise<readonly JsonRecord[]> {
  return listIn(await admin.admin('AdminListUsers'), 'AUTH-041');
}

/** The entries in an order that does not depend on the broker's. */
async function permissionsOf(
  admin: Connection,
  { username }: Pick<User, 'username'>,
): Promise<readonly Entry[]> {
  const answer = await admin.admin('AdminGetUserPermissions', { username });
  return sortedEntries(listIn(answer, 'AUTH-042') as unknown as readonly Entry[]);
}

/** The objects of an answer that must be an array of objects. */
function listIn(answer: unknown, clause: string): readonly JsonRecord[] {
  const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
  if (Array.isArray(answer) && answer.every(isObject)) return answer;
  throw new ExpectationFailure('the answer is an array of objects', {
    expected: 'an array of objects',
    actual: display(answer),
    reliesOn: clause,
  });
}

function sortedEntries(entries: readonly Entry[]): readonly Entry[] {
  const sorted = entries.map(({ queuePattern, operations: names }) => ({
    queuePattern,
    operations: Array.isArray(names) ? [...names].sort() : names,
  }));
  return sorted.sort((a, b) => (a.queuePattern < b.queuePattern ? -1 : 1));
}

function lengthOf(password: string): string {
  return `${Buffer.byteLength(password)} bytes`;
}
