// Each limit below, at and one above its value: what is refused then, that it is counted under its kind, and that the log tells it once.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ZlibCompressor } from '../compression/zlib-compressor.ts';
import { testSettings } from '../testing/broker-harness.ts';
import type { BrokerOptions } from '../testing/composed-broker.ts';
import { GatedStore } from '../testing/gated-store.ts';
import { InstantHashing } from '../testing/instant-hashing.ts';
import { ping, publish, subscribe, TestedBroker, testOptions } from '../testing/tested-broker.ts';
import { type BodyParts, bodyBytes, frameBytes } from '../testing/wire-bytes.ts';
import { framesOf } from '../testing/wire-client.ts';
import type { LimitKind } from './limit-events.ts';

type Refusal = {
  readonly kind: LimitKind;
  readonly options?: Partial<BrokerOptions>;
  /** What goes before, and is no part of the limit. */
  readonly before?: readonly BodyParts[];
  /** Below the limit and at it. */
  readonly allowed: readonly BodyParts[];
  readonly refused: BodyParts;
  readonly code: string;
};

const broker = (settings: Partial<BrokerOptions['broker']>) => ({ broker: { ...testSettings, ...settings } });
const create = (queue: string, fields: object = {}): BodyParts => ({
  command: 40,
  id: queue,
  queue,
  payload: JSON.stringify(fields),
});
const withHeaders = (count: number, id: string) =>
  publish('q', id, { headers: Array.from({ length: count }, (_, index) => [`h${index}`, 'v'] as const) });
const withValue = (length: number, id: string) => publish('q', id, { headers: [['h', 'v'.repeat(length)]] });

const MAX_BODY_BYTES = 300;
const ofLength = (length: number, id: string): BodyParts => {
  const { length: restLength } = bodyBytes(publish('q', id, { payload: '""' }));
  return publish('q', id, { payload: `"${'x'.repeat(length - restLength)}"` });
};

/** What one message of the tests weighs in the account. */
async function weightOfOne(): Promise<number> {
  const tested = new TestedBroker();
  await tested.exchange(await tested.connect(), publish('q', 'm1'));
  return tested.broker.stats().queuedBytes;
}

const refusals: Readonly<Record<string, Refusal>> = {
  'the bytes of a message [FRAME-003, FRAME-005]': {
    kind: 'messageSize',
    options: {
      limits: {
        ...testOptions.limits,
        maxMessageSizeBytes: MAX_BODY_BYTES,
        maxDecompressedSizeBytes: MAX_BODY_BYTES,
      },
    },
    allowed: [ofLength(MAX_BODY_BYTES - 1, 'm1'), ofLength(MAX_BODY_BYTES, 'm2')],
    refused: ofLength(MAX_BODY_BYTES + 1, 'm3'),
    code: 'MESSAGE_TOO_LARGE',
  },
  'the bytes of an id [BODY-015, BODY-016]': {
    kind: 'malformedMessages',
    allowed: [publish('q', 'i'.repeat(255)), publish('q', 'i'.repeat(256))],
    refused: publish('q', 'i'.repeat(257)),
    code: 'INVALID_MESSAGE',
  },
  'the length of a queue name [BODY-022, BODY-023]': {
    kind: 'malformedMessages',
    allowed: [publish('q'.repeat(255), 'm1'), publish('q'.repeat(256), 'm2')],
    refused: publish('q'.repeat(257), 'm3'),
    code: 'INVALID_MESSAGE',
  },
  'the number of headers [BODY-025, BODY-026]': {
    kind: 'malformedMessages',
    allowed: [withHeaders(49, 'm1'), withHeaders(50, 'm2')],
    refused: withHeaders(51, 'm3'),
    code: 'INVALID_MESSAGE',
  },
  'the length of a header value [BODY-027, BODY-028]': {
    kind: 'malformedMessages',
    allowed: [withValue(4095, 'm1'), withValue(4096, 'm2')],
    refused: withValue(4097, 'm3'),
    code: 'INVALID_MESSAGE',
  },
  'the number of queues [LIMIT-016]': {
    kind: 'queuesAndSubscriptions',
    options: broker({ maxQueues: 2 }),
    allowed: [create('a'), create('b')],
    refused: create('c'),
    code: 'LIMIT_EXCEEDED',
  },
  'the number of subscriptions of a connection [LIMIT-017]': {
    kind: 'queuesAndSubscriptions',
    options: broker({ maxSubscriptionsPerConnection: 2 }),
    allowed: [subscribe('a'), subscribe('b')],
    refused: subscribe('c'),
    code: 'LIMIT_EXCEEDED',
  },
  'the number of blocked publishes of a connection [OVERFLOW-020]': {
    kind: 'fullQueues',
    options: broker({ maxBlockedPublishes: 2 }),
    before: [create('full', { maxQueueSize: 1, overflowStrategy: 2 }), publish('full', 'm0')],
    allowed: [publish('full', 'm1'), publish('full', 'm2')],
    refused: publish('full', 'm3'),
    code: 'QUEUE_FULL',
  },
  'the publishes of a client in a second [LIMIT-001, LIMIT-002]': {
    kind: 'messageRate',
    options: {
      rateLimit: {
        maxConnectionsPerIpPerWindow: 20,
        connectionWindowMs: 60_000,
        maxMessagesPerClientPerSecond: 2,
      },
    },
    allowed: [publish('q', 'm1'), publish('q', 'm2')],
    refused: publish('q', 'm3'),
    code: 'RATE_LIMITED',
  },
};

