// Fan-out: every service receives every message, and acknowledges it for itself. A service that fails gets the message again; the others do not.

import { connect } from 'truemq/client';

type Order = { readonly id: number; readonly item: string };

const url = process.argv[2] ?? 'vibemq://127.0.0.1';
const publisher = await connect(url);
await publisher.createQueue('orders.placed', { mode: 'FanOutWithAck' });

// Each service is a subscriber with a connection of its own. A message goes to the services that are subscribed when it is published.
const services = await Promise.all(['billing', 'shipping', 'statistics'].map(startService));

await publisher.publish<Order>('orders.placed', { id: 1, item: 'tea' });
await publisher.publish<Order>('orders.placed', { id: 2, item: 'cups' });

await Promise.all(services.map(({ done }) => done));
await Promise.all([publisher, ...services.map(({ client }) => client)].map((client) => client.close()));

/** Handles two orders. */
async function startService(name: string) {
  const client = await connect(url);
  const { promise: done, resolve } = deferred();
  await client.subscribe<Order>('orders.placed', (message) => {
    const { id, item } = message.json();
    console.log(`${name}: order ${id}, ${item}`);
    if (id === 2) resolve();
  });
  return { client, done };
}

function deferred() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((fulfil) => {
    resolve = fulfil;
  });
  return { promise, resolve };
}
