// Admin commands over the whole way from bytes to the administration: their order among the other commands, their answers, and what they
// change for open connections.

import { describe, expect, it } from 'vitest';
import { type AccessEntry, QueueOperation } from '../model/access.ts';
import { Command } from '../protocol/command.ts';
import { FakeUsers, SUPERUSER } from '../testing/fake-users.ts';
import { ack, ping, publish, subscribe, TestedBroker } from '../testing/tested-broker.ts';
import type { BodyParts } from '../testing/wire-bytes.ts';
import { payloadOf, type WireClient } from '../testing/wire-client.ts';

const EVERYTHING: readonly AccessEntry[] = [{ queuePattern: '*', operations: Object.values(QueueOperation) }];

type AdminName = Extract<keyof typeof Command, `Admin${string}`>;

function admin(name: AdminName, payload?: unknown, id = name): BodyParts {
  return {
    command: Command[name],
    id,
    ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
  };
}

async function party() {
  const users = new FakeUsers({ token: 'the token' });
  users.setUser('alice', 'pw', EVERYTHING);
  const tested = new TestedBroker({}, { users });
  const as = (username: string, password: string): Promise<WireClient> =>
    tested.connect({}, [
      ['authUsername', username],
      ['authPassword', password],
    ]);
  const root = await as(SUPERUSER.username, SUPERUSER.password);
  return { users, tested, root, as };
}

describe('an admin command', () => {
  it('is an unknown command where there is no administration [AUTH-046]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    expect(await tested.exchange(client, admin('AdminListUsers'))).toEqual([
      'Error AdminListUsers UNKNOWN_COMMAND',
    ]);
  });

  it('is answered by the same command with the same id and what it did [AUTH-034, AUTH-035, AUTH-036, AUTH-037, AUTH-039, AUTH-040]', async () => {
    const { tested, root } = await party();
    const username = 'bob';
    const grant = {
      username,
      queuePattern: 'orders.*',
      operations: ['publish', 1, 'GETQUEUEINFO', 'Publish'],
    };
    root.send(
      admin('AdminCreateUser', { username, password: 'pw' }),
      admin('AdminGrantPermission', grant),
      admin('AdminGetUserPermissions', { username }),
      admin('AdminRevokePermission', { username, queuePattern: 'orders.*' }),
      admin('AdminChangePassword', { username, newPassword: 'new' }),
      admin('AdminDeleteUser', { username }),
    );
    await tested.settle();
    const operations = ['Publish', 'Subscribe', 'GetQueueInfo'];
    expect(root.take().map((frame) => [frame.command, frame.id, JSON.parse(payloadOf(frame))])).toEqual([
      [50, 'AdminCreateUser', { username }],
      [53, 'AdminGrantPermission', { username, queuePattern: 'orders.*', operations }],
      [56, 'AdminGetUserPermissions', [{ queuePattern: 'orders.*', operations }]],
      [54, 'AdminRevokePermission', { username, queuePattern: 'orders.*' }],
      [52, 'AdminChangePassword', { username }],
      [51, 'AdminDeleteUser', { username }],
    ]);
  });

  it('lists users with their times in Unix seconds and no secrets [AUTH-041, AUTH-054]', async () => {
    const { tested, root } = await party();
    root.send(admin('AdminListUsers', { ignored: true }));
    await tested.settle();
    const createdAt = 1_795_213_571;
    expect(JSON.parse(payloadOf(root.take()[0]))).toEqual([
      { username: 'vibemq', isSuperuser: true, createdAt },
      { username: 'alice', isSuperuser: false, createdAt },
    ]);
  });

  it.each<[AdminName, unknown]>([
    ['AdminCreateUser', undefined],
    ['AdminCreateUser', { username: 'bob' }],
    ['AdminCreateUser', { username: 'bob', password: 7 }],
    ['AdminCreateUser', ['bob', 'pw']],
    ['AdminCreateUser', { Username: 'bob', Password: 'pw' }],
    ['AdminDeleteUser', {}],
    ['AdminDeleteUser', { username: null }],
    ['AdminChangePassword', { username: 'alice' }],
    ['AdminGrantPermission', { username: 'alice', operations: [] }],
    ['AdminGrantPermission', { username: 'alice', queuePattern: '*' }],
    ['AdminGrantPermission', { username: 'alice', queuePattern: '*', operations: 'Publish' }],
    ['AdminGrantPermission', { username: 'alice', queuePattern: '*', operations: ['Publish', 'Fly'] }],
    ['AdminGrantPermission', { username: 'alice', queuePattern: '*', operations: [7] }],
    ['AdminRevokePermission', { username: 'alice' }],
    ['AdminGetUserPermissions', 'alice'],
  ])(
    '%s with %j gets INVALID_PAYLOAD, and nothing is asked of the administration [AUTH-047, AUTH-034]',
    async (name, payload) => {
      const { users, tested, root } = await party();
      const askedBefore = users.asked.length;
      root.send(admin(name, payload));
      await tested.settle();
      expect(root.take()).toMatchObject([{ id: name, errorCode: 'INVALID_PAYLOAD' }]);
      expect(users.asked).toHaveLength(askedBefore);
    },
  );

  it('with a payload that is no JSON gets INVALID_PAYLOAD from a superuser, and else first what the user may not do [AUTH-047, ERROR-014]', async () => {
    const { tested, root, as } = await party();
    const [alice, token] = [await as('alice', 'pw'), await tested.connect({}, [['authToken', 'the token']])];
    const broken = { command: Command.AdminCreateUser, id: 'c', payload: '{' };
    const own = { command: Command.AdminChangePassword, id: 'p', payload: '{' };
    expect(await tested.exchange(root, broken)).toEqual(['Error c INVALID_PAYLOAD']);
    expect(await tested.exchange(alice, broken, own)).toEqual([
      'Error c NOT_AUTHORIZED',
      'Error p INVALID_PAYLOAD',
    ]);
    expect(await tested.exchange(token, broken, own)).toEqual([
      'Error c NOT_AUTHORIZED',
      'Error p NOT_AUTHORIZED',
    ]);
  });

  it('tells the administration who asks [AUTH-033, AUTH-038, AUTH-043, AUTH-045]', async () => {
    const { tested, as } = await party();
    const [alice, token] = [await as('alice', 'pw'), await tested.connect({}, [['authToken', 'the token']])];
    const commands = [
      admin('AdminCreateUser', { username: 'x', password: 'pw' }),
      admin('AdminGetUserPermissions', { username: 'alice' }),
      admin('AdminChangePassword', { username: 'alice', newPassword: 'new' }),
    ];
    expect(await tested.exchange(alice, ...commands)).toEqual([
      'Error AdminCreateUser NOT_AUTHORIZED',
      'AdminGetUserPermissions AdminGetUserPermissions',
      'AdminChangePassword AdminChangePassword',
    ]);
    expect(await tested.exchange(token, ...commands)).toEqual([
      'Error AdminCreateUser NOT_AUTHORIZED',
      'Error AdminGetUserPermissions NOT_AUTHORIZED',
      'Error AdminChangePassword NOT_AUTHORIZED',
    ]);
  });

  it('whose answer does not fit into a frame gets MESSAGE_TOO_LARGE [FRAME-025]', async () => {
    const { users, tested, root } = await party();
    for (let number = 0; number < 18_000; number += 1) users.setUser(`user-${number}`, 'pw');
    root.send(admin('AdminListUsers'), ping());
    await tested.settle();
    expect(root.lines()).toEqual(['Error AdminListUsers MESSAGE_TOO_LARGE', 'Pong ping']);
  });

  it('gets SERVER_ERROR when the administration fails, and the next commands are served [ERROR-005]', async () => {
    for (const isHolding of [false, true]) {
      const { users, tested, root } = await party();
      Object.assign(users, { isHolding, nextFault: new Error('the disk is full') });
      root.send(admin('AdminListUsers'), ping());
      await tested.settle();
      users.release();
      expect(await tested.exchange(root)).toEqual(['Error AdminListUsers SERVER_ERROR', 'Pong ping']);
      expect(tested.logged).toEqual(['a command failed']);
    }
  });
});