describe('one more than the limit is refused, counted and told once:', () => {
  it.each(Object.entries(refusals))(
    '%s',
    async (_, { kind, options, before = [], allowed, refused, code }) => {
      const tested = new TestedBroker(options);
      const client = await tested.connect();
      const lines = await tested.exchange(client, ...before, ...allowed);
      expect(lines.filter((line) => line.startsWith('Error'))).toEqual([]);
      expect(tested.broker.stats().limitCounts[kind]).toBe(0);
      const loggedBefore = tested.logged.length;
      expect(await tested.exchange(client, refused)).toEqual([
        expect.stringMatching(new RegExp(`^Error .*${code}$`)),
      ]);
      expect(tested.broker.stats().limitCounts[kind]).toBe(1);
      expect(tested.logged).toHaveLength(loggedBefore + 1);
    },
  );
});

it('bounds the bytes of all messages held at the value, not one below and not one above it [LIMIT-013]', async () => {
  const weight = await weightOfOne();
  const acceptedWith = async (maxQueuedBytes: number) => {
    const tested = new TestedBroker(broker({ maxQueuedBytes }));
    const lines = await tested.exchange(
      await tested.connect(),
      publish('q', 'm1'),
      publish('q', 'm2'),
      publish('q', 'm3'),
    );
    return [
      lines.filter((line) => line.startsWith('PublishAck')).length,
      tested.broker.stats().limitCounts.memory,
    ];
  };
  expect(await acceptedWith(2 * weight - 1)).toEqual([1, 2]);
  expect(await acceptedWith(2 * weight)).toEqual([2, 1]);
  expect(await acceptedWith(2 * weight + 1)).toEqual([2, 1]);
});

describe('connections', () => {
  it('are taken up to the limit; the one above is counted [LIMIT-012]', async () => {
    const tested = new TestedBroker({ maxConnections: 2 });
    await tested.connect();
    await tested.connect();
    expect(tested.broker.stats().limitCounts.connections).toBe(0);
    tested.attach();
    await tested.settle();
    expect(tested.broker.stats().limitCounts.connections).toBe(1);
  });

  it('are all counted that are one too many, also those that get no Error, and told once [LIMIT-012]', async () => {
    const tested = new TestedBroker({ maxConnections: 1 });
    await tested.connect();
    for (let count = 0; count < 500; count += 1) tested.attach();
    await tested.settle();
    expect(tested.broker.stats().limitCounts.connections).toBe(500);
    expect(tested.logged).toHaveLength(1);
  });

  it('of one address are taken up to the limit; the one above is counted [LIMIT-009]', async () => {
    const rateLimit = {
      maxConnectionsPerIpPerWindow: 2,
      connectionWindowMs: 60_000,
      maxMessagesPerClientPerSecond: 1,
    };
    const tested = new TestedBroker({ rateLimit });
    await tested.connect();
    await tested.connect();
    expect(tested.broker.stats().limitCounts.connectionsPerAddress).toBe(0);
    tested.attach();
    await tested.settle();
    expect(tested.broker.stats().limitCounts.connectionsPerAddress).toBe(1);
    expect(tested.logged).toHaveLength(1);
  });
});

