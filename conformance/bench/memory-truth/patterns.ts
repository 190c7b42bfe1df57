// The patterns of memory-truth.ts: what the clients do, and which data the broker must hold afterwards. A table.
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { ConfigurationRequest } from '../../src/configuration.ts';
import { Command } from '../../src/wire/command.ts';
import { encodeBody, encodeFrame, frameAround } from '../../src/wire/encode.ts';
import {
  acknowledging,
  CONNECTION_BYTES,
  COPY_BYTES,
  MESSAGE_BYTES,
  QUEUE_BYTES,
  REPEAT_BYTES,
  type Stage,
  SUBSCRIPTION_BYTES,
} from './stage.ts';

export type Pattern = {
  readonly name: string;
  readonly request?: ConfigurationRequest;
  /** Returns the bytes that must be held. */
  readonly run: (stage: Stage) => Promise<number>;
};

const KIB = 1024;
const MIB = 1024 * KIB;
/** Deliveries that one subscriber may leave unacknowledged. */
const MAX_IN_FLIGHT = 65_536;
const long: ConfigurationRequest['timing'] = {
  ackTimeoutMs: 3_600_000,
  frameTimeoutMs: 3_600_000,
  idleTimeoutMs: 3_600_000,
};
const roomy: ConfigurationRequest = {
  timing: long,
  limits: {
    maxQueuedBytes: 8 * KIB * MIB,
    maxInFlightPerSubscriber: MAX_IN_FLIGHT,
    maxBlockedPublishes: 100_000,
  },
};
const limited: ConfigurationRequest = {
  timing: long,
  limits: { memoryLimitBytes: 512 * MIB, maxConnections: 2000 },
};

const fanOut = { mode: 1, maxQueueSize: 100, overflowStrategy: 0 };
const evictedCount = 20_000;
const evictedBytes = 4 * KIB;

/** A FanOutWithAck queue with a member that acknowledges, and one that does not. */
async function evict(stage: Stage, options: object, reads: boolean): Promise<number> {
  await stage.createQueue('fan', { ...fanOut, ...options });
  await acknowledging(await stage.link(), 'fan');
  const slow = await stage.link();
  await acknowledging(slow, 'fan', { accepts: () => false, window: 8 });
  if (!reads) slow.stopReading();
  await stage.publish({ queue: 'fan', count: evictedCount, payloadBytes: evictedBytes });
  return (fanOut.maxQueueSize + 8) * (evictedBytes + MESSAGE_BYTES + COPY_BYTES);
}

/** Publishes a quarter of the messages at a time, so that far more messages expire than the broker ever holds. */
async function expire(stage: Stage): Promise<number> {
  await stage.createQueue('fan', { ...fanOut, maxQueueSize: 50_000, messageTtl: '00:00:01' });
  await acknowledging(await stage.link(), 'fan');
  await acknowledging(await stage.link(), 'fan', { accepts: () => false, window: 8 });
  const order = { queue: 'fan', count: evictedCount / 4, payloadBytes: evictedBytes };
  for (let part = 0; part < 4; part += 1) {
    await stage.publish({ ...order, idPrefix: `e${part}` });
    await wait(1500);
  }
  return 8 * (evictedBytes + MESSAGE_BYTES + COPY_BYTES);
}

/** Every `keptEvery`-th message stays unacknowledged. */
async function survivors(
  stage: Stage,
  count: number,
  payloadBytes: number,
  keptEvery: number,
): Promise<number> {
  await stage.createQueue('kept');
  const taken: (() => number)[] = [];
  const accepts = (number: number): boolean => number % keptEvery !== 0;
  // As few subscribers as possible hold the messages, so that the remaining messages are far apart in memory.
  for (let room = 0; room < count / keptEvery; room += MAX_IN_FLIGHT) {
    taken.push((await acknowledging(await stage.link(), 'kept', { accepts, window: MAX_IN_FLIGHT })).count);
  }
  await stage.publish({ queue: 'kept', count, payloadBytes });
  await untilCount(() => taken.reduce((sum, one) => sum + one(), 0), count);
  return (count / keptEvery) * (payloadBytes + MESSAGE_BYTES + COPY_BYTES);
}

async function survivorsOfRecovery(stage: Stage, payloadBytes: number): Promise<number> {
  const count = 60_000;
  await stage.createQueue('kept');
  await stage.publish({ queue: 'kept', count, payloadBytes });
  await stage.restart();
  const accepts = (number: number): boolean => number % 50 !== 0;
  const taken = await acknowledging(await stage.link(), 'kept', { accepts, window: MAX_IN_FLIGHT });
  await untilCount(taken.count, count);
  return (count / 50) * (payloadBytes + MESSAGE_BYTES + COPY_BYTES);
}

async function untilCount(count: () => number, wanted: number): Promise<void> {
  const until = performance.now() + 30_000;
  while (count() < wanted && performance.now() < until) await wait(20);
  if (count() < wanted) throw new Error(`${count()} of ${wanted} were delivered`);
}

