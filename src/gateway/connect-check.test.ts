// The handshake with credentials, over the whole way from bytes to the core: outcomes at once and later, and what happens to a connection
// while its credentials are checked.

import { describe, expect, it } from 'vitest';
import { QueueOperation } from '../model/access.ts';
import { openMemoryStore } from '../storage/memory/memory-store.ts';
import type { StorageProvider } from '../storage/storage-provider.ts';
import { FakeUsers, SUPERUSER } from '../testing/fake-users.ts';
import { GatedStore } from '../testing/gated-store.ts';
import { ping, publish, TestedBroker } from '../testing/tested-broker.ts';
import { type BodyParts, bodyBytes, frameBytes } from '../testing/wire-bytes.ts';

function connect(headers: Readonly<Record<string, string>>, id = 'connect'): BodyParts {
  return { command: 0, id, headers: Object.entries(headers) };
}

function asUser(username: string, password: string, id?: string): BodyParts {
  return connect({ authUsername: username, authPassword: password }, id);
}

const superuser = asUser(SUPERUSER.username, SUPERUSER.password);

function testedBroker(users = new FakeUsers()) {
  const tested = new TestedBroker({}, { users });
  return { tested, users };
}

describe('a Connect', () => {
  it('hands over the credentials that it carries, and nothing else [AUTH-007]', async () => {
    const { tested, users } = testedBroker(new FakeUsers({ token: 'the token' }));
    await tested.exchange(tested.attach(), connect({ authToken: 'the token', clientVersion: '1' }));
    await tested.exchange(tested.attach(), superuser);
    await tested.exchange(tested.attach(), connect({}));
    expect(users.asked).toEqual([{ token: 'the token' }, SUPERUSER, {}]);
  });

  it('is answered by the code of the refusal, and another one may follow [AUTH-002, AUTH-003, AUTH-004, AUTH-006, AUTH-008]', async () => {
    const { tested } = testedBroker();
    const client = tested.attach();
    expect(
      await tested.exchange(
        client,
        connect({}, 'none'),
        asUser(SUPERUSER.username, 'wrong', 'wrong'),
        publish('q', 'early'),
        superuser,
        ping(),
      ),
    ).toEqual([
      'Error none AUTH_REQUIRED',
      'Error wrong AUTH_FAILED',
      'Error early NOT_AUTHENTICATED',
      'ConnectAck connect',
      'Pong ping',
    ]);
  });

  it('that is the third one to be refused ends the connection [AUTH-009]', async () => {
    const { tested } = testedBroker();
    const client = tested.attach();
    const wrong = ['1', '2', '3', '4'].map((id) => asUser('nobody', 'wrong', id));
    expect(await tested.exchange(client, ...wrong)).toEqual([
      'Error 1 AUTH_FAILED',
      'Error 2 AUTH_FAILED',
      'Error 3 AUTH_FAILED',
    ]);
    expect(client.isOver).toBe(true);
  });

  it('ends the connection when the refusal says so [AUTH-015]', async () => {
    const users = new FakeUsers();
    users.check = () => ({ kind: 'refused', code: 'RATE_LIMITED', text: 'Too many.', closes: true });
    const { tested } = testedBroker(users);
    const client = tested.attach();
    expect(await tested.exchange(client, superuser, ping())).toEqual(['Error connect RATE_LIMITED']);
    expect(client.isOver).toBe(true);
  });

  it('opens a connection with the rights of its user [AUTH-005, AUTH-016, AUTH-021]', async () => {
    const { tested, users } = testedBroker();
    users.setUser('alice', 'pw', [{ queuePattern: 'orders.*', operations: [QueueOperation.Publish] }]);
    const client = tested.attach();
    expect(
      await tested.exchange(
        client,
        asUser('alice', 'pw'),
        publish('orders.eu', 'm1'),
        publish('secret', 'm2'),
      ),
    ).toEqual(['ConnectAck connect', 'PublishAck m1 orders.eu', 'Error m2 NOT_AUTHORIZED']);
  });

  it('with the token alone opens one with all rights on queues [AUTH-001, AUTH-032]', async () => {
    const { tested } = testedBroker(new FakeUsers({ token: 'the token' }));
    const client = tested.attach();
    expect(await tested.exchange(client, connect({ authToken: 'the token' }), publish('q', 'm1'))).toEqual([
      'ConnectAck connect',
      'PublishAck m1 q',
    ]);
  });

  it('gets SERVER_ERROR when its check fails by a fault of the broker, and the next one is served [ERROR-005]', async () => {
    for (const isHolding of [false, true]) {
      const { tested, users } = testedBroker();
      Object.assign(users, { isHolding, nextFault: new Error('a hash that no user has') });
      const client = tested.attach();
      client.send(superuser);
      await tested.settle();
      users.release();
      expect(await tested.exchange(client)).toEqual(['Error connect SERVER_ERROR']);
      expect(client.isOver).toBe(true);
      expect(tested.logged).toEqual(['a command failed']);
      users.isHolding = false;
      expect(await tested.exchange(tested.attach(), superuser)).toEqual(['ConnectAck connect']);
    }
  });
});

