// The client library against a scripted broker, over a pair of streams: the handshake, what it sends, what it makes of answers, and
// how it ends. Subscriptions are in client-subscribe.test.ts.

import { Duplex, duplexPair } from 'node:stream';
import { brotliDecompressSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectPair, payloadText } from '../testing/connected-pair.ts';
import { type ClientFrame, ScriptedBroker } from '../testing/scripted-broker.ts';
import { bodyBytes, frameBytes } from '../testing/wire-bytes.ts';
import type { Inflate } from '../testing/wire-client.ts';
import {
  CommandError,
  CommandTimeoutError,
  ConnectionError,
  connect,
  MessageTooLargeError,
  ProtocolError,
} from './index.ts';
import { toSettings } from './options.ts';

afterEach(() => {
  vi.useRealTimers();
});

const inflate: Inflate = (flags, body) => (flags === 2 ? brotliDecompressSync(body) : body);

describe('the handshake', () => {
  it('sends one uncompressed Connect with credentials and compressions [CLIENT-002, CLIENT-003, CLIENT-034]', async () => {
    const { connectFrame } = await connectPair({
      compressionThresholdBytes: 0,
      authToken: 'token',
      username: 'ann',
      password: 'secret',
    });
    expect(connectFrame).toMatchObject({ flags: 0, command: 0, queue: '' });
    expect(Object.fromEntries(connectFrame.headers)).toEqual({
      authToken: 'token',
      authUsername: 'ann',
      authPassword: 'secret',
      'supported-compression': 'brotli,gzip',
    });
  });

  it('takes the next frame for the answer whatever its id, and learns what the broker can do [CLIENT-037]', async () => {
    const { client } = await connectPair({ welcome: [['capabilities', 'nack, maxInFlight']] });
    expect([...client.capabilities]).toEqual(['nack', 'maxInFlight']);
  });

  it("fails with the broker's Error when refused [CLIENT-037]", async () => {
    const [near, far] = duplexPair();
    const broker = new ScriptedBroker(far);
    const refused = expect(connect({ stream: near })).rejects.toMatchObject({
      name: 'CommandError',
      code: 'CONNECTION_LIMIT',
    });
    await broker.take();
    broker.send({ command: 99, id: 'fresh', errorCode: 'CONNECTION_LIMIT', errorMessage: 'too many' });
    await refused;
  });

  it('says to try again later when too many passwords wait to be checked', async () => {
    const [near, far] = duplexPair();
    const broker = new ScriptedBroker(far);
    const refused = expect(connect({ stream: near })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      command: 'Connect',
      advice: expect.stringMatching(/^Try again later/),
    });
    await broker.take();
    broker.send({ command: 99, id: 'fresh', errorCode: 'RATE_LIMITED', errorMessage: 'too many' });
    await refused;
  });

  it('fails when the broker closes without an answer', async () => {
    const [near, far] = duplexPair();
    const broker = new ScriptedBroker(far);
    const failed = expect(connect({ stream: near })).rejects.toThrow(ConnectionError);
    broker.end();
    await failed;
  });

  it('fails when the broker is silent for longer than the command timeout [CLIENT-009]', async () => {
    vi.useFakeTimers();
    const [near, far] = duplexPair();
    new ScriptedBroker(far);
    const failed = expect(connect({ stream: near })).rejects.toThrow(
      new CommandTimeoutError('Connect', 10_000),
    );
    await vi.advanceTimersByTimeAsync(9_999);
    expect(near.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await failed;
    expect(near.destroyed).toBe(true);
  });
});

