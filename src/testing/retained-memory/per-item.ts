// Tells what one item of each kind keeps in a broker: `node --expose-gc --import tsx src/testing/retained-memory/per-item.ts [KIND]`. The
// constants of the memory budget come from this table. One process per kind, since the resident memory of a process never falls reliably.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { BrokerOptions } from '../composed-broker.ts';
import { testOptions } from '../tested-broker.ts';
import type { ForgetfulClient } from './forgetful-client.ts';
import type { SentFrame } from './frame-batch.ts';
import { retainedBytes } from './garbage.ts';
import { RetainedBroker } from './retained-broker.ts';

type Kind = {
  readonly count: number;
  /** Items that were made, before they are measured, and the load that makes `count` more. */
  readonly prepare: (broker: RetainedBroker) => Promise<(count: number, round: number) => Promise<void>>;
  readonly gateway?: Partial<BrokerOptions>;
  readonly broker?: Partial<BrokerOptions['broker']>;
  readonly gated?: boolean;
};

const BATCH = 64;
const huge = 1_000_000_000;
const broad: Partial<BrokerOptions['broker']> = {
  maxInFlightPerSubscriber: huge,
  maxBlockedPublishes: huge,
  maxBlockedBytes: 4e9,
  maxQueuedBytes: 8e9,
  maxQueues: huge,
  maxSubscriptionsPerConnection: huge,
  ackTimeoutMs: 3_600_000,
  defaultMaxQueueSize: 2_000_000_000,
};

async function sendAll(
  broker: RetainedBroker,
  client: ForgetfulClient,
  count: number,
  frame: (n: number) => SentFrame,
): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    client.send(Array.from({ length: Math.min(BATCH, count - from) }, (_, n) => frame(from + n)));
    await broker.settle();
  }
}
const idOf = (round: number, n: number, length = 16) => `r${round}-${n}`.padEnd(length, '-');
const create = (queue: string, options: object): SentFrame => ({
  command: 40,
  id: 'create',
  queue,
  json: JSON.stringify({ maxQueueSize: 2_000_000_000, ...options }),
});
const subscribe = (queue: string, window?: number): SentFrame => ({
  command: 22,
  id: `subscribe`,
  queue,
  headers: window === undefined ? [] : [['maxInFlight', String(window)]],
});

/** Payload so that the content has this many bytes with an id of 16 and a queue name of 1. */
const payloadFor = (contentBytes: number) => contentBytes - 29;

function publishing(
  contentBytes: number,
  setup: (broker: RetainedBroker, publisher: ForgetfulClient) => Promise<void>,
  more: { idBytes?: number; headers?: SentFrame['headers'] } = {},
): Kind['prepare'] {
  return async (broker) => {
    const publisher = await broker.connect();
    await setup(broker, publisher);
    return async (count, round) => {
      await sendAll(broker, publisher, count, (n) => ({
        command: 20,
        id: idOf(round, n, more.idBytes ?? 16),
        queue: 'q',
        payloadBytes: payloadFor(contentBytes),
        ...(more.headers ? { headers: more.headers } : {}),
      }));
      if (publisher.count(99) > 0) throw new Error(publisher.lastError);
    };
  };
}

function members(count: number, options: object, window: number) {
  return async (broker: RetainedBroker, publisher: ForgetfulClient) => {
    await broker.ask(publisher, create('q', options));
    for (let n = 0; n < count; n += 1) await broker.ask(await broker.connect(), subscribe('q', window));
  };
}

const never = 999_999_999;
const contentKinds: Record<string, (bytes: number) => Kind> = {
  waiting: (bytes) => ({ count: 40_000, prepare: publishing(bytes, members(0, {}, 1)) }),
  'waiting, PriorityBased': (bytes) => ({
    count: 40_000,
    prepare: publishing(bytes, members(0, { mode: 'PriorityBased' }, 1)),
  }),
  'waiting, TTL': (bytes) => ({
    count: 40_000,
    prepare: publishing(bytes, members(0, { messageTtl: '1.00:00:00' }, 1)),
  }),
  'waiting, id of 250 B': (bytes) => ({
    count: 40_000,
    prepare: publishing(bytes, members(0, {}, 1), { idBytes: 250 }),
  }),
  'in flight': (bytes) => ({ count: 40_000, prepare: publishing(bytes, members(1, {}, never)) }),
  'FanOutWithAck, owed by 1 member': (bytes) => ({
    count: 40_000,
    prepare: publishing(bytes, members(1, { mode: 'FanOutWithAck' }, 1)),
  }),
  'FanOutWithAck, owed by 10 members': (bytes) => ({
    count: 40_000,
    prepare: publishing(bytes, members(10, { mode: 'FanOutWithAck' }, 1)),
  }),
  'FanOutWithAck, in flight at 1 member': (bytes) => ({
    count: 40_000,
    prepare: publishing(bytes, members(1, { mode: 'FanOutWithAck' }, never)),
  }),
  'FanOutWithAck, in flight at 10 members': (bytes) => ({
    count: 20_000,
    prepare: publishing(bytes, members(10, { mode: 'FanOutWithAck' }, never)),
  }),
  'FanOutWithAck, in flight at 1 of 2, owed by the other': (bytes) => ({
    count: 40_000,
    prepare: publishing(bytes, async (broker, publisher) => {
      await broker.ask(publisher, create('q', { mode: 'FanOutWithAck' }));
      await broker.ask(await broker.connect(), subscribe('q', never));
      await broker.ask(await broker.connect(), subscribe('q', 1));
    }),
  }),
  'dead letter': (bytes) => ({
    count: 40_000,
    prepare: publishing(bytes, async (broker, publisher) => {
      await broker.ask(publisher, create('q.dlq', {}));
      await broker.ask(
        publisher,
        create('q', { maxQueueSize: 1, overflowStrategy: 'RedirectToDlq', enableDeadLetterQueue: true }),
      );
    }),
  }),
  'blocked publish': (bytes) => ({
    count: 40_000,
    prepare: publishing(bytes, members(0, { maxQueueSize: 1, overflowStrategy: 'BlockPublisher' }, 1)),
  }),
  'pending input (publish)': (bytes) => ({
    count: 20_000,
    gated: true,
    prepare: publishing(bytes, async () => undefined),
  }),
};

