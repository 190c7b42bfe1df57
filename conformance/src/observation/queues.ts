// Observes queues: delivery modes, auto-creation by a Publish, the number of unacknowledged messages, expiry, dead letters, negative
// acknowledgments. Each observer uses its own queues. Areas: QUEUE, DELIVERY, TTL, DLQ, NACK.
import type { Connection } from '../connection.ts';
import { deliveryModes } from '../history/operation.ts';
import { Command } from '../wire/command.ts';
import type { Observer } from './observation.ts';

export const observeModes: Observer = async (client) => {
  const connection = await client.connect();
  const taken: string[] = [];
  for (const [mode, name] of deliveryModes.entries()) {
    const queue = client.queue(name);
    const payload = JSON.stringify({ mode });
    await connection.request({ command: Command.CreateQueue, id: client.id(), queue, payload });
    const info = await connection.queueInfo(queue);
    if (info?.['deliveryMode'] === mode) taken.push(name);
  }
  const text = taken.length === 0 ? 'accepts no delivery mode' : `accepts ${taken.join(', ')}`;
  return { facts: [{ topic: 'modes', text }, ...(await autoCreation(connection, client.queue('missing')))] };
};

async function autoCreation(connection: Connection, queue: string) {
  const made = await connection.publish(queue, '1').then(
    () => 'a publish to a missing queue creates it',
    () => 'a publish to a missing queue is refused',
  );
  return [{ topic: 'queues', text: made }];
}

const waitingCount = 64;
const settledMs = 200;

/** Counts the messages that the broker sends before the first ack. */
export const observeSubscriberWindow: Observer = async (client) => {
  const connection = await client.connect();
  const queue = client.queue('window');
  await connection.createQueue(queue);
  for (let count = 0; count < waitingCount; count += 1) await connection.publish(queue, String(count));
  await connection.subscribe(queue);
  await connection.delivery({ queue });
  const count = await settledCount(connection);
  const more = count === waitingCount ? ' or more' : '';
  const text = `sends ${count}${more} of ${waitingCount} waiting messages before the first is acknowledged`;
  return { subscriberWindow: count, facts: [{ topic: 'window', text }] };
};

/** The number of Delivers when no more have come for a while. */
async function settledCount(connection: Connection): Promise<number> {
  let count = 0;
  for (;;) {
    await connection.ping();
    await new Promise((resolve) => setTimeout(resolve, settledMs));
    const now = connection.received.filter(({ command }) => command === Command.Deliver).length;
    if (now === count) return count;
    count = now;
  }
}

const ttl = { text: '00:00:00.2000000', ms: 200 };

/** Whether a message expires and goes to the dead letter queue. */
export const observeExpiry: Observer = async (client) => {
  const connection = await client.connect();
  const queue = client.queue('ttl');
  await connection.createQueue(queue, { messageTtl: ttl.text, enableDeadLetterQueue: true });
  await connection.publish(queue, '1');
  const withinMs = ttl.ms + client.timing.lateMs + 1000;
  const expires = await reachesCount(connection, queue, { count: 0, withinMs });
  const isLetter = expires && (await reachesCount(connection, `${queue}.dlq`, { count: 1, withinMs: 1000 }));
  return {
    facts: [
      { topic: 'ttl', text: expires ? 'expires messages' : `did not expire a message within ${withinMs} ms` },
      { topic: 'dlq', text: isLetter ? `puts them into ${queue}.dlq` : 'no dead letter was seen' },
    ],
  };
};

/** Tries a negative acknowledgment, which the broker has announced. */
export const observeNegativeAcks: Observer = async (client) => {
  const connection = await client.connect();
  const queue = client.queue('nack');
  await connection.createQueue(queue, { enableDeadLetterQueue: true });
  await connection.subscribe(queue);
  await connection.publish(queue, '1');
  const { id } = await connection.delivery({ queue });
  await connection.send({
    command: Command.Ack,
    id,
    queue,
    headers: { failureReason: 'DeserializationError' },
  });
  const isLetter = await reachesCount(connection, `${queue}.dlq`, { count: 1, withinMs: 2000 });
  const text = isLetter
    ? 'a refused message is dead-lettered immediately'
    : 'a refused message was not dead-lettered';
  return { facts: [{ topic: 'nack', text }] };
};

async function reachesCount(
  connection: Connection,
  queue: string,
  wanted: { readonly count: number; readonly withinMs: number },
): Promise<boolean> {
  const endAt = performance.now() + wanted.withinMs;
  for (;;) {
    const info = await connection.queueInfo(queue);
    if (info?.['messageCount'] === wanted.count) return true;
    if (performance.now() >= endAt) return false;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
