// A message that is longer than the client accepts: the client says which limit to raise, ends the subscription that would meet the message on every
// connection, and goes on with everything else.

import { duplexPair } from 'node:stream';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectPair } from '../testing/connected-pair.ts';
import type { ScriptedBroker } from '../testing/scripted-broker.ts';
import { ScriptedNetwork, useVirtualTime } from '../testing/scripted-network.ts';
import { type BodyParts, bodyBytes, frameBytes } from '../testing/wire-bytes.ts';
import { connect } from './index.ts';

let network: ScriptedNetwork;

beforeEach(() => {
  useVirtualTime();
  network = new ScriptedNetwork();
});

afterEach(() => {
  vi.useRealTimers();
});

const maxMessageSizeBytes = 1_000;
const payload = JSON.stringify('x'.repeat(5_000));
const delivery: BodyParts = { command: 26, id: 'm1', queue: 'orders', payload };

/** The frame of a message, compressed if an algorithm is given. */
function frameOf(parts: BodyParts, algorithm?: 'gzip' | 'brotli'): Buffer {
  const body = bodyBytes(parts);
  if (algorithm === undefined) return frameBytes(body);
  return algorithm === 'gzip' ? frameBytes(gzipSync(body), 1) : frameBytes(brotliCompressSync(body), 2);
}

async function accept(broker: ScriptedBroker, command: number): Promise<void> {
  const { id } = await broker.take();
  broker.send({ command, id });
}

/** A client with a handler for the queue `other`; notes what ends. */
async function connected() {
  const pair = await network.connect({ maxMessageSizeBytes });
  const received: string[] = [];
  const subscribing = pair.client.subscribe('other', ({ id }) => void received.push(id));
  await accept(pair.broker, 23);
  await subscribing;
  const ended: string[] = [];
  pair.client.on('subscriptionLost', ({ queue, error }) => ended.push(`${queue}: ${error.message}`));
  pair.client.on('disconnected', ({ error }) => ended.push(`${error?.name} ${error?.code}`));
  return { ...pair, received, ended };
}