const otherKinds: Record<string, Kind> = {
  'repeat of a blocked publish': {
    count: 40_000,
    prepare: async (broker) => {
      const publisher = await broker.connect();
      await members(0, { maxQueueSize: 1, overflowStrategy: 'BlockPublisher' }, 1)(broker, publisher);
      await sendAll(broker, publisher, 2, (n) => ({
        command: 20,
        id: `first-${n}`,
        queue: 'q',
        payloadBytes: 1,
      }));
      return (count) =>
        sendAll(broker, publisher, count, () => ({
          command: 20,
          id: 'first-1',
          queue: 'q',
          payloadBytes: 1,
        }));
    },
  },
  'repeat of a blocked publish, id of 250 B and queue of 200 B': {
    count: 40_000,
    prepare: async (broker) => {
      const publisher = await broker.connect();
      const queue = 'q'.repeat(200);
      const id = 'i'.repeat(250);
      await broker.ask(publisher, create(queue, { maxQueueSize: 1, overflowStrategy: 'BlockPublisher' }));
      await sendAll(broker, publisher, 2, (n) => ({
        command: 20,
        id: n === 0 ? 'other' : id,
        queue,
        payloadBytes: 1,
      }));
      return (count) =>
        sendAll(broker, publisher, count, () => ({ command: 20, id, queue, payloadBytes: 1 }));
    },
  },
  'queue, name of 16 B': {
    count: 20_000,
    prepare: async (broker) => {
      const client = await broker.connect();
      return (count, round) =>
        sendAll(broker, client, count, (n) => create(idOf(round, n).replaceAll('-', '_'), {}));
    },
  },
  'queue, name of 200 B, own options': {
    count: 20_000,
    prepare: async (broker) => {
      const client = await broker.connect();
      return (count, round) =>
        sendAll(broker, client, count, (n) =>
          create(idOf(round, n, 200).replaceAll('-', '_'), {
            mode: 'PriorityBased',
            messageTtl: '1.00:00:00',
            overflowStrategy: 'DropNewest',
          }),
        );
    },
  },
  'queue with one waiting message of 100 B and a TTL': {
    count: 20_000,
    prepare: async (broker) => {
      const client = await broker.connect();
      return async (count, round) => {
        const name = (n: number) => idOf(round, n).replaceAll('-', '_');
        await sendAll(broker, client, count, (n) => create(name(n), { messageTtl: '1.00:00:00' }));
        await sendAll(broker, client, count, (n) => ({
          command: 20,
          id: idOf(round, n),
          queue: name(n),
          payloadBytes: 60,
        }));
      };
    },
  },
  'subscription to an existing queue (1,000 queues, 500 connections)': {
    count: 40_000,
    gateway: { maxConnections: 10_000 },
    prepare: async (broker) => {
      const clients: ForgetfulClient[] = [];
      for (let n = 0; n < 500; n += 1) clients.push(await broker.connect());
      const [first] = clients;
      if (first === undefined) throw new Error('no client');
      await sendAll(broker, first, 1000, (n) => create(`queue_${n}`, {}));
      let made = 0;
      return async (count) => {
        for (let left = count; left > 0; left -= 80) {
          const client = clients[made % clients.length];
          const block = Math.floor(made / clients.length) * 80;
          client?.send(Array.from({ length: 80 }, (_, n) => subscribe(`queue_${block + n}`)));
          await broker.settle();
          made += 1;
        }
      };
    },
  },
  'subscription to an existing queue, FanOutWithAck, 1 connection, queue of its own (queue included)': {
    count: 20_000,
    prepare: async (broker) => {
      const client = await broker.connect();
      return (count, round) =>
        sendAll(broker, client, count, (n) => subscribe(idOf(round, n).replaceAll('-', '_')));
    },
  },
  'pending input (Ping)': {
    count: 40_000,
    gated: true,
    prepare: async (broker) => {
      const client = await broker.connect();
      return (count, round) => sendAll(broker, client, count, (n) => ({ command: 10, id: idOf(round, n) }));
    },
  },
  'pending input (Ack)': {
    count: 40_000,
    gated: true,
    prepare: async (broker) => {
      const client = await broker.connect();
      return (count, round) => sendAll(broker, client, count, (n) => ({ command: 30, id: idOf(round, n) }));
    },
  },
  'unsent output: Pong to a client that does not read, a write each': {
    count: 40_000,
    gateway: { maxOutboundBytes: huge },
    prepare: async (broker) => {
      const client = await broker.connect();
      client.stopReading();
      return async (count, round) => {
        for (let n = 0; n < count; n += 1) {
          client.send([{ command: 10, id: idOf(round, n) }]);
          await broker.settle();
        }
      };
    },
  },
  'unsent output: Pong to a client that does not read, 64 to a write': {
    count: 40_000,
    gateway: { maxOutboundBytes: huge },
    prepare: async (broker) => {
      const client = await broker.connect();
      client.stopReading();
      return (count, round) => sendAll(broker, client, count, (n) => ({ command: 10, id: idOf(round, n) }));
    },
  },
  'nothing (control: acknowledged at once)': {
    count: 40_000,
    prepare: async (broker) => {
      const publisher = await broker.connect();
      await broker.ask(publisher, create('q', {}));
      const subscriber = await broker.connect();
      subscriber.onDelivery = (id, client) => client.send([{ command: 30, id }]);
      await broker.ask(subscriber, subscribe('q'));
      return (count, round) =>
        sendAll(broker, publisher, count, (n) => ({
          command: 20,
          id: idOf(round, n),
          queue: 'q',
          payloadBytes: 71,
        }));
    },
  },
};

