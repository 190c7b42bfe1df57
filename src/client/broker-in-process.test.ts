// The client and a whole broker in one process, over lines that break: what both agree on after a break.

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ZlibCompressor } from '../compression/zlib-compressor.ts';
import { useVirtualTime } from '../testing/scripted-network.ts';
import { TestedBroker } from '../testing/tested-broker.ts';
import { openVirtualConnection, type VirtualSocket } from '../testing/virtual-network.ts';
import { type Client, type ConnectOptions, connect } from './index.ts';

let tested: TestedBroker;
let lines: VirtualSocket[];

beforeEach(() => {
  useVirtualTime();
  tested = new TestedBroker({}, { compressor: new ZlibCompressor() });
  lines = [];
});

afterEach(() => {
  vi.useRealTimers();
});

async function connectClient(options: ConnectOptions = {}): Promise<Client> {
  const openStream = async () => {
    const { client, server } = openVirtualConnection(tested.environment.scheduler);
    lines.push(client);
    tested.broker.attach(server, '192.0.2.1');
    return client;
  };
  const connecting = connect({ openStream, ...options });
  await advance(0);
  return connecting;
}

/** Moves the time of both sides. */
async function advance(durationMs: number): Promise<void> {
  await tested.advance(durationMs);
  await vi.advanceTimersByTimeAsync(durationMs);
  await tested.settle();
}

/** Moves time until the operation is done. */
async function inTime<Value>(operation: Promise<Value>): Promise<Value> {
  await advance(0);
  return operation;
}

it('stores a publish once, though its confirmation was lost and it was sent again [CLIENT-042]', async () => {
  const client = await connectClient();
  await inTime(client.createQueue('orders'));
  lines[0]?.stallLine();
  const lost = client.publish('orders', { n: 0 }, { id: 'never arrived' });
  await advance(0);
  lines[0]?.breakLine();
  await advance(1_000);
  await inTime(lost);
  const published = client.publish('orders', { n: 1 }, { id: 'stored' });
  lines[1]?.pause();
  await advance(0);
  lines[1]?.breakLine();
  await advance(1_000);
  await expect(inTime(published)).resolves.toBe('stored');
  expect(lines).toHaveLength(3);
  expect(await inTime(client.queueInfo('orders'))).toMatchObject({ messageCount: 2 });
  const closed = client.close();
  await advance(10_000);
  await closed;
});

it('is handed a message again whose handler ran during a break, and acknowledges it then [CLIENT-014, CLIENT-044]', async () => {
  const client = await connectClient();
  const attempts: number[] = [];
  const gates: (() => void)[] = [];
  await inTime(
    client.subscribe('orders', ({ attemptCount }) => {
      attempts.push(attemptCount);
      return new Promise((resolve) => gates.push(resolve));
    }),
  );
  await inTime(client.publish('orders', 'x'.repeat(5_000)));
  lines[0]?.breakLine();
  await advance(1_000);
  gates[0]?.();
  await advance(0);
  expect(attempts).toHaveLength(2);
  gates[1]?.();
  await advance(60_000);
  expect(attempts).toHaveLength(2);
  const closed = client.close();
  await advance(10_000);
  await closed;
});

it('creates a declared queue again that is gone after a break, before it subscribes, and compares none [CLIENT-015, CLIENT-029]', async () => {
  const told: string[] = [];
  const client = await connectClient({
    queues: [
      { name: 'gone', mode: 'FanOutWithAck' },
      { name: 'changed', mode: 'FanOutWithAck' },
    ],
    conflictStrategy: 'Override',
    onQueueDifference: ({ queue }) => void told.push(queue),
  });
  const received: unknown[] = [];
  await inTime(client.subscribe('gone', (message) => void received.push(message.json())));
  const other = await connectClient({ reconnect: false });
  for (const queue of ['gone', 'changed']) await inTime(other.deleteQueue(queue));
  await inTime(other.createQueue('changed'));
  lines[0]?.breakLine();
  await advance(1_000);
  expect(await inTime(other.queueInfo('gone'))).toMatchObject({
    deliveryMode: 'FanOutWithAck',
    subscriberCount: 1,
  });
  expect(await inTime(other.queueInfo('changed'))).toMatchObject({ deliveryMode: 'RoundRobin' });
  expect(told).toEqual([]);
  await inTime(other.publish('gone', 1));
  await advance(0);
  expect(received).toEqual([1]);
  const closed = Promise.all([client.close(), other.close()]);
  await advance(10_000);
  await closed;
});

it('keeps a subscription that took the place of one whose call was aborted', async () => {
  const client = await connectClient();
  const received: unknown[] = [];
  const abort = new AbortController();
  const first = client.subscribe('orders', () => undefined, { signal: abort.signal });
  abort.abort(new Error('not wanted'));
  const second = client.subscribe('orders', (message) => void received.push(message.json()));
  await expect(first).rejects.toThrow('not wanted');
  await inTime(second);
  await inTime(client.publish('orders', 1));
  await advance(0);
  expect(received).toEqual([1]);
  const closed = client.close();
  await advance(10_000);
  await closed;
});