describe('password checks', () => {
  const superuser = { username: 'root', password: 'pw' };
  const connect: BodyParts = {
    command: 0,
    id: 'connect',
    headers: [
      ['authUsername', superuser.username],
      ['authPassword', superuser.password],
    ],
  };
  const createUser: BodyParts = {
    command: 50,
    id: 'create',
    payload: JSON.stringify({ username: 'bob', password: 'pw' }),
  };

  /** A broker with a connected superuser that checks one password, while so many more wait, each of another address. */
  async function brokerWith(waitingCount: number) {
    const hashing = new InstantHashing();
    const tested = new TestedBroker({}, { credentials: { superuser }, hashing });
    const root = await tested.connect({}, connect.headers);
    hashing.isHeld = true;
    for (let index = 0; index <= waitingCount; index += 1)
      await tested.exchange(tested.attach({ address: `198.51.100.${index}` }), connect);
    return { tested, root };
  }

  it('wait up to the limit; the Connect above it is refused, counted as that and told once [AUTH-013, AUTH-015]', async () => {
    const { tested } = await brokerWith(31);
    expect(await tested.exchange(tested.attach(), connect)).toEqual([]);
    expect(tested.broker.stats().limitCounts.passwordChecks).toBe(0);
    expect(await tested.exchange(tested.attach(), connect)).toEqual(['Error connect RATE_LIMITED']);
    expect(tested.broker.stats().limitCounts).toMatchObject({ passwordChecks: 1, messageRate: 0 });
    expect(tested.logLines.filter(({ level }) => level !== 'debug')).toEqual([
      {
        level: 'info',
        sentence: 'as many passwords wait to be checked as may',
        fields: { connection: 35, address: '192.0.2.1', code: 'RATE_LIMITED' },
      },
    ]);
  });

  it.each([
    [31, [], 0],
    [32, ['Error create RATE_LIMITED'], 1],
  ])(
    'wait with those of admin commands: of one behind %i others [AUTH-013]',
    async (waiting, answers, count) => {
      const { tested, root } = await brokerWith(waiting);
      expect(await tested.exchange(root, createUser)).toEqual(answers);
      expect(tested.broker.stats().limitCounts).toMatchObject({ passwordChecks: count, messageRate: 0 });
      expect(tested.logged).toHaveLength(count);
    },
  );
});

describe('users and permissions', () => {
  const grant = (pattern: string): BodyParts => ({
    command: 53,
    id: pattern,
    payload: JSON.stringify({ username: 'alice', queuePattern: pattern, operations: ['Publish'] }),
  });
  const createUser = (username: string): BodyParts => ({
    command: 50,
    id: username,
    payload: JSON.stringify({ username, password: 'pw' }),
  });

  it.each([
    ['users [AUTH-060]', [], createUser('bob')],
    ['permissions of a user [AUTH-061]', [grant('a'), grant('b')], grant('c')],
  ])(
    'are kept up to the limit; the one above is counted as that and told once: %s',
    async (_, allowed, refused) => {
      const credentials = {
        superuser: { username: 'root', password: 'pw' },
        limits: { maxUsers: 2, maxEntriesPerUser: 2 },
      };
      const tested = new TestedBroker({}, { credentials });
      const root = await tested.connect({}, [
        ['authUsername', 'root'],
        ['authPassword', 'pw'],
      ]);
      const lines = await tested.exchange(root, createUser('alice'), ...allowed);
      expect(lines.filter((line) => line.startsWith('Error'))).toEqual([]);
      expect(tested.broker.stats().limitCounts.usersAndPermissions).toBe(0);
      expect(await tested.exchange(root, refused)).toEqual([`Error ${refused.id} LIMIT_EXCEEDED`]);
      const counts = { usersAndPermissions: 1, queuesAndSubscriptions: 0 };
      expect(tested.broker.stats().limitCounts).toMatchObject(counts);
      expect(tested.logLines.filter(({ level }) => level !== 'debug')).toEqual([
        {
          level: 'info',
          sentence: 'there are as many users, or a user has as many permissions, as may be',
          fields: { connection: 1, address: '192.0.2.1', code: 'LIMIT_EXCEEDED' },
        },
      ]);
    },
  );
});