const kinds: Record<string, Kind> = {
  ...Object.fromEntries(
    Object.entries(contentKinds).flatMap(([name, kind]) =>
      [100, 1024].map((bytes) => [`${name}, ${bytes} B content`, kind(bytes)]),
    ),
  ),
  ...otherKinds,
};

async function measureKind(name: string): Promise<void> {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`unknown: ${name}`);
  const gate = { isClosed: false };
  const broker = await RetainedBroker.started({
    openStore: async () => ({
      recover: () => [],
      commit: () => (gate.isClosed ? new Promise<void>(() => undefined) : undefined),
      close: () => undefined,
    }),
    gateway: { ...testOptions, maxPendingInputBytes: 4e9, maxConnections: 10_000, ...kind.gateway },
    broker: { ...broad, ...kind.broker },
  });
  const load = await kind.prepare(broker);
  if (kind.gated) await holdInput(broker, gate);
  await load(kind.count / 2, 0);
  const before = await retainedBytes();
  const rssBefore = process.memoryUsage.rss();
  const accountedBefore = broker.accountedBytes();
  await load(kind.count, 1);
  const after = await retainedBytes();
  const rssAfter = process.memoryUsage.rss();
  const { heapUsed, external } = process.memoryUsage();
  const row = {
    heapAndExternal: Math.round((after - before) / kind.count),
    rss: Math.round((rssAfter - rssBefore) / kind.count),
    accounted: Math.round((broker.accountedBytes() - accountedBefore) / kind.count),
    count: kind.count,
    heapUsed,
    external,
  };
  process.stdout.write(JSON.stringify(row));
}

/** Arrivals wait from now on: a commit that never ends. */
async function holdInput(broker: RetainedBroker, gate: { isClosed: boolean }): Promise<void> {
  gate.isClosed = true;
  const client = await broker.connect();
  client.send([{ command: 20, id: 'hold', queue: 'hold', payloadBytes: 1 }]);
  await broker.settle();
}

const [, , only] = process.argv;
if (only !== undefined && kinds[only] !== undefined) await measureKind(only);
else {
  process.stdout.write('heap+external  RSS  accounted (bytes per item)\n');
  for (const name of Object.keys(kinds)) {
    if (only !== undefined && !name.includes(only)) continue;
    try {
      const text = execFileSync(
        process.execPath,
        ['--expose-gc', '--max-semi-space-size=1', '--import', 'tsx', fileURLToPath(import.meta.url), name],
        { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const row = JSON.parse(text) as { heapAndExternal: number; rss: number; accounted: number };
      process.stdout.write(
        `${String(row.heapAndExternal).padStart(13)} ${String(row.rss).padStart(5)} ${String(row.accounted).padStart(10)}  ${name}\n`,
      );
    } catch (error) {
      process.stdout.write(`FAILED ${name}: ${error instanceof Error ? error.message.slice(0, 200) : ''}\n`);
    }
  }
}
