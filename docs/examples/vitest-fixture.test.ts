// A vitest fixture that starts a broker in the process of the tests: each test gets an empty broker and a connected client of its own, on a free
// port, so that tests may run in parallel. The client is closed and the broker stops when the test has ended.

import { createBroker, type EmbeddedBroker } from 'truemq';
import { type Client, connect } from 'truemq/client';
import { test as base, expect } from 'vitest';

type Fixtures = { readonly broker: EmbeddedBroker; readonly client: Client };

const test = base.extend<Fixtures>({
  broker: async ({ onTestFinished }, use) => {
    const broker = await createBroker({
      rateLimit: false,
      ackTimeout: '200ms',
      retryDelay: '10ms',
      shutdownTimeout: '1s',
    });
    onTestFinished(() => broker.stop());
    await use(broker);
  },
  // What is registered last is called first: the client is closed before the broker stops.
  client: async ({ broker, onTestFinished }, use) => {
    const { host, port } = broker;
    const client = await connect({ host, port, onHandlerError: () => undefined });
    onTestFinished(() => client.close());
    await use(client);
  },
});

test('an order reaches its subscriber', async ({ client }) => {
  await client.publish('orders', { item: 'tea' });
  const received = new Promise((resolve, reject) => {
    client.subscribe('orders', (message) => resolve(message.json())).catch(reject);
  });
  expect(await received).toEqual({ item: 'tea' });
});

test('an order whose handler fails is tried again', async ({ client }) => {
  await client.publish('orders', { item: 'tea' });
  const attempts: number[] = [];
  await new Promise<void>((resolve, reject) => {
    const handle = ({ attemptCount }: { attemptCount: number }) => {
      attempts.push(attemptCount);
      if (attemptCount < 2) throw new Error('not now');
      resolve();
    };
    client.subscribe('orders', handle).catch(reject);
  });
  expect(attempts).toEqual([1, 2]);
});