describe('a timeout', () => {
  const timeouts = { handshakeTimeoutMs: 100, frameTimeoutMs: 200, idleTimeoutMs: 300 };

  it.each([
    ['handshakeTimeout', 'CONN-014', 100, Buffer.alloc(0)],
    [
      'frameTimeout',
      'CONN-016',
      200,
      Buffer.concat([framesOf({ command: 0, id: 'c' }), Buffer.from([0, 0])]),
    ],
    ['idleTimeout', 'CONN-017', 300, framesOf({ command: 0, id: 'c' })],
  ] as const)(
    'ends a connection at its value and not before, counts and tells it: %s [%s]',
    async (kind, _requirement, afterMs, bytes) => {
      const tested = new TestedBroker({ timeouts });
      const client = tested.attach();
      if (bytes.length > 0) client.sendRaw(bytes);
      await tested.advance(afterMs - 1);
      expect([client.isOver, tested.broker.stats().limitCounts[kind]]).toEqual([false, 0]);
      await tested.advance(1);
      expect([client.isOver, tested.broker.stats().limitCounts[kind]]).toEqual([true, 1]);
      expect(tested.logged).toHaveLength(1);
    },
  );
});

describe('reading', () => {
  const rateLimit = {
    maxConnectionsPerIpPerWindow: 20,
    connectionWindowMs: 60_000,
    maxMessagesPerClientPerSecond: 5,
  };

  it('waits when a client does not read its answers, which is counted and told [LIMIT-015]', async () => {
    const tested = new TestedBroker({ maxOutboundBytes: 1000 });
    const client = await tested.connect();
    client.stream.pause();
    // As much as a virtual line holds comes first.
    client.send(...Array.from({ length: 5000 }, (_, index) => ping(`p${index}`)));
    await tested.settle();
    expect(tested.broker.stats().limitCounts.unsentOutput).toBeGreaterThan(0);
    expect(tested.logged).toHaveLength(1);
  });

  it('waits when a client sends faster than the store stores, which is counted and told [LIMIT-018]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({ maxPendingInputBytes: 1000 }, { store });
    const client = await tested.connect();
    client.send(...Array.from({ length: 10 }, (_, index) => publish('q', `m${index}`)));
    await tested.settle();
    expect(tested.broker.stats().limitCounts.pendingInput).toBe(1);
    expect(tested.logged).toHaveLength(1);
    store.release();
  });

  const broken = (id: string): BodyParts => ({ command: 40, id, queue: 'q', payload: '{' });

  it('goes on in the next millisecond when a client publishes much at once, and nobody else waits [LIMIT-027]', async () => {
    const tested = new TestedBroker({ rateLimit: { ...rateLimit, maxMessagesPerClientPerSecond: 1000 } });
    const [greedy, modest] = [await tested.connect(), await tested.connect()];
    const messages = Array.from({ length: 20 }, (_, index) => publish('q', `m${index}`));
    expect(await tested.exchange(greedy, ...messages)).toHaveLength(16);
    expect(await tested.exchange(modest, publish('q', 'other'))).toEqual(['PublishAck other q']);
    await tested.advance(1);
    expect(await tested.exchange(greedy)).toHaveLength(4);
  });

  it('goes on in the next millisecond when a client acknowledges more than it was sent [LIMIT-030]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const client = await tested.connect();
    const acks = Array.from({ length: 16 }, (_, index): BodyParts => ({ command: 30, id: `m${index}` }));
    await tested.exchange(client, subscribe('q'), publish('q', 'm0'));
    await tested.advance(1);
    expect(await tested.exchange(client, ...acks, ping('p1'))).toEqual(['Pong p1']);
    await tested.advance(1);
    expect(await tested.exchange(client, ...acks, ping('p2'))).toEqual([]);
    await tested.advance(1);
    expect(await tested.exchange(client)).toEqual(['Pong p2']);
  });

  it('waits when a client was refused too much in a second, which is counted and told [LIMIT-026]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const client = await tested.connect();
    const refused = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, index) => broken(`${prefix}${index}`));
    expect(await tested.exchange(client, ...refused(999, 'a'), ping('p1'))).toContain('Pong p1');
    expect(tested.broker.stats().limitCounts.refusals).toBe(0);
    expect(await tested.exchange(client, ...refused(1, 'b'))).toEqual([expect.stringMatching(/^Error b0/)]);
    expect(tested.broker.stats().limitCounts.refusals).toBe(1);
    expect(tested.logged).toContain('a client goes on sending what is refused: reading from it waits');
    expect(await tested.exchange(client, ping('p2'), publish('q', 'm'))).toEqual([]);
    await tested.advance(999);
    expect(await tested.exchange(client)).toEqual([]);
    await tested.advance(1);
    expect(await tested.exchange(client)).toEqual(['Pong p2', 'PublishAck m q']);
  });

  it.each<[string, Buffer]>([
    ['is no command', Buffer.alloc(1_048_576, 'x')],
    [
      'is a command with a field that is wrong',
      bodyBytes(publish('q', '', { payload: ' '.repeat(1_048_000) })),
    ],
  ])('waits for each large body that was decompressed and %s [LIMIT-028]', async (_, body) => {
    const tested = new TestedBroker(
      { rateLimit },
      { compressor: new ZlibCompressor({ inPlaceOutputBytes: 2_000_000 }) },
    );
    const client = await tested.connect();
    const bomb = frameBytes(gzipSync(body), 1);
    client.sendRaw(Buffer.concat([bomb, bomb]));
    client.send(ping());
    await tested.settle();
    expect(client.lines()).toHaveLength(1);
    await tested.advance(Math.floor(body.length / 32_768) - 1);
    expect(client.lines()).toEqual([]);
    await tested.advance(1);
    expect(client.lines()).toHaveLength(1);
    await tested.advance(32);
    expect(client.lines()).toEqual(['Pong ping']);
  });

  it('does not wait for a large body that was carried out, nor for one again that was refused [LIMIT-028]', async () => {
    const tested = new TestedBroker(
      { rateLimit },
      { compressor: new ZlibCompressor({ inPlaceOutputBytes: 2_000_000 }) },
    );
    const client = await tested.connect();
    const large = (id: string) =>
      frameBytes(gzipSync(bodyBytes({ command: 10, id, payload: ' '.repeat(60_000) })), 1);
    const notCompressed = frameBytes(Buffer.alloc(100, 'x'));
    client.sendRaw(Buffer.concat([large('good'), notCompressed, large('good too')]));
    client.send(ping('last'));
    await tested.settle();
    expect(client.lines().map((line) => line.slice(0, 9))).toEqual([
      'Pong good',
      'Error fre',
      'Pong good',
      'Pong last',
    ]);
    client.sendRaw(Buffer.concat([large(''), notCompressed]));
    client.send(ping());
    await tested.settle();
    expect(client.lines()).toHaveLength(1);
    await tested.advance(1);
    expect(client.lines()).toHaveLength(2);
  });

  it('does not wait for a large body where rates are not limited [LIMIT-028]', async () => {
    const tested = new TestedBroker(
      {},
      { compressor: new ZlibCompressor({ inPlaceOutputBytes: 2_000_000 }) },
    );
    const client = await tested.connect();
    client.sendRaw(frameBytes(gzipSync(Buffer.alloc(1_048_576, 'x')), 1));
    client.send(ping());
    await tested.settle();
    expect(client.lines()).toEqual([expect.stringMatching(/^Error /), 'Pong ping']);
  });

  it('of others goes on meanwhile, and of all where rates are not limited [LIMIT-020, LIMIT-026]', async () => {
    const limited = new TestedBroker({ rateLimit });
    const [greedy, modest] = [await limited.connect(), await limited.connect()];
    const refused = Array.from({ length: 1500 }, (_, index) => broken(`r${index}`));
    expect(await limited.exchange(greedy, ...refused, ping())).not.toContain('Pong ping');
    expect(await limited.exchange(modest, ping())).toEqual(['Pong ping']);
    const unlimited = new TestedBroker();
    expect(await unlimited.exchange(await unlimited.connect(), ...refused, ping())).toContain('Pong ping');
  });
});