describe('publish', () => {
  it('sends queue, payload, headers, priority and id, and resolves with the id at the PublishAck [CLIENT-001, CLIENT-040]', async () => {
    const { client, broker } = await connectPair();
    const published = client.publish('orders', { n: 1 }, { headers: { a: 'b' }, priority: 'High', id: 'm1' });
    const frame = await broker.take();
    expect(frame).toMatchObject({
      command: 20,
      id: 'm1',
      queue: 'orders',
      headers: [
        ['a', 'b'],
        ['priority', 'High'],
      ],
    });
    expect(payloadText(frame)).toBe('{"n":1}');
    broker.send({ command: 21, id: 'm1', queue: 'orders' });
    await expect(published).resolves.toBe('m1');
  });

  it('sends its priority in place of that in the headers, which may be those of a delivery [CLIENT-040]', async () => {
    const { client, broker } = await connectPair();
    const headers = { priority: 'as another program wrote it', a: 'b' };
    const published = client.publish('orders', 1, { headers, priority: 'Low', id: 'm1' });
    const sent = [
      ['priority', 'Low'],
      ['a', 'b'],
    ];
    expect(await broker.take()).toMatchObject({ headers: sent });
    broker.send({ command: 21, id: 'm1', queue: 'orders' });
    await expect(published).resolves.toBe('m1');
  });

  it.each([
    [Buffer.from('{ "as": "it is" }'), '{ "as": "it is" }'],
    [new Uint8Array([0x31]), '1'],
    ['text', '"text"'],
    [null, 'null'],
    [undefined, ''],
  ])('sends %j as %j', async (value, text) => {
    const { client, broker } = await connectPair();
    const published = client.publish('orders', value);
    const frame = await broker.take();
    broker.send({ command: 21, id: frame.id });
    await published;
    expect(payloadText(frame)).toBe(text);
  });

  it('refuses what is no JSON, what is too large, and an id that is under way', async () => {
    const { client, broker } = await connectPair({ maxMessageSizeBytes: 1_000 });
    await expect(client.publish('orders', () => 1)).rejects.toThrow(TypeError);
    await expect(client.publish('orders', 'x'.repeat(1_000), { id: 'm' })).rejects.toThrow(
      MessageTooLargeError,
    );
    const published = client.publish('orders', 1, { id: 'm' });
    await expect(client.publish('orders', 2, { id: 'm' })).rejects.toThrow(/"m" is under way/);
    await broker.take();
    broker.send({ command: 21, id: 'm' });
    await published;
  });

  it('fails with the Error that carries its id and leaves others alone [CLIENT-036]', async () => {
    const { client, broker } = await connectPair();
    const full = expect(client.publish('orders', 1, { id: 'm1' })).rejects.toThrow(
      new CommandError('QUEUE_FULL', 'no room', { command: 'Publish', queue: 'orders' }),
    );
    const published = client.publish('orders', 2, { id: 'm2' });
    await broker.take();
    await broker.take();
    broker.send(
      { command: 99, id: 'm1', errorCode: 'QUEUE_FULL', errorMessage: 'no room' },
      { command: 21, id: 'm2' },
    );
    await full;
    await expect(published).resolves.toBe('m2');
  });

  it('fails after the command timeout, and a late answer disturbs nothing [CLIENT-009]', async () => {
    const { client, broker } = await connectPair({ commandTimeoutMs: 5_000 });
    vi.useFakeTimers();
    const failed = expect(client.publish('orders', 1, { id: 'm1' })).rejects.toThrow(
      new CommandTimeoutError('Publish', 5_000, 'orders'),
    );
    await vi.advanceTimersByTimeAsync(5_000);
    await failed;
    vi.useRealTimers();
    await broker.take();
    broker.send({ command: 21, id: 'm1' });
    const pinged = client.ping();
    const ping = await broker.take();
    broker.send({ command: 11, id: ping.id });
    await pinged;
  });

  it('gathers the frames of one turn into one write', async () => {
    const writes: number[] = [];
    const stream = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        writes.push(chunk.length);
        done();
      },
    });
    const connecting = connect({ stream });
    stream.push(frameBytes(bodyBytes({ command: 1 })));
    const client = await connecting;
    const published = Promise.allSettled(
      [1, 2, 3].map((value) => client.publish('orders', value, { id: `m${value}` })),
    );
    const frameLength = frameBytes(
      bodyBytes({ command: 20, id: 'm1', queue: 'orders', payload: '1' }),
    ).length;
    await vi.waitFor(() => expect(writes.slice(1)).toEqual([3 * frameLength]));
    stream.destroy();
    await published;
  });
});