describe('the order of commands on a connection', () => {
  it('holds for admin commands that take a while: what follows waits, what came before is answered [CONN-031, CONN-036]', async () => {
    const { users, tested, root } = await party();
    users.isHolding = true;
    root.send(
      publish('q', 'm1'),
      admin('AdminCreateUser', { username: 'bob', password: 'pw' }),
      publish('q', 'm2'),
      admin('AdminDeleteUser', { username: 'bob' }),
      ping(),
    );
    await tested.settle();
    expect(root.lines()).toEqual(['PublishAck m1 q']);
    expect([users.heldCount, tested.broker.stats().publishedCount]).toEqual([1, 1]);
    users.release();
    await tested.settle();
    expect(root.lines()).toEqual(['AdminCreateUser AdminCreateUser', 'PublishAck m2 q']);
    users.release();
    await tested.settle();
    expect(root.lines()).toEqual(['AdminDeleteUser AdminDeleteUser', 'Pong ping']);
  });

  it('has the broker stop reading until the command is answered, so that few of them wait', async () => {
    const { users, tested } = await party();
    const { client, server } = tested.attachWithServer();
    const { username, password } = SUPERUSER;
    const headers = [
      ['authUsername', username],
      ['authPassword', password],
    ] as const;
    await tested.exchange(client, { command: 0, id: 'c', headers });
    users.isHolding = true;
    await tested.exchange(client, admin('AdminListUsers'), admin('AdminListUsers'), admin('AdminListUsers'));
    expect([server.isPaused(), users.heldCount]).toEqual([true, 1]);
    users.isHolding = false;
    users.release();
    await tested.settle();
    expect([server.isPaused(), client.lines().length]).toEqual([false, 3]);
  });

  it('lets other connections pass meanwhile', async () => {
    const { users, tested, root, as } = await party();
    const alice = await as('alice', 'pw');
    users.isHolding = true;
    root.send(admin('AdminListUsers'));
    expect(await tested.exchange(alice, publish('q', 'm1'))).toEqual(['PublishAck m1 q']);
  });

  it('lets a client that leaves behind an admin command have the answer [CONN-025]', async () => {
    const { users, tested, root } = await party();
    users.isHolding = true;
    root.send(admin('AdminListUsers'), { command: Command.Disconnect, id: 'bye' });
    root.stream.end();
    await tested.settle();
    expect(root.isOver).toBe(false);
    users.release();
    await tested.settle();
    expect(root.lines()).toEqual(['AdminListUsers AdminListUsers']);
    expect(root.isOver).toBe(true);
  });

  it('carries out what a connection that broke meanwhile had asked for, and forgets the connection', async () => {
    const { users, tested, root, as } = await party();
    users.isHolding = true;
    root.send(admin('AdminCreateUser', { username: 'bob', password: 'pw' }));
    await tested.settle();
    root.stream.destroy();
    await tested.settle();
    users.release();
    users.isHolding = false;
    await tested.settle();
    expect(tested.broker.stats().activeConnectionCount).toBe(0);
    await expect(as('bob', 'pw')).resolves.toBeDefined();
  });
});

