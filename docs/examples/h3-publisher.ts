// A web server with h3 that publishes: POST /orders answers 202 with the id of the message when the broker has taken responsibility for it, and 503
// when the broker cannot be reached. All requests share one client.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { H3, HTTPError, toNodeHandler } from 'h3';
import { ClientError, connect } from 'truemq/client';

type Order = { readonly item: string; readonly count: number };

const [url = 'vibemq://127.0.0.1', port = '3000'] = process.argv.slice(2);
const client = await connect(url);
const app = new H3();

app.post('/orders', async (event) => {
  const order = await event.req.json().catch(() => undefined);
  if (!isOrder(order)) throw new HTTPError({ status: 400, message: 'an order has an item and a count' });
  const signal = AbortSignal.timeout(2_000);
  try {
    const id = await client.publish<Order>('orders', order, { signal });
    event.res.status = 202;
    return { id };
  } catch (error) {
    if (!(error instanceof ClientError) && !signal.aborted) throw error;
    // The order may be in the queue nevertheless. If callers send an id with each order, they can repeat the request.
    throw new HTTPError({ status: 503, message: 'orders cannot be taken now', cause: error });
  }
});

function isOrder(value: unknown): value is Order {
  if (typeof value !== 'object' || value === null) return false;
  const { item, count } = value as Partial<Order>;
  return typeof item === 'string' && Number.isInteger(count);
}

const server = createServer(toNodeHandler(app)).listen(Number(port), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`);
});

process.once('SIGTERM', () => {
  server.close(() => void client.close());
});