describe('compression', () => {
  const large = { text: 'x'.repeat(5_000) };

  it('compresses bodies from the threshold on, once agreed [CLIENT-004]', async () => {
    const { client, broker } = await connectPair({
      inflate,
      welcome: [['negotiated-compression', 'brotli']],
    });
    const published = Promise.all([
      client.publish('q', large, { id: 'm1' }),
      // Compression would make it shorter, but it is below the threshold.
      client.publish('q', 'x'.repeat(500), { id: 'm2' }),
    ]);
    const frames = [await broker.take(), await broker.take()];
    expect(frames.map(({ id, flags }) => [id, flags])).toEqual([
      ['m1', 2],
      ['m2', 0],
    ]);
    expect(JSON.parse(payloadText(frames[0] as ClientFrame))).toEqual(large);
    broker.send({ command: 21, id: 'm1' }, { command: 21, id: 'm2' });
    await published;
  });

  it('keeps the order of commands while a compression is under way', async () => {
    const { client, broker } = await connectPair({
      inflate,
      welcome: [['negotiated-compression', 'brotli']],
    });
    // Large enough for the thread pool.
    const huge = { text: 'x'.repeat(100_000) };
    const ids = ['m1', 'm2', 'm3', 'm4'];
    const published = Promise.all(
      ids.map((id, index) => client.publish('q', index % 2 === 0 ? huge : 1, { id })),
    );
    const frames: ClientFrame[] = [];
    for (const _ of ids) frames.push(await broker.take());
    expect(frames.map(({ id }) => id)).toEqual(ids);
    broker.send(...ids.map((id) => ({ command: 21, id })));
    await published;
  });

  it('compresses nothing when nothing was agreed [CLIENT-004]', async () => {
    const { client, broker } = await connectPair();
    const published = client.publish('q', large, { id: 'm1' });
    expect((await broker.take()).flags).toBe(0);
    broker.send({ command: 21, id: 'm1' });
    await published;
  });
});

describe('queues', () => {
  it('are created with options, deleted, described and listed [CLIENT-001]', async () => {
    const { client, broker } = await connectPair();
    const answer = async (expected: object, payload: string) => {
      const frame = await broker.take();
      expect(frame).toMatchObject(expected);
      broker.send({ command: frame.command, id: frame.id, queue: frame.queue, payload });
      return payloadText(frame);
    };
    const options = {
      mode: 'PriorityBased',
      overflowStrategy: 'DropNewest',
      messageTtlMs: 90_061_500,
      maxQueueSize: 5,
    } as const;
    const created = client.createQueue('orders', options);
    expect(JSON.parse(await answer({ command: 40, queue: 'orders' }, ''))).toEqual({
      mode: 3,
      overflowStrategy: 1,
      messageTtl: '1.01:01:01.5000000',
      maxQueueSize: 5,
    });
    const plain = client.createQueue('plain');
    expect(await answer({ command: 40, queue: 'plain' }, '')).toBe('');
    const deleted = client.deleteQueue('orders');
    await answer({ command: 41, queue: 'orders' }, '');
    const info = client.queueInfo('orders');
    await answer({ command: 42, queue: 'orders' }, infoPayload);
    const missing = client.queueInfo('none');
    await answer({ command: 42, queue: 'none' }, '');
    const names = client.listQueues();
    await answer({ command: 43, queue: '' }, '["a","b"]');
    await Promise.all([created, plain, deleted]);
    await expect(missing).resolves.toBeUndefined();
    await expect(names).resolves.toEqual(['a', 'b']);
    await expect(info).resolves.toEqual({
      name: 'orders',
      messageCount: 1,
      subscriberCount: 2,
      deliveryMode: 'FanOutWithAck',
      maxSize: 5,
      createdAt: new Date('2026-02-18T10:30:00.123Z'),
      messageTtlMs: 90_061_500,
      enableDeadLetterQueue: true,
      deadLetterQueueName: undefined,
      overflowStrategy: 'RedirectToDlq',
      maxRetryAttempts: 3,
    });
  });

  const infoPayload = JSON.stringify({
    name: 'orders',
    messageCount: 1,
    subscriberCount: 2,
    deliveryMode: 1,
    maxSize: 5,
    createdAt: '2026-02-18T10:30:00.1234567Z',
    messageTtl: '1.01:01:01.5000000',
    enableDeadLetterQueue: true,
    overflowStrategy: 'redirecttodlq',
    maxRetryAttempts: 3,
  });

  it.each(['mode', 'overflowStrategy'])(
    'refuse a %s that does not exist, and send nothing',
    async (property) => {
      const { client, broker } = await connectPair();
      await expect(client.createQueue('orders', { [property]: 'toString' })).rejects.toThrow(TypeError);
      expect(broker.untaken).toEqual([]);
    },
  );

  it('fail with a clear error when the answer is not readable', async () => {
    const { client, broker } = await connectPair();
    const failed = expect(client.listQueues()).rejects.toMatchObject({ code: 'UNREADABLE_ANSWER' });
    broker.send({ command: 43, id: (await broker.take()).id, payload: '{}' });
    await failed;
  });
});

