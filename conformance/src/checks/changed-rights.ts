// Checks of what a change of users or rights means for connections that are open. Areas: AUTH, DELIVERY, METRICS.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { waitForRecord } from './shared/http-records.ts';
import { noteIfLate } from './shared/lateness.ts';
import { eventually, infoField, newQueue, waitForInfo } from './shared/queue-state.ts';
import { fanOutWithAck } from './shared/queue-with-subscribers.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { publishSeries, takeAndAck } from './shared/subscribers.ts';
import type { Entry, User } from './shared/users.ts';
import {
  connectAs,
  connectAsSuperuser,
  credentialsOf,
  grant,
  newUser,
  revoke,
  withUsers,
} from './shared/users.ts';

export const changedRightChecks: CheckModule = [
  // AUTH-026 (SHOULD): When a user loses the right to subscribe to a queue, the broker immediately ends the
  // subscriptions of that user to the queue.
  {
    id: 'AUTH-026a',
    title: 'ends a subscription when the right to subscribe is revoked, and delivers nothing more to it',
    clauses: ['AUTH-026'],
    ...withUsers,
    evidence: { frames: 12, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const { admin, queue, user, client } = await withSubscribedUser(ctx);
      await waitForInfo(ctx, admin, queue, { field: 'subscriberCount', value: 1 });
      await expectEndedByRevoking(ctx, { admin, user, queue, clients: [client] });
    },
  },
  // AUTH-026 (SHOULD): When a user loses the right to subscribe to a queue, the broker immediately ends the
  // subscriptions of that user to the queue.
  {
    id: 'AUTH-026b',
    title: 'ends the subscriptions of all connections of the user when the right to subscribe is revoked',
    clauses: ['AUTH-026'],
    ...withUsers,
    evidence: { frames: 16, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const user = await newUser(ctx, admin, 'user', [{ queuePattern: queue, operations: ['Subscribe'] }]);
      const clients = [await connectAs(ctx, user), await connectAs(ctx, user), await connectAs(ctx, user)];
      for (const client of clients) await client.subscribe(queue);
      await waitForInfo(ctx, admin, queue, { field: 'subscriberCount', value: 3 });
      await expectEndedByRevoking(ctx, { admin, user, queue, clients });
    },
  },
  // AUTH-026 (SHOULD): When a user loses the right to subscribe to a queue, the broker immediately ends the
  // subscriptions of that user to the queue.
  {
    id: 'AUTH-026c',
    title: 'ends the subscriptions to all queues of a pattern when it is revoked',
    clauses: ['AUTH-026'],
    ...withUsers,
    evidence: { frames: 20, messages: 3, assertions: 6 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const pattern = ctx.queue('orders-*');
      const user = await newUser(ctx, admin, 'user', [{ queuePattern: pattern, operations: ['Subscribe'] }]);
      const client = await connectAs(ctx, user);
      const queues: string[] = [];
      for (const name of ['orders-1', 'orders-2', 'orders-3']) {
        const queue = await newQueue(ctx, admin, name);
        await client.subscribe(queue);
        queues.push(queue);
      }
      await revoke(admin, user, pattern);
      for (const queue of queues) await expectEnded(ctx, { admin, queue, clients: [client] });
    },
  },
  // AUTH-026 (SHOULD): When a user loses the right to subscribe to a queue, the broker immediately ends the
  // subscriptions of that user to the queue.
  {
    id: 'AUTH-026d',
    title: 'ends a subscription when a grant replaces the right to subscribe by another one',
    clauses: ['AUTH-026', 'AUTH-024'],
    ...withUsers,
    evidence: { frames: 12, messages: 1, assertions: 3 },
    run: async (ctx) => {
      const { admin, queue, user, client } = await withSubscribedUser(ctx);
      await grant(admin, user, { queuePattern: queue, operations: ['Publish'] });
      await expectEnded(ctx, { admin, queue, clients: [client] });
    },
  },
  // AUTH-026 (SHOULD): When a user loses the right to subscribe to a queue, the broker immediately ends the
  // subscriptions of that user to the queue.
  {
    id: 'AUTH-026e',
    title: 'removes a FanOutWithAck message whose last copy was not yet sent to a user that loses the right',
    clauses: ['AUTH-026', 'DELIVERY-021'],
    ...withUsers,
    requires: { ...withUsers.requires, capabilities: ['maxInFlight'] },
    evidence: { frames: 14, messages: 3, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders', fanOutWithAck);
      const user = await newUser(ctx, admin, 'user', [{ queuePattern: queue, operations: ['Subscribe'] }]);
      const narrow = await connectAs(ctx, user);
      await narrow.subscribe(queue, { headers: { maxInFlight: '1' } });
      await admin.subscribe(queue);
      await publishSeries(ctx, admin, queue, 2);
      await takeAndAck(admin, queue, 2);
      await narrow.delivery({ queue });
      await revoke(admin, user, queue);
      for (const [field, value, clause] of [
        ['subscriberCount', 1, 'AUTH-026'],
        ['messageCount', 0, 'DELIVERY-021'],
      ] as const) {
        const look = (): Promise<unknown> => infoField(admin, queue, field);
        const text = `${field} becomes ${value} when the right is revoked`;
        await eventually(ctx, look, (seen) => seen === value, { text, clause });
      }
    },
  },
  // AUTH-026 (SHOULD): When a user loses the right to subscribe to a queue, the broker immediately ends the
  // subscriptions of that user to the queue.
  {
    id: 'AUTH-026f',
    title: 'ends a subscription to a deleted queue when the right to subscribe is revoked',
    clauses: ['AUTH-026', 'QUEUE-016'],
    ...withUsers,
    evidence: { frames: 13, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const { admin, queue, user, client } = await withSubscribedUser(ctx);
      await admin.deleteQueue(queue);
      await revoke(admin, user, queue);
      await admin.createQueue(queue);
      await expectEnded(ctx, { admin, queue, clients: [client] });
    },
  },
  // RETRY-003 (SHOULD): Attempt n+1 is due ackTimeout + retryDelay(n) after attempt n, where retryDelay(n) =
  // min(retryDelay * 2^(n-1), maxRetryDelay).
  {
    id: 'RETRY-003d',
    title: 'does not send a message in flight again when its subscriber loses the right to another queue',
    clauses: ['RETRY-003', 'AUTH-026'],
    ...withUsers,
    accepts: ['nothing is sent again', 'the connection is closed (not applicable)'],
    evidence: { frames: 15, messages: 2, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const [queue, kept] = [await newQueue(ctx, admin, 'orders'), await newQueue(ctx, admin, 'kept')];
      const entries = [queue, kept].map(
        (queuePattern): Entry => ({ queuePattern, operations: ['Subscribe'] }),
      );
      const user = await newUser(ctx, admin, 'user', entries);
      const client = await connectAs(ctx, user);
      for (const name of [queue, kept]) {
        await client.subscribe(name);
        await publishSeries(ctx, admin, name, 1);
      }
      await client.delivery({ queue });
      const held = await client.delivery({ queue: kept });
      await revoke(admin, user, queue);
      const look = (): Promise<unknown> => infoField(admin, queue, 'subscriberCount');
      const text = 'the subscription to the other queue ends';
      await eventually(ctx, look, (count) => count === 0, { text, clause: 'AUTH-026' });
      if (client.isClosed) ctx.notApplicable('the broker closes the connection');
      await client.ping();
      noteIfLate(ctx, { sinceMs: held.atMs, maxMs: ctx.target.ackTimeoutMs, step: 'the revocation' });
      const again = { command: 'Deliver', queue: kept } as const;
      await client.expectNothingBeforePong(again, 'the message is not sent again before its ack timeout');
      await client.ack(held);
    },
  },
  // AUTH-016 (MUST): The broker allows a user the operations of an entry of its access list on the queues that the
  // pattern of the entry matches, and no others.
  {
    id: 'AUTH-016c',
    title: 'keeps a subscription when a change leaves the right to subscribe',
    clauses: ['AUTH-016', 'AUTH-026'],
    ...withUsers,
    evidence: { frames: 10, messages: 1, assertions: 1 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const entry: Entry = { queuePattern: queue, operations: ['Publish', 'Subscribe'] };
      const user = await newUser(ctx, admin, 'user', [entry]);
      const client = await connectAs(ctx, user);
      await client.subscribe(queue);
      await grant(admin, user, { ...entry, operations: ['Subscribe'] });
      await grant(admin, user, { queuePattern: ctx.queue('other'), operations: ['Publish'] });
      await admin.publish(queue, '1');
      const delivered = await client.delivery({ queue }, { clause: 'AUTH-016' });
      ctx.assert.equal(delivered.queue, queue, 'the queue of the delivery');
    },
  },
  // DELIVERY-069 (MUST): A subscription lasts from SubscribeAck until UnsubscribeAck, the end of its connection, or the
  // loss of the right to it (AUTH-026).
  {
    id: 'DELIVERY-069b',
    title: 'keeps a subscription when an entry is revoked and another one allows it too',
    clauses: ['DELIVERY-069', 'AUTH-020', 'AUTH-026'],
    ...withUsers,
    evidence: { frames: 18, messages: 2, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      for (const [name, pattern, isNarrowRevoked] of [
        ['orders', 'ord*', true],
        ['bills', 'b*', false],
      ] as const) {
        const queue = await newQueue(ctx, admin, name);
        const patterns = [queue, ctx.queue(pattern)];
        const entries = patterns.map((queuePattern): Entry => ({ queuePattern, operations: ['Subscribe'] }));
        const user = await newUser(ctx, admin, `user-of-${name}`, entries);
        const client = await connectAs(ctx, user);
        await client.subscribe(queue);
        await revoke(admin, user, patterns[isNarrowRevoked ? 0 : 1] ?? queue);
        await admin.publish(queue, '1');
        const what = `the message after ${isNarrowRevoked ? 'the narrow' : 'the wide'} pattern was revoked`;
        const delivered = await client.delivery({ queue }, { what, clause: 'DELIVERY-069' });
        ctx.assert.equal(delivered.queue, queue, 'the queue of the delivery');
        await client.ack(delivered);
      }
    },
  },
  // AUTH-027 (SHOULD): The broker applies a granted or revoked right immediately, also to open connections.
  {
    id: 'AUTH-027a',
    title: 'applies a granted and a revoked right to an open connection',
    clauses: ['AUTH-027'],
    ...withUsers,
    evidence: { frames: 9, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const user = await newUser(ctx, admin, 'user');
      const client = await connectAs(ctx, user);
      const mayBecomes = (expected: boolean, when: string): Promise<void> =>
        expectMaySeeInfo(ctx, client, { queue, expected, when });
      await mayBecomes(false, 'before the grant');
      await grant(admin, user, { queuePattern: queue, operations: ['GetQueueInfo'] });
      await mayBecomes(true, 'after the grant');
      await grant(admin, user, { queuePattern: queue, operations: ['Publish'] });
      await mayBecomes(false, 'after a grant without the right');
      await grant(admin, user, { queuePattern: '*', operations: ['GetQueueInfo'] });
      await mayBecomes(true, 'after a grant for another pattern');
      await revoke(admin, user, '*');
      await mayBecomes(false, 'after the right was revoked');
    },
  },
  // AUTH-027 (SHOULD): The broker applies a granted or revoked right immediately, also to open connections.
  {
    id: 'AUTH-027b',
    title:
      'lists to an open connection the queues of a right that was just granted, and not of one just revoked',
    clauses: ['AUTH-027', 'AUTH-023'],
    ...withUsers,
    evidence: { frames: 44, assertions: 20 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const [always, sometimes] = [await newQueue(ctx, admin, 'a'), await newQueue(ctx, admin, 'b')];
      const user = await newUser(ctx, admin, 'user', [{ queuePattern: always, operations: ['ListQueues'] }]);
      const client = await connectAs(ctx, user);
      const lists = async (expected: readonly string[], when: string): Promise<void> => {
        const actual = [...(await client.listQueues())].sort();
        const detail = { expected, actual, possibleCauses: rulesOfRights };
        ctx.assert.ok(String(actual) === String(expected), `the listed queues ${when}`, detail);
      };
      // Several rounds: where other queues are created meanwhile, a list that the broker keeps is made anew.
      for (let round = 1; round <= 10; round += 1) {
        await grant(admin, user, { queuePattern: sometimes, operations: ['ListQueues'] });
        await lists([always, sometimes], `after the grant in round ${round}`);
        await revoke(admin, user, sometimes);
        await lists([always], `after the revocation in round ${round}`);
      }
    },
  },
  // AUTH-027 (SHOULD): The broker applies a granted or revoked right immediately, also to open connections.
  {
    id: 'AUTH-027c',
    title: 'applies changes to the connections of a user that stay when another one has ended',
    clauses: ['AUTH-027'],
    ...withUsers,
    evidence: { frames: 10, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const user = await newUser(ctx, admin, 'user');
      const clients = [await connectAs(ctx, user), await connectAs(ctx, user), await connectAs(ctx, user)];
      const [staying, ...leaving] = clients as [Connection, ...Connection[]];
      for (const client of leaving) {
        await client.disconnect();
        await client.closed({ clause: 'CONN-024' });
        await grant(admin, user, { queuePattern: queue, operations: ['GetQueueInfo'] });
        await expectMaySeeInfo(ctx, staying, { queue, expected: true, when: 'after the grant' });
        await revoke(admin, user, queue);
        await expectMaySeeInfo(ctx, staying, { queue, expected: false, when: 'after the right was revoked' });
      }
    },
  },
  // LIMIT-017 (SHOULD): The broker answers a Subscribe by Error LIMIT_EXCEEDED, when its connection has
  // maxSubscriptionsPerConnection subscriptions.
  {
    id: 'LIMIT-017b',
    title: 'counts no subscription towards maxSubscriptionsPerConnection that has ended with its right',
    clauses: ['LIMIT-017', 'AUTH-026'],
    ...withUsers,
    profile: 'limits',
    requires: {
      configuration: { ...withUsers.requires.configuration, limits: { maxSubscriptionsPerConnection: 2 } },
      profiles: ['auth'],
    },
    evidence: { frames: 17, assertions: 2 },
    run: async (ctx) => {
      const { admin, queue, user, client } = await withSubscribedUser(ctx);
      const other = await newQueue(ctx, admin, 'other');
      await grant(admin, user, { queuePattern: other, operations: ['Subscribe'] });
      await client.subscribe(other);
      for (let count = 0; count < 2; count += 1) {
        await revoke(admin, user, queue);
        await waitForInfo(ctx, admin, queue, { field: 'subscriberCount', value: 0 });
        await grant(admin, user, { queuePattern: queue, operations: ['Subscribe'] });
        const answer = await client.request({ command: Command.Subscribe, id: ctx.id(), queue });
        ctx.assert.equal(answer.errorCode || answer.commandName, 'SubscribeAck', 'the answer to a Subscribe');
      }
    },
  },
  // AUTH-028 (SHOULD): When a user is deleted, the broker closes the connections of that user.
  {
    id: 'AUTH-028a',
    title: 'closes all connections of a deleted user, and no others',
    clauses: ['AUTH-028'],
    ...withUsers,
    evidence: { frames: 8, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const [deleted, kept] = [await newUser(ctx, admin, 'deleted'), await newUser(ctx, admin, 'kept')];
      const [first, second, other] = [
        await connectAs(ctx, deleted),
        await connectAs(ctx, deleted),
        await connectAs(ctx, kept),
      ];
      await admin.admin('AdminDeleteUser', { username: deleted.username });
      await first.closed({ clause: 'AUTH-028' });
      await second.closed({ clause: 'AUTH-028' });
      await other.ping({ clause: 'AUTH-028' });
      await admin.ping();
    },
  },
  // AUTH-028 (SHOULD): When a user is deleted, the broker closes the connections of that user.
  {
    id: 'AUTH-028b',
    title: 'does not serve a connection whose user is deleted while its password is checked',
    clauses: ['AUTH-028'],
    ...withUsers,
    prefers: { authentication: { passwordCost: 10 } },
    accepts: ['an Error answers the Connect', 'the connection is closed, before or after ConnectAck'],
    evidence: { frames: 13, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      for (const name of ['one', 'two', 'three']) {
        const user = await newUser(ctx, admin, name);
        const connection = await ctx.rawConnect();
        // Until then the broker may not have accepted the connection, and the user is deleted before its password is checked.
        await connection.ping();
        // Written in one step: a busy machine cannot put the time that a password takes between the two.
        const headers = credentialsOf(user);
        const connect = connection.send({ command: Command.Connect, id: ctx.id(), headers });
        await Promise.all([connect, admin.admin('AdminDeleteUser', { username: user.username })]);
        const withinMs = ctx.timing.passwordMs;
        const answer = await connection.expectOrClosed({ command: ['Error', 'ConnectAck'] }, { withinMs });
        const isServed = typeof answer !== 'string' && answer.command === Command.ConnectAck;
        const what = 'closing the connection of a user that was deleted';
        if (isServed) await connection.closed({ what, clause: 'AUTH-028' });
        const isRefused = connection.isClosed || !isServed;
        ctx.assert.ok(isRefused, 'the deleted user is not served', { actual: 'served' });
      }
    },
  },
  // AUTH-029 (SHOULD): When the password of a user changes, the broker closes the connections of that user, except the
  // one that sent the command.
  {
    id: 'AUTH-029a',
    title: 'closes the connections of a user whose password changes, except the one that changed it',
    clauses: ['AUTH-029'],
    ...withUsers,
    evidence: { frames: 8, assertions: 2 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'user');
      const { username } = user;
      const [asker, other] = [await connectAs(ctx, user), await connectAs(ctx, user)];
      await asker.admin('AdminChangePassword', { username, newPassword: 'changed by the user' });
      await other.closed({ clause: 'AUTH-029' });
      await asker.ping({ clause: 'AUTH-029' });
      await admin.admin('AdminChangePassword', { username, newPassword: 'changed by the superuser' });
      await asker.closed({ clause: 'AUTH-029' });
      await admin.ping();
    },
  },
  // METRICS-016 (MUST): active_connections in the metrics record is the number of open client connections.
  {
    id: 'METRICS-016b',
    title: 'does not count a connection that it closed because its user was deleted or has another password',
    clauses: ['METRICS-016', 'HEALTH-007'],
    profile: 'observability',
    isolation: 'fresh',
    requires: { ...withUsers.requires, profiles: ['auth'] },
    prefers: withUsers.prefers,
    accepts: ['such connections are closed, and not counted', 'one of them stays open (not applicable)'],
    evidence: { frames: 6, responses: 3, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const [deleted, changed] = [await newUser(ctx, admin, 'deleted'), await newUser(ctx, admin, 'changed')];
      const clients = [await connectAs(ctx, deleted), await connectAs(ctx, changed)];
      await waitForRecord(ctx, '/metrics/', { active_connections: 3 });
      await admin.admin('AdminDeleteUser', { username: deleted.username });
      await admin.admin('AdminChangePassword', { username: changed.username, newPassword: 'another' });
      const areClosed = (): boolean => clients.every(({ isClosed }) => isClosed);
      const until = ctx.now() + ctx.timing.answerMs;
      while (!areClosed() && ctx.now() < until) await waitUntil(ctx, ctx.now() + 15);
      if (!areClosed()) ctx.notApplicable('the broker does not close such connections (AUTH-028, AUTH-029)');
      await waitForRecord(ctx, '/metrics/', { active_connections: 1 });
      await waitForRecord(ctx, '/health/', { active_connections: 1 }, 'HEALTH-007');
    },
  },
] satisfies readonly Check[];