async function deleteWithTtl(stage: Stage): Promise<number> {
  for (let round = 0; round < 20; round += 1) {
    await stage.createQueue('old', { messageTtl: '1.00:00:00' });
    await stage.publish({ queue: 'old', count: 10_000, payloadBytes: KIB });
    await stage.deleteQueue('old');
  }
  return 0;
}

/** Each round's deliveries stay unacknowledged when the queue is deleted. */
async function deleteInFlight(stage: Stage): Promise<number> {
  const link = await stage.link();
  for (let round = 0; round < 100; round += 1) {
    await stage.createQueue('gone');
    await acknowledging(link, 'gone', { accepts: () => false, window: 256 });
    await stage.publish({ queue: 'gone', count: 256, payloadBytes: 8 * KIB, idPrefix: `g${round}` });
    await stage.deleteQueue('gone');
    await link.request({ command: Command.Unsubscribe, queue: 'gone' });
  }
  return 0;
}

const crowdCount = 1000;
/** The flags of a frame that is compressed with gzip. */
const GZIP = 1;

/** Clients subscribe to one queue without acknowledgments and never read. */
async function unreadOutput(stage: Stage): Promise<number> {
  await stage.createQueue('flood', { mode: 2 });
  const subscribe = encodeFrame({ command: Command.Subscribe, id: 's', queue: 'flood' });
  for (let number = 0; number < crowdCount; number += 1) {
    const socket = await stage.socket();
    socket.write(subscribe);
    socket.pause();
  }
  await wait(500);
  await stage.publish({ queue: 'flood', count: 3000, payloadBytes: 2 * KIB });
  return 0;
}

/** Clients ask for Pongs and never read them: each may leave maxOutboundBytes unsent, 4 MiB by default. */
async function unreadPongs(stage: Stage): Promise<number> {
  const pings = Buffer.concat(
    Array.from({ length: 50 }, (_, number) =>
      encodeFrame({ command: Command.Ping, id: `p-${number}`.padEnd(64, '.') }),
    ),
  );
  const sockets = [];
  for (let number = 0; number < 50; number += 1) sockets.push(await stage.socket());
  for (const socket of sockets) socket.pause();
  for (let round = 0; round < 1500; round += 1) {
    for (const socket of sockets) if (socket.writableLength < MIB) socket.write(pings);
    if (round % 10 === 0) await wait(1);
  }
  await wait(500);
  return 50 * (CONNECTION_BYTES + 4 * MIB);
}

async function incompleteFrames(stage: Stage): Promise<number> {
  const header = Buffer.from([0x00, 0x10, 0x00, 0x00, 0x00]);
  const body = Buffer.alloc(MIB - 1, 0x31);
  for (let number = 0; number < crowdCount; number += 1) {
    const socket = await stage.socket();
    socket.write(header);
    socket.write(body);
  }
  await wait(3000);
  return 0;
}

/** Frames of 1 KiB that are 1 MiB when they are decompressed. */
async function compressedFrames(stage: Stage): Promise<number> {
  await stage.createQueue('bomb', { maxQueueSize: 10, overflowStrategy: 0 });
  const publish = { command: Command.Publish, id: 'b', queue: 'bomb', payload: '1'.repeat(MIB - 100) };
  const frame = frameAround(gzipSync(encodeBody(publish)), { flags: GZIP });
  const frames = Buffer.concat(Array.from({ length: 16 }, () => frame));
  const sockets = [];
  for (let number = 0; number < crowdCount; number += 1) sockets.push(await stage.socket());
  for (const socket of sockets) socket.on('data', () => undefined).write(frames);
  await wait(6000);
  return 10 * MIB;
}

/** Publishes faster than the broker can handle, on all connections. */
async function pendingInput(stage: Stage): Promise<number> {
  const payload = '1'.repeat(64 * KIB);
  await stage.createQueue('pending', { maxQueueSize: 100, overflowStrategy: 0 });
  const sockets = [];
  for (let number = 0; number < crowdCount; number += 1) sockets.push(await stage.socket());
  const frames = Buffer.concat(
    Array.from({ length: 8 }, (_, number) =>
      encodeFrame({ command: Command.Publish, id: `p-${number}`, queue: 'pending', payload }),
    ),
  );
  for (const socket of sockets) socket.on('data', () => undefined);
  for (let round = 0; round < 4; round += 1) for (const socket of sockets) socket.write(frames);
  await wait(5000);
  return 0;
}

async function manyQueues(stage: Stage): Promise<number> {
  const count = 100_000;
  const link = await stage.link();
  let answered = 0;
  link.handlers = {
    onFrame: () => {
      answered += 1;
    },
  };
  for (let number = 0; number < count; number += 1) {
    link.out.add(encodeFrame({ command: Command.CreateQueue, id: `c-${number}`, queue: `queue_${number}` }));
    if (number % 2000 === 0) await untilCount(() => answered, number - 4000);
  }
  await untilCount(() => answered, count - 3);
  return count * QUEUE_BYTES;
}