describe('keeping alive', () => {
  it('sends a Ping every interval, 30 s by default [CLIENT-007, CLIENT-008]', async () => {
    vi.useFakeTimers();
    const { client, broker } = await connectPair();
    for (let round = 0; round < 2; round += 1) {
      await vi.advanceTimersByTimeAsync(29_999);
      expect(broker.untaken).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      const ping = await broker.take();
      expect(ping).toMatchObject({ command: 10 });
      broker.send({ command: 11, id: ping.id });
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(client.capabilities).toBeDefined();
  });

  it('sends a Ping also while too many messages wait for it to read the Pong [CLIENT-007]', async () => {
    vi.useFakeTimers();
    const { client, broker } = await connectPair();
    const subscribing = client.subscribe('orders', () => new Promise(() => undefined));
    broker.send({ command: 23, id: (await broker.take()).id });
    await subscribing;
    for (let number = 0; number < 3_000; number += 1)
      broker.send({ command: 26, id: `m${number}`, queue: 'orders' });
    await vi.advanceTimersByTimeAsync(90_000);
    expect(broker.untaken.map(({ command }) => command)).toEqual([10, 10, 10]);
    expect(client.capabilities).toBeDefined();
  });

  it.each(['commandTimeoutMs', 'keepAliveIntervalMs'])('takes as %s what a timer can wait', async (name) => {
    for (const wrong of [0, 0.5, 2 ** 31, Number.POSITIVE_INFINITY, Number.NaN]) {
      await expect(connect({ [name]: wrong })).rejects.toThrow(
        `${name}: came ${wrong}; allowed is 1 to 2147483647`,
      );
    }
    for (const right of [1, 2 ** 31 - 1])
      expect(toSettings({ [name]: right })).toMatchObject({ [name]: right });
  });

  it('ends the connection when no Pong comes', async () => {
    vi.useFakeTimers();
    const { client } = await connectPair();
    await vi.advanceTimersByTimeAsync(40_000);
    await expect(client.closed).resolves.toMatchObject({
      error: { code: 'CONNECTION_ENDED', message: /does not answer/ },
    });
  });
});

describe('the end', () => {
  it('says Disconnect, then closes [CLIENT-041]', async () => {
    const { client, broker } = await connectPair();
    await client.close();
    expect(await broker.take()).toMatchObject({ command: 2 });
    await expect(client.closed).resolves.toEqual({ error: undefined, reason: undefined });
    await expect(client.ping()).rejects.toThrow(ConnectionError);
  });

  it("fails what is under way and tells the broker's reason [CLIENT-038]", async () => {
    const { client, broker } = await connectPair();
    const failed = expect(client.publish('orders', 1)).rejects.toMatchObject({
      code: 'CONNECTION_ENDED',
      message: /server_shutdown/,
    });
    await broker.take();
    broker.send({ command: 2, id: 'x', headers: [['reason', 'server_shutdown']] });
    broker.end();
    await failed;
    await expect(client.closed).resolves.toMatchObject({ reason: 'server_shutdown' });
  });

  it('tells the Error that answered nothing', async () => {
    const { client, broker } = await connectPair();
    broker.send({ command: 99, id: 'fresh', errorCode: 'SERVER_ERROR', errorMessage: 'it broke' });
    broker.end();
    await expect(client.closed).resolves.toMatchObject({ reason: 'SERVER_ERROR: it broke' });
  });

  it.each([
    ['a length over the limit', frameBytes(Buffer.alloc(2), 0, 2 ** 31)],
    ['an unknown flag', frameBytes(bodyBytes({ command: 11 }), 9)],
    ['a compressed frame that nobody agreed to', frameBytes(bodyBytes({ command: 11 }), 1)],
    ['a body that breaks off', frameBytes(bodyBytes({ command: 11 }).subarray(0, 6))],
  ])('closes at %s', async (_what, bytes) => {
    const { client, broker } = await connectPair();
    broker.sendRaw(bytes);
    const { error } = await client.closed;
    expect(error).toBeInstanceOf(ProtocolError);
  });

  it('does not wait for ever for a broker that keeps its side open', async () => {
    const [near, far] = duplexPair({ allowHalfOpen: true });
    const connecting = connect({ stream: near });
    far.resume();
    far.write(frameBytes(bodyBytes({ command: 1 })));
    const client = await connecting;
    vi.useFakeTimers();
    const closed = client.close();
    await vi.advanceTimersByTimeAsync(10_000);
    await closed;
    expect(near.destroyed).toBe(true);
  });
});