/** A user who may subscribe to a queue, and has done so on one connection. */
async function withSubscribedUser(ctx: CheckContext) {
  const admin = await connectAsSuperuser(ctx);
  const queue = await newQueue(ctx, admin, 'orders');
  const user = await newUser(ctx, admin, 'user', [{ queuePattern: queue, operations: ['Subscribe'] }]);
  const client = await connectAs(ctx, user);
  await client.subscribe(queue);
  return { admin, queue, user, client };
}

/** Rights that are wrong on every connection are no matter of the change. */
const rulesOfRights = ['AUTH-016', 'AUTH-020', 'AUTH-022', 'AUTH-023', 'AUTH-024', 'AUTH-039', 'AUTH-040'];

async function expectMaySeeInfo(
  ctx: CheckContext,
  client: Connection,
  { queue, expected, when }: { readonly queue: string; readonly expected: boolean; readonly when: string },
): Promise<void> {
  const answer = await client.request({ command: Command.QueueInfo, id: ctx.id(), queue });
  const actual = answer.command !== Command.Error;
  const what = `whether the user may see the queue, ${when}`;
  ctx.assert.ok(actual === expected, what, { expected, actual, possibleCauses: rulesOfRights });
}

type Revocation = {
  readonly admin: Connection;
  readonly queue: string;
  /** The subscribers of the queue, all of one user. */
  readonly clients: readonly Connection[];
};

/** Revokes the right to subscribe, and asserts that nothing is delivered to the clients any more, and nothing lost. */
async function expectEndedByRevoking(
  ctx: CheckContext,
  { user, ...subscribed }: Revocation & { readonly user: User },
): Promise<void> {
  await revoke(subscribed.admin, user, subscribed.queue);
  await expectEnded(ctx, subscribed);
}

async function expectEnded(ctx: CheckContext, { admin, queue, clients }: Revocation): Promise<void> {
  await eventually(
    ctx,
    () => infoField(admin, queue, 'subscriberCount'),
    (count) => count === 0,
    { text: 'subscriberCount becomes 0', clause: 'AUTH-026', causesOf: () => ['QUEUE-026', 'AUTH-016'] },
  );
  await admin.publish(queue, '"after the change"');
  for (const client of clients)
    await client.expectNothingBeforePong('Deliver', 'no message comes after the change', 'AUTH-026');
  // Another subscriber gets it: it was not lost either.
  await admin.subscribe(queue);
  await admin.delivery({ queue });
}
