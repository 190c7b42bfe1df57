// Carries out the plan of something held that is no waiting message: the account must see it while it is there, and nothing may be left of it.
// The bar is that of all plans (scales.ts).

import type { ForgetfulClient } from './forgetful-client.ts';
import { inBatches } from './in-batches.ts';
import type { HeldPlan } from './plan.ts';
import { RetainedBroker } from './retained-broker.ts';
import { Scales } from './scales.ts';

const UNLIMITED = 1_000_000_000;
const SMALL = 71;

/** Makes `count` of the thing; the result takes them away. `round` makes ids and names differ. */
type Holding = (broker: RetainedBroker, count: number, round: number) => Promise<() => Promise<void>>;

export async function playHeld({ of, count }: HeldPlan): Promise<Scales> {
  const gate = { isShut: false };
  const broker = await RetainedBroker.started({
    openStore: async () => ({
      recover: () => [],
      commit: () => (gate.isShut ? untilOpen(broker, gate) : undefined),
      close: () => undefined,
    }),
    gateway: {
      maxConnections: UNLIMITED,
      maxOutboundBytes: UNLIMITED,
      maxPendingInputBytes: UNLIMITED,
      timeouts: { handshakeTimeoutMs: 10_000, frameTimeoutMs: 30_000, idleTimeoutMs: UNLIMITED },
    },
    broker: {
      maxQueues: UNLIMITED,
      maxSubscriptionsPerConnection: UNLIMITED,
      maxInFlightPerSubscriber: UNLIMITED,
      maxBlockedPublishes: UNLIMITED,
      ackTimeoutMs: 3_600_000,
    },
  });
  const hold = holdings(gate)[of];
  const releaseFew = await hold(broker, 200, 0);
  await releaseFew();
  const scales = await Scales.tared(broker);
  const release = await hold(broker, count, 1);
  await scales.weigh(broker, `while ${count} ${of} are held`);
  await release();
  await broker.advance(4_000_000);
  await scales.weigh(broker, 'at the end');
  await broker.stop();
  return scales;
}

type Gate = { isShut: boolean };

/** A commit that takes until the gate is open. */
async function untilOpen(broker: RetainedBroker, gate: Gate): Promise<void> {
  while (gate.isShut) {
    await new Promise<void>((resolve) => void broker.environment.scheduler.after(10, resolve));
  }
}

function holdings(gate: Gate): Readonly<Record<HeldPlan['of'], Holding>> {
  return {
    queues,
    subscriptions,
    copies,
    smallSurvivors,
    longIds,
    repeats,
    smallWrites,
    deletedInFlight,
    pendingCommands: (broker, count) => pendingCommands(broker, count, gate),
  };
}

async function queues(broker: RetainedBroker, count: number, round: number): Promise<() => Promise<void>> {
  const client = await broker.connect();
  const name = (number: number): string => `queue_${round}_${number}`;
  await inBatches(broker, client, count, (number) => ({ command: 40, id: 'create', queue: name(number) }));
  return async () => {
    await inBatches(broker, client, count, (number) => ({ command: 41, id: 'delete', queue: name(number) }));
    client.disconnect();
  };
}

const SUBSCRIBED_QUEUES = 500;

async function subscriptions(broker: RetainedBroker, count: number): Promise<() => Promise<void>> {
  const clients: ForgetfulClient[] = [];
  for (let made = 0; made < count; made += SUBSCRIBED_QUEUES) {
    const client = await broker.connect();
    clients.push(client);
    const frameOf = (number: number) => ({ command: 22, id: 'subscribe', queue: `topic_${number}` });
    await inBatches(broker, client, Math.min(SUBSCRIBED_QUEUES, count - made), frameOf);
  }
  return async () => {
    for (const client of clients.splice(0)) client.disconnect();
    await broker.settle();
    await deleteQueues(
      broker,
      Array.from({ length: SUBSCRIBED_QUEUES }, (_, number) => `topic_${number}`),
    );
  };
}

/** Ten members acknowledge nothing. */
async function copies(broker: RetainedBroker, count: number, round: number): Promise<() => Promise<void>> {
  const publisher = await withQueue(broker, { mode: 'FanOutWithAck' });
  const members: ForgetfulClient[] = [];
  for (let number = 0; number < 10; number += 1) members.push(await member(broker));
  await publishSmall(broker, publisher, { count: Math.floor(count / 5), round, idBytes: 16 });
  return emptied(broker, [publisher, ...members]);
}

