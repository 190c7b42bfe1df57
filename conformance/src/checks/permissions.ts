// Checks of the admin commands for access lists, and of admin commands that are refused. Area: AUTH.
import type { Check, CheckModule } from '../check.ts';
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import { operations } from '../wire/operations.ts';
import {
  adminCommand,
  expectAnswer,
  permissionsOf,
  sortedEntries,
  usersOf,
} from './shared/admin-commands.ts';
import { newQueue } from './shared/queue-state.ts';
import { expectRefused, expectRefusedWith } from './shared/refusals.ts';
import type { Entry } from './shared/users.ts';
import {
  connectAs,
  connectAsSuperuser,
  credentialsOf,
  expectAccepted,
  grant,
  newUser,
  revoke,
  userNamed,
  withUsers,
} from './shared/users.ts';

export const permissionChecks: CheckModule = [
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
      const answer = await admin.request(adminCommand(ctx, 'AdminRevokePermission', payload), {
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
      // It begins with the pattern that is revoked.
      const kept: Entry = { queuePattern: `${queue}.kept`, operations: ['Publish'] };
      const user = await newUser(ctx, admin, 'user', [
        { queuePattern: queue, operations: ['Publish'] },
        kept,
      ]);
      const payload = { username: user.username, queuePattern: queue };
      await expectAnswer(ctx, admin, { name: 'AdminRevokePermission', payload, answer: payload });
      ctx.assert.deepEqual(await permissionsOf(admin, user), [kept], 'the access list afterwards');
      const client = await connectAs(ctx, user);
      const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' };
      await expectRefused(ctx, client, publish, 'the right was revoked', ['AUTH-016', 'AUTH-022']);
    },
  },
  // AUTH-040 (MUST): AdminRevokePermission removes the entry of the pattern and answers with username and queuePattern.
  {
    id: 'AUTH-040c',
    title: 'removes the entry of a pattern, and keeps those whose patterns it matches, or that match it',
    clauses: ['AUTH-040'],
    ...withUsers,
    evidence: { frames: 8, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const patterns = ['orders.*', 'orders.eu', 'orders.*.paid', 'orders*', '*'].map((pattern) =>
        pattern === '*' ? pattern : ctx.queue(pattern),
      );
      let entries = patterns.map((queuePattern): Entry => ({ queuePattern, operations: ['Publish'] }));
      const user = await newUser(ctx, admin, 'user', entries);
      for (const revoked of [ctx.queue('orders.*'), '*']) {
        await revoke(admin, user, revoked);
        entries = entries.filter(({ queuePattern }) => queuePattern !== revoked);
        const shown = await permissionsOf(admin, user);
        ctx.assert.deepEqual(shown, sortedEntries(entries), `the access list without ${revoked}`);
      }
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
      const answer = await client.request(adminCommand(ctx, 'AdminGetUserPermissions', { username }), {
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
      const answer = await admin.request(adminCommand(ctx, 'AdminGetUserPermissions', { username }), {
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
        await expectRefused(ctx, client, adminCommand(ctx, name, payload), `${name} needs a superuser`);
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
      if (ctx.target.credentials.authUsername !== undefined)
        ctx.notApplicable('the runner logs in as a user, so authorization is on');
      const client = await ctx.connect({ own: true });
      const answer = await client.request(adminCommand(ctx, 'AdminListUsers', undefined), {
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