/** A client whose credentials are being checked. */
async function underCheck(store: StorageProvider = openMemoryStore()) {
  const users = new FakeUsers();
  users.isHolding = true;
  const tested = new TestedBroker({}, { users, store });
  const { client, server } = tested.attachWithServer();
  client.send(superuser);
  await tested.settle();
  expect(users.heldCount).toBe(1);
  return { users, tested, client, server };
}

describe('while credentials are checked', () => {
  it('what follows the Connect waits, and others are served [AUTH-012, CONN-032]', async () => {
    const { users, tested, client } = await underCheck();
    expect(await tested.exchange(client, ping('behind'), publish('q', 'm1'))).toEqual([]);
    const other = tested.attach();
    expect(await tested.exchange(other, ping('other'))).toEqual(['Pong other']);
    users.release();
    expect(await tested.exchange(client)).toEqual(['ConnectAck connect', 'Pong behind', 'PublishAck m1 q']);
  });

  it('a refusal comes later, and what follows it is judged then [AUTH-004]', async () => {
    const { users, tested } = await underCheck();
    const client = tested.attach();
    client.send(asUser('nobody', 'wrong', 'wrong'), publish('q', 'm1'));
    await tested.settle();
    users.release();
    users.release();
    expect(await tested.exchange(client)).toEqual(['Error wrong AUTH_FAILED', 'Error m1 NOT_AUTHENTICATED']);
  });

  it('a broken connection ends the check, and its outcome changes nothing', async () => {
    const { users, tested, server } = await underCheck();
    server.destroy();
    await tested.settle();
    expect(users.cancelledCount).toBe(1);
    expect(tested.broker.stats().activeConnectionCount).toBe(0);
    users.release();
    await tested.settle();
    expect(tested.broker.stats().activeConnectionCount).toBe(0);
  });

  it('a client that ends its side still gets the answers to what it sent [CONN-041]', async () => {
    const { users, tested, client } = await underCheck();
    client.send(ping('last'));
    client.stream.end();
    await tested.settle();
    expect([users.cancelledCount, client.isOver]).toEqual([0, false]);
    users.release();
    await tested.settle();
    expect(client.lines()).toEqual(['ConnectAck connect', 'Pong last']);
    expect(client.isOver).toBe(true);
  });

  it('a broker that shuts down closes the connection and ends the check [SHUTDOWN-008]', async () => {
    const { users, tested, client } = await underCheck();
    const drained = tested.broker.drain();
    await tested.settle();
    await drained;
    expect(users.cancelledCount).toBe(1);
    users.release();
    await tested.settle();
    expect(client.lines()).toEqual([]);
    expect(client.isOver).toBe(true);
  });

  it('a store that fails closes the connection and ends the check [DURABLE-018]', async () => {
    const store = new GatedStore();
    const { users, tested, client } = await underCheck(store);
    users.isHolding = false;
    const publisher = tested.attach();
    publisher.send(superuser, publish('q', 'm1'));
    await tested.settle();
    store.fail(new Error('disk full'));
    await tested.settle();
    expect(users.cancelledCount).toBe(1);
    users.release();
    expect(await tested.exchange(client)).toEqual(['Disconnect fresh-1']);
    expect(client.isOver).toBe(true);
  });

  it('the broker stops reading when too much waits behind the Connect, and reads on afterwards', async () => {
    const { users, tested, client, server } = await underCheck();
    const pings = Array.from({ length: 40 }, (_, index) => ping(`p${index}`));
    const payload = `"${'x'.repeat(100_000)}"`;
    client.send(publish('q', 'm1', { payload }), ...pings);
    await tested.settle();
    expect(server.isPaused()).toBe(true);
    users.release();
    await tested.settle();
    expect(server.isPaused()).toBe(false);
    expect(client.lines()[0]).toBe('ConnectAck connect');
  });

  it('a frame that is in parts behind the Connect does not time out [CONN-015]', async () => {
    const { users, tested, client } = await underCheck();
    const bytes = frameBytes(bodyBytes(ping('in parts')));
    client.sendRaw(bytes.subarray(0, 9));
    await tested.advance(60_000);
    expect(client.isOver).toBe(false);
    users.release();
    await tested.settle();
    client.sendRaw(bytes.subarray(9));
    expect(await tested.exchange(client)).toEqual(['ConnectAck connect', 'Pong in parts']);
  });
});