describe('a broker that shuts down', () => {
  it('refuses admin commands, and carries nothing out [SHUTDOWN-007]', async () => {
    const { users, tested, root } = await party();
    await tested.exchange(root, subscribe('q'), publish('q', 'm1'));
    const drained = tested.broker.drain();
    await tested.settle();
    root.take();
    const askedBefore = users.asked.length;
    expect(await tested.exchange(root, admin('AdminListUsers'), ack('m1'))).toEqual([
      'Error AdminListUsers SHUTTING_DOWN',
    ]);
    expect(users.asked).toHaveLength(askedBefore);
    await drained;
  });

  it('answers an admin command that is under way before it closes the connection [CONN-025, SHUTDOWN-008]', async () => {
    const { users, tested, root } = await party();
    users.isHolding = true;
    root.send(admin('AdminListUsers'));
    await tested.settle();
    const drained = tested.broker.drain();
    await tested.settle();
    expect(root.isOver).toBe(false);
    users.release();
    await tested.settle();
    await drained;
    expect(root.lines().slice(1)).toEqual(['AdminListUsers AdminListUsers']);
    expect(root.isOver).toBe(true);
  });
});

describe('a change', () => {
  it('of rights applies to open connections [AUTH-027]', async () => {
    const { tested, root, as } = await party();
    const alice = await as('alice', 'pw');
    const revoke = admin('AdminRevokePermission', { username: 'alice', queuePattern: '*' });
    expect(await tested.exchange(root, revoke)).toEqual(['AdminRevokePermission AdminRevokePermission']);
    expect(await tested.exchange(alice, publish('q', 'm1'))).toEqual(['Error m1 NOT_AUTHORIZED']);
    const grant = { username: 'alice', queuePattern: 'Q', operations: ['Publish'] };
    await tested.exchange(root, admin('AdminGrantPermission', grant));
    expect(await tested.exchange(alice, publish('q', 'm2'))).toEqual(['PublishAck m2 q']);
  });

  it('that takes the right to subscribe ends the subscription at once [AUTH-026]', async () => {
    const { tested, root, as } = await party();
    const alice = await as('alice', 'pw');
    await tested.exchange(alice, subscribe('q'));
    await tested.exchange(root, admin('AdminRevokePermission', { username: 'alice', queuePattern: '*' }));
    await tested.exchange(root, publish('q', 'm1'));
    expect(alice.lines()).toEqual([]);
    expect(tested.broker.queueInfo('q')).toMatchObject({ messageCount: 1, subscriberCount: 0 });
  });

  it('that deletes a user closes its connections and no others [AUTH-028]', async () => {
    const { tested, root, as } = await party();
    const [one, two] = [await as('alice', 'pw'), await as('alice', 'pw')];
    await tested.exchange(root, admin('AdminDeleteUser', { username: 'alice' }));
    expect([one.isOver, two.isOver, root.isOver]).toEqual([true, true, false]);
    await expect(as('alice', 'pw')).rejects.toThrow('handshake');
  });

  it('of a password closes the connections of the user but the one that asked [AUTH-029, AUTH-037]', async () => {
    const { tested, as } = await party();
    const [one, two] = [await as('alice', 'pw'), await as('alice', 'pw')];
    const change = admin('AdminChangePassword', { username: 'alice', newPassword: 'new' });
    expect(await tested.exchange(one, change, ping())).toEqual([
      'AdminChangePassword AdminChangePassword',
      'Pong ping',
    ]);
    expect([one.isOver, two.isOver]).toEqual([false, true]);
    await expect(as('alice', 'pw')).rejects.toThrow('handshake');
    await expect(as('alice', 'new')).resolves.toBeDefined();
  });
});