async function manySubscriptions(stage: Stage): Promise<number> {
  const each = 1000;
  const connections = 300;
  for (let number = 0; number < each; number += 1) await stage.createQueue(`topic_${number}`);
  const frames = Buffer.concat(
    Array.from({ length: each }, (_, number) =>
      encodeFrame({ command: Command.Subscribe, id: `s-${number}`, queue: `topic_${number}` }),
    ),
  );
  for (let number = 0; number < connections; number += 1) {
    const socket = await stage.socket();
    socket.on('data', () => undefined);
    socket.write(frames);
  }
  await wait(2000);
  return each * QUEUE_BYTES + connections * (CONNECTION_BYTES + each * SUBSCRIPTION_BYTES);
}

async function blockedPublishes(stage: Stage): Promise<number> {
  await stage.createQueue('full', { maxQueueSize: 1, overflowStrategy: 2 });
  const count = 3000;
  for (let number = 0; number < 10; number += 1) {
    await stage.publish({
      queue: 'full',
      count,
      payloadBytes: KIB,
      idPrefix: `b${number}`,
      isUnanswered: true,
    });
  }
  return 10 * count * (KIB + MESSAGE_BYTES + COPY_BYTES);
}

/** All connections repeat one blocked publish, whose id and queue name are long. */
async function repeats(stage: Stage): Promise<number> {
  const queue = 'q'.repeat(200);
  await stage.createQueue(queue, { maxQueueSize: 1, overflowStrategy: 2 });
  const repeat = encodeFrame({ command: Command.Publish, id: 'i'.repeat(250), queue, payload: '1' });
  const frames = Buffer.concat(Array.from({ length: 1000 }, () => repeat));
  await stage.publish({ queue, count: 1, payloadBytes: 1, idPrefix: 'first' });
  for (let number = 0; number < 300; number += 1) {
    const socket = await stage.socket();
    socket.on('data', () => undefined);
    socket.write(frames);
  }
  await wait(1500);
  return 300 * CONNECTION_BYTES + 300_000 * (REPEAT_BYTES + 450);
}

async function manyIds(stage: Stage): Promise<number> {
  const count = 200_000;
  await stage.createQueue('ids');
  await stage.publish({ queue: 'ids', count, payloadBytes: 8, idBytes: 200 });
  return count * (200 + 200 + 30 + MESSAGE_BYTES);
}

async function copiesInFlight(stage: Stage): Promise<number> {
  const members = 20;
  const count = 20_000;
  await stage.createQueue('copies', { mode: 1 });
  for (let number = 0; number < members; number += 1) {
    await acknowledging(await stage.link(), 'copies', { accepts: () => false, window: MAX_IN_FLIGHT });
  }
  await stage.publish({ queue: 'copies', count, payloadBytes: 100 });
  return count * (100 + MESSAGE_BYTES + members * COPY_BYTES);
}

export const patterns: readonly Pattern[] = [
  {
    name: 'evicted copies, member that does not acknowledge',
    request: roomy,
    run: (stage) => evict(stage, {}, true),
  },
  {
    name: 'evicted copies, member that never reads',
    request: roomy,
    run: (stage) => evict(stage, {}, false),
  },
  {
    name: 'evicted copies, TTL of 1 s',
    request: roomy,
    run: expire,
  },
  { name: 'deleted queues with a TTL', request: roomy, run: deleteWithTtl },
  { name: 'deleted queues with deliveries in flight', request: roomy, run: deleteInFlight },
  {
    name: '100,000 of 164 B among acknowledged ones',
    request: roomy,
    run: (stage) => survivors(stage, 200_000, 120, 2),
  },
  {
    name: '12,000 of 164 B among acknowledged ones',
    request: roomy,
    run: (stage) => survivors(stage, 600_000, 120, 50),
  },
  {
    name: '4,000 of 1 KiB among acknowledged ones',
    request: roomy,
    run: (stage) => survivors(stage, 200_000, KIB, 50),
  },
  {
    name: 'survivors of a recovery, 164 B',
    request: { ...roomy, storage: 'durable' },
    run: (stage) => survivorsOfRecovery(stage, 120),
  },
  {
    name: 'survivors of a recovery, 1 KiB',
    request: { ...roomy, storage: 'durable' },
    run: (stage) => survivorsOfRecovery(stage, KIB),
  },
  { name: '1,000 connections that do not read', request: limited, run: unreadOutput },
  { name: '50 connections that do not read Pongs', request: roomy, run: unreadPongs },
  { name: '1,000 connections with incomplete frames', request: limited, run: incompleteFrames },
  { name: '1,000 connections with pending publishes', request: limited, run: pendingInput },
  { name: '1,000 connections with compressed frames', request: limited, run: compressedFrames },
  { name: '100,000 queues', request: roomy, run: manyQueues },
  { name: '300,000 subscriptions', request: roomy, run: manySubscriptions },
  { name: '30,000 blocked publishes', request: roomy, run: blockedPublishes },
  { name: '300,000 repeats of a blocked publish', request: roomy, run: repeats },
  { name: '200,000 ids of 200 B', request: roomy, run: manyIds },
  { name: '400,000 copies in flight', request: roomy, run: copiesInFlight },
];
