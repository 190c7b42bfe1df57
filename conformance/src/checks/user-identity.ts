// Checks of who a user is: a name and a password mean one user only, also beside names and passwords that look alike, and a user that is
// created again is a new one. Area: AUTH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { adminCommand, permissionsOf, sortedEntries } from './shared/admin-commands.ts';
import { messageCountOf, newQueue } from './shared/queue-state.ts';
import { expectRefused } from './shared/refusals.ts';
import type { Entry, User } from './shared/users.ts';
import {
  connectAs,
  connectAsSuperuser,
  credentialsOf,
  expectAccepted,
  expectConnectRefused,
  newUser,
  revoke,
  superuser,
  userNamed,
  withUsers,
} from './shared/users.ts';

export const userIdentityChecks: CheckModule = [
  // AUTH-006 (MUST): When authorization is on, the broker answers a Connect with an unknown user or a wrong password by
  // Error and sends no ConnectAck.
  {
    id: 'AUTH-006b',
    title: 'distinguishes users whose names differ in case only, also when one of them is deleted',
    clauses: ['AUTH-006', 'AUTH-005'],
    ...withUsers,
    accepts: ['names that differ in case are two users', 'they are one name (not applicable)'],
    evidence: { frames: 7, assertions: 5 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const { user, twin } = await newTwins(ctx, admin);
      const mixed = { username: twin.username, password: user.password };
      const what = 'the password of a user whose name differs in case';
      await expectConnectRefused(ctx, credentialsOf(mixed), { what, clause: 'AUTH-006' });
      await expectAccepted(ctx, credentialsOf(twin), { what: 'its own password', clause: 'AUTH-005' });
      await admin.admin('AdminDeleteUser', { username: twin.username });
      const unknown = 'a name that differs in case from that of a user';
      await expectConnectRefused(ctx, credentialsOf(mixed), { what: unknown, clause: 'AUTH-006' });
      await expectAccepted(ctx, credentialsOf(user), { what: 'the user that is left', clause: 'AUTH-005' });
    },
  },
  // AUTH-006 (MUST): When authorization is on, the broker answers a Connect with an unknown user or a wrong password by
  // Error and sends no ConnectAck.
  {
    id: 'AUTH-006c',
    title: 'refuses passwords that differ from that of the user in blanks only',
    clauses: ['AUTH-006', 'AUTH-005'],
    ...withUsers,
    evidence: { frames: 8, assertions: 10 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      for (const [name, password, ...others] of [
        ['blank', 'a word ', ['without its last blank', 'a word'], ['with another blank', 'a word  ']],
        ['plain', 'a word', ['with a blank in front of it', ' a word'], ['with a tab behind it', 'a word\t']],
      ] as const) {
        const user = { ...userNamed(ctx, name), password };
        await admin.admin('AdminCreateUser', user);
        await expectAccepted(ctx, credentialsOf(user), { what: 'the password', clause: 'AUTH-005' });
        for (const [how, other] of others) {
          const what = `the password ${how}`;
          await expectConnectRefused(ctx, credentialsOf({ ...user, password: other }), {
            what,
            clause: 'AUTH-006',
          });
        }
      }
    },
  },
  // AUTH-006 (MUST): When authorization is on, the broker answers a Connect with an unknown user or a wrong password by
  // Error and sends no ConnectAck.
  {
    id: 'AUTH-006d',
    title: 'compares passwords to their end: behind a NUL, and behind the longest password that there may be',
    clauses: ['AUTH-006', 'AUTH-005'],
    ...withUsers,
    evidence: { frames: 6, assertions: 6 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const longest = 'p'.repeat(72);
      for (const [name, password, other] of [
        ['nul', 'a word\0 of one', 'a word\0 of another'],
        ['longest', longest, `${longest}p`],
      ] as const) {
        const user = { ...userNamed(ctx, name), password };
        await admin.admin('AdminCreateUser', user);
        await expectAccepted(ctx, credentialsOf(user), { what: 'the password', clause: 'AUTH-005' });
        const what = `a password that goes on differently (${name})`;
        const wrong = credentialsOf({ ...user, password: other });
        await expectConnectRefused(ctx, wrong, { what, clause: 'AUTH-006' });
      }
    },
  },
  // AUTH-006 (MUST): When authorization is on, the broker answers a Connect with an unknown user or a wrong password by
  // Error and sends no ConnectAck.
  {
    id: 'AUTH-006e',
    title: 'refuses the password of a deleted user for a new user of the same name',
    clauses: ['AUTH-006', 'AUTH-036', 'AUTH-005'],
    ...withUsers,
    evidence: { frames: 7, assertions: 4 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'user');
      const { username } = user;
      await expectAccepted(ctx, credentialsOf(user), { what: 'the first password', clause: 'AUTH-005' });
      await admin.admin('AdminDeleteUser', { username });
      const again = { username, password: 'another password' };
      await admin.admin('AdminCreateUser', again);
      const what = 'the password of a deleted user';
      await expectConnectRefused(ctx, credentialsOf(user), { what, clause: 'AUTH-006' });
      await expectAccepted(ctx, credentialsOf(again), { what: 'the new password', clause: 'AUTH-005' });
    },
  },
  // AUTH-016 (MUST): The broker allows a user the operations of an entry of its access list on the queues that the
  // pattern of the entry matches, and no others.
  {
    id: 'AUTH-016d',
    title: 'gives a user that is deleted and created again no rights of the deleted one',
    clauses: ['AUTH-016', 'AUTH-022'],
    ...withUsers,
    evidence: { frames: 9, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const user = await newUser(ctx, admin, 'user', [{ queuePattern: queue, operations: ['Publish'] }]);
      await admin.admin('AdminDeleteUser', { username: user.username });
      await admin.admin('AdminCreateUser', user);
      const client = await connectAs(ctx, user);
      const publish = { command: Command.Publish, id: ctx.id('m'), queue, payload: '1' };
      await expectRefused(ctx, client, publish, 'the new user was granted nothing', ['AUTH-022']);
      ctx.assert.equal(await messageCountOf(admin, queue), 0, 'messageCount of the queue', 'AUTH-022');
      ctx.assert.deepEqual(await permissionsOf(admin, user), [], 'the access list of the new user');
    },
  },
  // AUTH-016 (MUST): The broker allows a user the operations of an entry of its access list on the queues that the
  // pattern of the entry matches, and no others.
  {
    id: 'AUTH-016e',
    title: 'allows and refuses the same on many queues as on the first, and again',
    clauses: ['AUTH-016', 'AUTH-022'],
    ...withUsers,
    evidence: { frames: 301, assertions: 301 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queues = Array.from({ length: 150 }, (_, index) => ctx.queue(`many-${index}`));
      const queuePattern = `${ctx.queue('many')}-*`;
      const user = await newUser(ctx, admin, 'user', [
        { queuePattern, operations: ['Publish', 'CreateQueue'] },
      ]);
      const client = await connectAs(ctx, user);
      for (let round = 1; round <= 2; round += 1) {
        const sent = queues.map((queue) => ({
          command: Command.Publish,
          id: ctx.id('m'),
          queue,
          payload: '1',
        }));
        await client.sendTogether(sent);
        for (const { id } of sent) {
          const answer = await client.expect(
            { command: ['PublishAck', 'Error'], id },
            { clause: 'AUTH-016' },
          );
          ctx.assert.equal(answer.commandName, 'PublishAck', 'the answer to a Publish with the right to it');
        }
      }
      const foreign = { command: Command.Publish, id: ctx.id('m'), queue: ctx.queue('other'), payload: '1' };
      await expectRefused(ctx, client, foreign, 'no pattern matches its queue', ['AUTH-022']);
    },
  },
  // AUTH-040 (MUST): AdminRevokePermission removes the entry of the pattern and answers with username and queuePattern.
  {
    id: 'AUTH-040b',
    title: 'removes the entry of a pattern, and keeps the one whose pattern differs in case',
    clauses: ['AUTH-040', 'AUTH-039'],
    ...withUsers,
    accepts: [
      'patterns that differ in case have an entry each',
      'they have one entry: the second grant replaces it, and the revoke removes it',
    ],
    evidence: { frames: 7, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const name = ctx.queue('orders');
      const kept: Entry = { queuePattern: name.toLowerCase(), operations: ['Publish'] };
      const revoked: Entry = { queuePattern: name.toUpperCase(), operations: ['GetQueueInfo'] };
      const user = await newUser(ctx, admin, 'user', [kept, revoked]);
      const before = await permissionsOf(admin, user);
      const isOneEntry = before.length === 1;
      const granted = isOneEntry ? [revoked.operations] : sortedEntries([kept, revoked]);
      const shown = isOneEntry ? before.map((entry) => entry.operations) : before;
      ctx.assert.deepEqual(shown, granted, 'the access list before the revoke', 'AUTH-039');
      await revoke(admin, user, revoked.queuePattern);
      const left = isOneEntry ? [] : [kept];
      ctx.assert.deepEqual(await permissionsOf(admin, user), left, 'the access list afterwards');
    },
  },
  // AUTH-045 (MUST): The broker carries out an admin command for superusers only, except what AUTH-038 and AUTH-043
  // allow.
  {
    id: 'AUTH-045b',
    title: 'lets no user change the password of a user whose name differs in case, or see its permissions',
    clauses: ['AUTH-045'],
    ...withUsers,
    accepts: ['names that differ in case are two users', 'they are one name (not applicable)'],
    evidence: { frames: 6, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const { user, twin } = await newTwins(ctx, admin);
      const { username } = twin;
      for (const [name, payload] of [
        ['AdminChangePassword', { username, newPassword: 'new' }],
        ['AdminGetUserPermissions', { username }],
      ] as const) {
        const client = await connectAs(ctx, user);
        await expectRefused(ctx, client, adminCommand(ctx, name, payload), `${name} names another user`);
      }
      await expectAccepted(ctx, credentialsOf(twin), { what: 'the password as before', clause: 'AUTH-045' });
    },
  },
  // AUTH-029 (SHOULD): When the password of a user changes, the broker closes the connections of that user, except the
  // one that sent the command.
  {
    id: 'AUTH-029b',
    title: 'closes the other connections of the superuser when it changes its own password',
    clauses: ['AUTH-029', 'AUTH-037'],
    ...withUsers,
    // No other check could connect as the superuser afterwards.
    isolation: 'fresh',
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const [asker, other] = [await connectAsSuperuser(ctx), await connectAsSuperuser(ctx)];
      const changed = { ...superuser, password: 'changed by the superuser' };
      const { username, password: newPassword } = changed;
      await asker.admin('AdminChangePassword', { username, newPassword });
      await expectAccepted(ctx, credentialsOf(changed), { what: 'the new password', clause: 'AUTH-037' });
      await asker.ping({ clause: 'AUTH-029' });
      await other.closed({ clause: 'AUTH-029' });
    },
  },
] satisfies readonly Check[];

/** Two users whose names differ in case only. No rule says that they are two: ends as not applicable where they are not. */
async function newTwins(
  ctx: CheckContext,
  admin: Connection,
): Promise<{ readonly user: User; readonly twin: User }> {
  const user = await newUser(ctx, admin, 'user');
  const twin = { username: user.username.toUpperCase(), password: 'password of the twin' };
  const created = await admin.request(adminCommand(ctx, 'AdminCreateUser', twin));
  if (created.command === Command.Error)
    ctx.notApplicable('the broker takes names of users that differ in case for one name');
  return { user, twin };
}
