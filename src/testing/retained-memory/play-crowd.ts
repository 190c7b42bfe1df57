// Carries out the plan of a crowd: creates and removes very many connections, subscriptions or queues, of which nothing may remain in
// memory.

import { BATCH_LENGTH, inBatches } from './in-batches.ts';
import type { CrowdPlan } from './plan.ts';
import { RetainedBroker } from './retained-broker.ts';
import { Scales } from './scales.ts';

const LONG_NAME = '_'.repeat(150);
const UNLIMITED = 1_000_000_000;
const MIB = 1024 * 1024;

export async function playCrowd(plan: CrowdPlan): Promise<Scales> {
  const broker = await RetainedBroker.started({
    gateway: {
      maxConnections: UNLIMITED,
      maxOutboundBytes: 16 * MIB,
      rateLimit: {
        maxConnectionsPerIpPerWindow: 10,
        connectionWindowMs: 1000,
        maxMessagesPerClientPerSecond: UNLIMITED,
      },
      limits: largeFrames,
    },
    broker: { maxQueues: UNLIMITED, maxSubscriptionsPerConnection: UNLIMITED },
  });
  await crowds[plan.of](broker, 200);
  const scales = await Scales.tared(broker);
  await crowds[plan.of](broker, plan.count);
  await broker.advance(400_000);
  await scales.weigh(broker, `after ${plan.count} ${plan.of} were created and removed`);
  await broker.stop();
  return scales;
}

/** A list of all queues fits into one. */
const largeFrames = {
  maxMessageSizeBytes: 16 * MIB,
  maxDecompressedSizeBytes: 16 * MIB,
  maxHeaderCount: 50,
  maxHeaderValueLength: 4096,
  maxIdBytes: 256,
};

const crowds: Readonly<Record<CrowdPlan['of'], (broker: RetainedBroker, count: number) => Promise<void>>> = {
  connections,
  subscriptions,
  queues,
};

/** Each from an address of its own, one after the other. */
async function connections(broker: RetainedBroker, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const client = await broker.connect({ address: `host-${number}${LONG_NAME}` });
    client.send([{ command: 22, id: 'subscribe', queue: 'q' }]);
    client.disconnect();
    await broker.advance(10);
  }
}

/** Each gets a message, and acknowledges it when it has been unsubscribed. */
async function subscriptions(broker: RetainedBroker, count: number): Promise<void> {
  const client = await broker.connect();
  client.onDelivery = (id) => client.send([{ command: 30, id }]);
  for (let number = 0; number < count; number += 1) {
    const queue = `topic_${number % 100}`;
    const id = `m-${number}`;
    client.send([
      { command: 22, id: 'subscribe', queue },
      { command: 20, id, queue, payloadBytes: 1 },
      { command: 24, id: 'unsubscribe', queue },
    ]);
    if (number % BATCH_LENGTH === 0) await broker.settle();
  }
  await broker.settle();
  client.disconnect();
}

async function queues(broker: RetainedBroker, count: number): Promise<void> {
  const client = await broker.connect();
  const name = (number: number): string => `queue_${number}${LONG_NAME}`;
  const json = JSON.stringify({ messageTtl: '01:00:00' });
  await inBatches(broker, client, count, (number) => ({
    command: 40,
    id: 'create',
    queue: name(number),
    json,
  }));
  await inBatches(broker, client, count, (number) => ({
    command: 20,
    id: 'm',
    queue: name(number),
    payloadBytes: 1,
  }));
  await broker.ask(client, { command: 43, id: 'list' });
  await inBatches(broker, client, count, (number) => ({ command: 41, id: 'delete', queue: name(number) }));
  client.disconnect();
}
