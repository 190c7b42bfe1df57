// A publisher and a subscriber that know nothing of restarts, while the broker is killed and started again over the same SQLite file: nothing that
// was confirmed is lost, and nothing is stored twice.

import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BrokerProcess, startBrokerProcess } from '../testing/crash/broker-process.ts';
import { type Client, connect } from './index.ts';

const COUNT = 600;
let folder: string;
let broker: BrokerProcess;
const clients: Client[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'truemq-client-'));
  broker = await startBrokerProcess(join(folder, 'broker.db'));
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await broker.stop();
  await rm(folder, { recursive: true });
});

async function connectClient(): Promise<Client> {
  const openStream = async () => {
    const socket = dial({ port: broker.port, host: '127.0.0.1' });
    await once(socket, 'connect');
    return socket;
  };
  const reconnect = { initialDelayMs: 50, exponentialBackoff: false };
  const client = await connect({ openStream, reconnect, publishWindow: { maxCount: 16 } });
  clients.push(client);
  return client;
}

describe.each(['killed', 'stopped'] as const)('when the broker is %s and started again', (how) => {
  it('a publisher and a subscriber go on, nothing is lost and nothing is stored twice [CLIENT-010, CLIENT-014, CLIENT-042]', async () => {
    const publisher = await connectClient();
    const subscriber = await connectClient();
    const ids = Array.from({ length: COUNT }, (_, number) => `m${number}`);
    // Nobody takes messages before all are confirmed, so every repeat meets the stored message.
    await publisher.createQueue('orders');
    const received: string[] = [];
    await subscriber.createQueue('waiting');
    await subscriber.subscribe('waiting', () => undefined);
    let confirmedCount = 0;
    const half = new Promise<void>((resolve) => {
      publisher.on('disconnected', () => resolve());
    });
    const published = ids.map(async (id) => {
      await publisher.publish('orders', { id }, { id });
      confirmedCount += 1;
      if (confirmedCount === COUNT / 2) void restart(how);
    });
    await half;
    await Promise.all(published);
    await vi.waitFor(
      async () => expect((await publisher.queueInfo('waiting'))?.subscriberCount).toBe(1),
      20_000,
    );
    await subscriber.subscribe('orders', ({ id }) => void received.push(id));
    await vi.waitFor(() => expect(received.length).toBeGreaterThanOrEqual(COUNT), 20_000);
    expect((await publisher.queueInfo('orders'))?.messageCount).toBe(0);
    expect(received.sort()).toEqual([...ids].sort());
  });
});

async function restart(how: 'killed' | 'stopped'): Promise<void> {
  if (how === 'killed') await broker.kill();
  else await broker.stop();
  broker = await startBrokerProcess(join(folder, 'broker.db'));
}