/** One of 50 stays in flight between messages that have ended. */
async function smallSurvivors(
  broker: RetainedBroker,
  count: number,
  round: number,
): Promise<() => Promise<void>> {
  const publisher = await withQueue(broker, {});
  const subscriber = await member(broker);
  let taken = 0;
  subscriber.onDelivery = (id) => {
    taken += 1;
    if (taken % 50 !== 0) subscriber.send([{ command: 30, id }]);
  };
  await publishSmall(broker, publisher, { count: count * 2, round, idBytes: 16 });
  return emptied(broker, [publisher, subscriber]);
}

async function longIds(broker: RetainedBroker, count: number, round: number): Promise<() => Promise<void>> {
  const publisher = await withQueue(broker, {});
  await publishSmall(broker, publisher, { count, round, idBytes: 250 });
  return emptied(broker, [publisher]);
}

async function repeats(broker: RetainedBroker, count: number, round: number): Promise<() => Promise<void>> {
  const publisher = await withQueue(broker, { maxQueueSize: 1, overflowStrategy: 'BlockPublisher' });
  await publishSmall(broker, publisher, { count: 1, round, idBytes: 16 });
  const id = 'r'.repeat(250);
  await inBatches(broker, publisher, count, () => ({ command: 20, id, queue: QUEUE, payloadBytes: 1 }));
  return emptied(broker, [publisher]);
}

/** Each Pong leaves in a write of its own, to a client that does not read. */
async function smallWrites(broker: RetainedBroker, count: number): Promise<() => Promise<void>> {
  const client = await broker.connect();
  client.stopReading();
  for (let number = 0; number < count; number += 1) {
    client.send([{ command: 10, id: 'ping' }]);
    await broker.settle();
  }
  return async () => client.disconnect();
}

/** Queues are deleted while their messages are in flight: the contents stay until the acks are overdue. */
async function deletedInFlight(
  broker: RetainedBroker,
  count: number,
  round: number,
): Promise<() => Promise<void>> {
  const publisher = await withQueue(broker, {});
  const subscriber = await member(broker);
  await publishSmall(broker, publisher, { count, round, idBytes: 16 });
  await deleteQueues(broker, [QUEUE]);
  return async () => {
    publisher.disconnect();
    subscriber.disconnect();
  };
}

/** Publishes and Pings arrive while the store is busy. */
async function pendingCommands(
  broker: RetainedBroker,
  count: number,
  gate: Gate,
): Promise<() => Promise<void>> {
  const publisher = await withQueue(broker, {});
  gate.isShut = true;
  await inBatches(broker, publisher, count, (number) =>
    number % 2 === 0
      ? { command: 20, id: `m-${number}`, queue: QUEUE, payloadBytes: SMALL }
      : { command: 10, id: `p-${number}` },
  );
  return async () => {
    gate.isShut = false;
    await broker.advance(100);
    await emptied(broker, [publisher])();
  };
}

const QUEUE = 'q';

async function withQueue(broker: RetainedBroker, options: object): Promise<ForgetfulClient> {
  const client = await broker.connect();
  const json = JSON.stringify({ maxQueueSize: UNLIMITED, ...options });
  await broker.ask(client, { command: 40, id: 'create', queue: QUEUE, json });
  return client;
}

async function member(broker: RetainedBroker): Promise<ForgetfulClient> {
  const client = await broker.connect();
  const headers = [['maxInFlight', '999999999']] as const;
  await broker.ask(client, { command: 22, id: 'subscribe', queue: QUEUE, headers });
  return client;
}

async function publishSmall(
  broker: RetainedBroker,
  client: ForgetfulClient,
  { count, round, idBytes }: { readonly count: number; readonly round: number; readonly idBytes: number },
): Promise<void> {
  const idOf = (number: number): string => `${round}-${number}`.padEnd(idBytes, '.');
  await inBatches(broker, client, count, (number) => ({
    command: 20,
    id: idOf(number),
    queue: QUEUE,
    payloadBytes: SMALL,
  }));
}

function emptied(broker: RetainedBroker, clients: readonly ForgetfulClient[]): () => Promise<void> {
  return async () => {
    for (const client of clients) client.disconnect();
    await broker.settle();
    await deleteQueues(broker, [QUEUE]);
  };
}

async function deleteQueues(broker: RetainedBroker, names: readonly string[]): Promise<void> {
  const client = await broker.connect();
  await inBatches(broker, client, names.length, (number) => ({
    command: 41,
    id: 'delete',
    queue: names[number] ?? '',
  }));
  client.disconnect();
}