describe('a message that is longer than the client accepts', () => {
  it.each([
    [
      undefined,
      'has 5022 bytes, and this client accepts at most 1000: raise its maxMessageSizeBytes to at least 5022',
    ],
    [
      'gzip',
      'has more than 1000 bytes, and this client accepts at most 1000: raise its maxMessageSizeBytes beyond that',
    ],
    [
      'brotli',
      'has more than 1000 bytes, and this client accepts at most 1000: raise its maxMessageSizeBytes beyond that',
    ],
  ] as const)(
    'ends its own subscription and loop, and the others go on: compressed with %s',
    async (algorithm, words) => {
      const { client, broker, received, ended } = await connected();
      const looping = client.messages('orders').next();
      const failed = expect(looping).rejects.toMatchObject({
        name: 'ConnectionError',
        code: 'MESSAGE_TOO_LARGE',
        message: `a message of queue "orders" ${words}`,
      });
      await accept(broker, 23);
      await network.settle();
      broker.sendRaw(frameOf(delivery, algorithm));
      await failed;
      await vi.waitFor(() => expect(ended).toHaveLength(2));
      expect(ended).toEqual([
        `orders: a message of queue "orders" ${words}`,
        'ConnectionError MESSAGE_TOO_LARGE',
      ]);
      const next = await network.reconnect(broker);
      expect(await next.take()).toMatchObject({ command: 22, queue: 'other' });
      await network.settle();
      expect(next.untaken).toEqual([]);
      next.send({ command: 26, id: 'm2', queue: 'other' });
      await vi.waitFor(() => expect(received).toEqual(['m2']));
      await client.close();
    },
  );

  it('says that more is needed than a frame that is too long compressed takes', async () => {
    const { client, broker, ended } = await connected();
    const digits = Array.from({ length: 1_000 }, (_, index) => index ** 3).join();
    const frame = frameOf({ ...delivery, queue: 'other', payload: JSON.stringify(digits) }, 'brotli');
    broker.sendRaw(frame);
    await vi.waitFor(() => expect(ended).toHaveLength(2));
    const bytes = frame.length - 5;
    expect(ended[0]).toBe(
      `other: a message of queue "other" has ${bytes} bytes when compressed, and this client accepts at most 1000: ` +
        `raise its maxMessageSizeBytes to more than ${bytes}`,
    );
    await client.close();
  });

  it('is recognized in a frame whose header came in the chunk before', async () => {
    const { client, broker, ended } = await connected();
    const frame = frameOf({ ...delivery, queue: 'other' });
    broker.sendRaw(frame.subarray(0, 3));
    await network.settle();
    broker.sendRaw(frame.subarray(3));
    await vi.waitFor(() => expect(ended).toHaveLength(2));
    expect(ended[0]).toMatch(/^other: a message of queue "other" has 502\d bytes/);
    await client.close();
  });

  it.each([5, 7, 12, 20])(
    'ends no subscription when only %d bytes of it have come, but that of the next time',
    async (length) => {
      const { client, broker, ended } = await connected();
      const frame = frameOf({ ...delivery, queue: 'other-than-that' });
      broker.sendRaw(frame.subarray(0, length));
      await vi.waitFor(() => expect(ended).toEqual(['ConnectionError MESSAGE_TOO_LARGE']));
      const next = await network.reconnect(broker);
      await accept(next, 23);
      next.sendRaw(frameOf({ ...delivery, queue: 'other' }));
      await vi.waitFor(() => expect(ended).toHaveLength(3));
      expect(ended[1]).toMatch(/^other: a message of queue "other"/);
      await client.close();
    },
  );

  it('that is an answer fails its command, and ends no subscription', async () => {
    const { client, broker, ended } = await connected();
    const failed = expect(client.listQueues()).rejects.toMatchObject({
      code: 'MESSAGE_TOO_LARGE',
      message: /^a message has 5\d+ bytes, .* raise its maxMessageSizeBytes to at least 5\d+$/,
    });
    const { id } = await broker.take();
    broker.sendRaw(frameOf({ command: 43, id, payload: JSON.stringify(['x'.repeat(5_000)]) }));
    await failed;
    await network.settle();
    expect(ended).toEqual(['ConnectionError MESSAGE_TOO_LARGE']);
    await client.close();
  });

  it('interrupts publishes, which are sent again', async () => {
    const { client, broker } = await connected();
    const published = client.publish('orders', 1, { id: 'p1' });
    await broker.take();
    broker.sendRaw(frameOf(delivery));
    await network.settle();
    const next = await network.reconnect(broker);
    await accept(next, 23);
    expect(await next.take()).toMatchObject({ command: 20, id: 'p1' });
    next.send({ command: 21, id: 'p1' });
    await expect(published).resolves.toBe('p1');
    await client.close();
  });

  it('ends a client that does not reconnect with this error', async () => {
    const { client, broker } = await connectPair({ maxMessageSizeBytes });
    broker.sendRaw(frameOf(delivery));
    await expect(client.closed).resolves.toMatchObject({ error: { code: 'MESSAGE_TOO_LARGE' } });
  });
});

it('a length that no message has is of something that is no broker', async () => {
  const { client, broker } = await connectPair();
  broker.sendRaw(frameBytes(Buffer.alloc(2), 0, 2 ** 31));
  await expect(client.closed).resolves.toMatchObject({ error: { name: 'ProtocolError' } });
});

it.each([
  ['HTTP/1.1 400 Bad Request\r\n\r\n', 'an HTTP server answers there, and no broker'],
  ['\x15\x03\x03\x00\x02\x02\x28', 'what answers there expects TLS; useTls: true uses it'],
  ['SSH-2.0-OpenSSH_9.6\r\n', /^the broker broke the protocol: /],
])('says who answers in place of a broker with %j', async (start, message) => {
  const [near, far] = duplexPair();
  far.write(start, 'latin1');
  const expected = {
    name: 'ProtocolError',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  };
  await expect(connect({ stream: near })).rejects.toMatchObject(expected);
});
