// Request and reply: two queues, one for each direction. The header correlationId says which reply belongs to which request.

import { randomUUID } from 'node:crypto';
import { connect } from 'truemq/client';

type Request = { readonly item: string };
type Reply = { readonly price: number };

const url = process.argv[2] ?? 'vibemq://127.0.0.1';

// The service: answers each request with the correlationId of the request.
const service = await connect(url);
const prices = new Map([
  ['tea', 4],
  ['cups', 12],
]);
await service.subscribe<Request>('prices.requests', async (request) => {
  const correlationId = request.headers.get('correlationId');
  // Nobody waits for an answer without it.
  if (correlationId === undefined) return;
  const price = prices.get(request.json().item) ?? 0;
  await service.publish<Reply>('prices.replies', { price }, { headers: { correlationId } });
});

// The asker: one subscription for the replies to all of its requests.
const client = await connect(url);
const waiting = new Map<string, (reply: Reply) => void>();
await client.subscribe<Reply>('prices.replies', (reply) => {
  // A reply that came too late has nobody who waits for it.
  waiting.get(reply.headers.get('correlationId') ?? '')?.(reply.json());
});

/** @throws a TimeoutError if there is no reply within `timeoutMs` */
async function ask(item: string, timeoutMs = 5_000): Promise<Reply> {
  const correlationId = randomUUID();
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    return await new Promise<Reply>((resolve, reject) => {
      waiting.set(correlationId, resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
      client
        .publish<Request>('prices.requests', { item }, { headers: { correlationId }, signal })
        .catch(reject);
    });
  } finally {
    waiting.delete(correlationId);
  }
}

const [tea, cups] = await Promise.all([ask('tea'), ask('cups')]);
console.log(`tea costs ${tea.price}, cups cost ${cups.price}`);
await client.close();
await service.close();
