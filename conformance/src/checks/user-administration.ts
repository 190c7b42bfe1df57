// Checks of the admin commands for users and their passwords. Area: AUTH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { adminCommand, expectAnswer, usersOf } from './shared/admin-commands.ts';
import { expectRefusedWith } from './shared/refusals.ts';
import type { JsonRecord } from './shared/required-fields.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import type { User } from './shared/users.ts';
import {
  connectAs,
  connectAsSuperuser,
  credentialsOf,
  expectAccepted,
  expectConnectRefused,
  grant,
  newUser,
  superuser,
  userNamed,
  withUsers,
} from './shared/users.ts';

export const userAdministrationChecks: CheckModule = [
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
    id: 'AUTH-041b',
    title: 'lists each of twelve new users once',
    clauses: ['AUTH-041'],
    ...withUsers,
    evidence: { frames: 14, assertions: 1 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const created: string[] = [];
      for (let count = 0; count < 12; count += 1)
        created.push((await newUser(ctx, admin, `user-${count}`)).username);
      const listed = (await usersOf(admin)).map((user) => String(user['username']));
      const own = listed.filter((name) => created.includes(name));
      ctx.assert.deepEqual([...own].sort(), [...created].sort(), 'the listed users of this check');
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
  // AUTH-041 (MUST): The broker answers AdminListUsers with an array that has one object for each user, with username,
  // isSuperuser and createdAt in Unix seconds.
  {
    id: 'AUTH-041c',
    title: 'lists the same createdAt of a user after a change of its password and its rights',
    clauses: ['AUTH-041'],
    ...withUsers,
    waits: true,
    evidence: { frames: 6, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'user');
      const { username } = user;
      const createdAt = async (): Promise<unknown> =>
        (await usersOf(admin)).find((one) => one['username'] === username)?.['createdAt'];
      const before = await createdAt();
      ctx.assert.equal(typeof before, 'number', 'the type of createdAt of the new user');
      // In the next second a time of the change is another one than that of the creation.
      await waitUntil(ctx, ctx.now() + 1100);
      await admin.admin('AdminChangePassword', { username, newPassword: 'the new password' });
      await grant(admin, user, { queuePattern: '*', operations: ['Publish'] });
      ctx.assert.equal(await createdAt(), before, 'createdAt of the user after the changes');
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
      await expectRefusedWith(ctx, admin, adminCommand(ctx, 'AdminCreateUser', again), expected);
      await expectAccepted(ctx, credentialsOf(user), { what: 'the first password', clause: 'AUTH-048' });
    },
  },
  // AUTH-048 (SHOULD): The broker answers an AdminCreateUser for an existing user by Error USER_EXISTS.
  {
    id: 'AUTH-048b',
    title:
      'creates a user for one of two AdminCreateUser that come together, and answers the other with USER_EXISTS',
    clauses: ['AUTH-048'],
    ...withUsers,
    evidence: { frames: 12, assertions: 5 },
    run: async (ctx) => {
      const admins = [await connectAsSuperuser(ctx), await connectAsSuperuser(ctx)];
      for (let round = 1; round <= 5; round += 1) {
        const user = userNamed(ctx, `user-${round}`);
        const answers = await Promise.all(
          admins.map((admin) =>
            admin.request(adminCommand(ctx, 'AdminCreateUser', user), { withinMs: ctx.timing.passwordMs }),
          ),
        );
        const names = answers
          .map(({ commandName, errorCode }) => (errorCode === '' ? commandName : errorCode))
          .sort();
        ctx.assert.deepEqual(names, ['AdminCreateUser', 'USER_EXISTS'], `the answers in round ${round}`);
      }
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
        await expectRefusedWith(ctx, admin, adminCommand(ctx, name, payload), expected);
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
      await expectRefusedWith(ctx, admin, adminCommand(ctx, 'AdminDeleteUser', { username }), expected);
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
        const created = await admin.request(adminCommand(ctx, 'AdminCreateUser', user), {
          clause: 'AUTH-051',
        });
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
        await expectRefusedWith(ctx, admin, adminCommand(ctx, 'AdminCreateUser', created), expected);
        const changed = { username, newPassword: password };
        await expectRefusedWith(ctx, admin, adminCommand(ctx, 'AdminChangePassword', changed), expected);
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
      for (const username of [
        'x',
        'n'.repeat(64),
        'ж'.repeat(64),
        'a-b_c.9',
        'Ünïcode',
        'пользователь',
        '利用者',
      ]) {
        const user = { username, password: 'password' };
        const answer = await admin.request(adminCommand(ctx, 'AdminCreateUser', user), {
          clause: 'AUTH-053',
        });
        ctx.assert.equal(answer.commandName, 'AdminCreateUser', `the answer for user name ${username}`);
        await expectAccepted(ctx, credentialsOf(user), { what: `user name ${username}`, clause: 'AUTH-053' });
      }
    },
  },
  // CONN-031 (MUST): The broker carries out the frames of one connection in the order in which the client sent them.
  {
    id: 'CONN-031c',
    title:
      'carries out admin commands that arrive together one after the other, and the commands behind them',
    clauses: ['CONN-031', 'CONN-035'],
    ...withUsers,
    evidence: { frames: 5, assertions: 5 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const { username, password } = userNamed(ctx, 'user');
      const queuePattern = ctx.queue('own');
      const commands = [
        adminCommand(ctx, 'AdminCreateUser', { username, password }),
        adminCommand(ctx, 'AdminGrantPermission', { username, queuePattern, operations: ['Publish'] }),
        adminCommand(ctx, 'AdminGetUserPermissions', { username }),
        { command: Command.Ping, id: ctx.id() },
      ];
      await admin.sendTogether(commands);
      const answers: ReceivedFrame[] = [];
      for (const { id } of commands)
        answers.push(
          await admin.expect((frame) => frame.id === id, { what: 'its answer', clause: 'CONN-031' }),
        );
      const names = answers.map(({ commandName, errorCode }) => errorCode || commandName);
      const expected = ['AdminCreateUser', 'AdminGrantPermission', 'AdminGetUserPermissions', 'Pong'];
      ctx.assert.deepEqual(names, expected, 'the answers');
      const order = [...answers].sort(
        (a, b) => a.atMs - b.atMs || admin.received.indexOf(a) - admin.received.indexOf(b),
      );
      ctx.assert.deepEqual(
        order.map(({ id }) => id),
        commands.map(({ id }) => id),
        'the order of the answers',
        'CONN-035',
      );
      const shown = answers[2]?.payload.toString() ?? '';
      ctx.assert.ok(shown.includes(queuePattern), 'the permissions contain what was granted before', {
        actual: shown,
      });
    },
  },
] satisfies readonly Check[];

/** The clocks of the runner and of the broker may differ a little. */
const clockToleranceS = 5;

async function expectPasswordChanged(
  ctx: CheckContext,
  connection: Connection,
  user: User,
  clause: string,
): Promise<void> {
  const { username } = user;
  const newPassword = 'the new password';
  const command = adminCommand(ctx, 'AdminChangePassword', { username, newPassword });
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

function lengthOf(password: string): string {
  return `${Buffer.byteLength(password)} bytes`;
}
