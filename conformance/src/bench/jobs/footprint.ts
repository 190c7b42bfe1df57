// The footprint of a broker: the time from its start to the first handshake, its memory when idle, the memory for each queued message and
// each idle connection. Every figure uses a new process.
import type { ConfigurationRequest } from '../../configuration.ts';
import type { BenchBroker, BenchTarget } from '../bench-target.ts';
import { currentSecond, loadClock } from '../load/load-clock.ts';
import { LoadLink } from '../load/load-link.ts';
import { Publisher } from '../load/publisher.ts';
import { makeQueue } from '../load/queue-commands.ts';
import type { Reading } from '../metrics.ts';
import { delay, type Job, type JobContext, mebibytes, recordReading, settledRssBytes } from './job.ts';

const backlogCount = 100_000;
const backlogBytes = 1024;
const connectionCount = 1000;
const connectAtOnce = 50;
/** Enough to have been through every path once, outside the growth that is measured. */
const warmCount = 2000;
/** A process with a garbage collector gives back what its start has left only after some seconds without work. */
const idleMs = 12_000;
const request: ConfigurationRequest = { limits: { maxConnections: connectionCount + 100 } };

export const footprintJob: Job = async (context) => {
  for (let round = 0; round < context.settings.roundCount; round += 1) {
    for (const target of context.targets) await runRound(context, target, round);
  }
};

async function runRound(context: JobContext, target: BenchTarget, round: number): Promise<void> {
  const key = { job: 'footprint', load: 'idle and filled', target: target.name };
  await recordReading(context, key, round, async () => ({
    ...(await withBroker(target, startAndBacklog)),
    ...(await withBroker(target, connections)),
  }));
}

async function withBroker(
  target: BenchTarget,
  measure: (broker: BenchBroker, startedAtMs: number) => Promise<Reading>,
): Promise<Reading> {
  const startedAtMs = performance.now();
  const broker = await target.start(request);
  try {
    return await measure(broker, startedAtMs);
  } finally {
    await broker.stop();
  }
}

async function startAndBacklog(broker: BenchBroker, startedAtMs: number): Promise<Reading> {
  const link = await LoadLink.open(broker.address);
  const startMs = performance.now() - startedAtMs;
  await delay(idleMs);
  const idle = await settledRssBytes(broker);
  await makeQueue(link, 'backlog');
  const publisher = await Publisher.open(broker.address, loadClock(currentSecond()));
  await publishSome(publisher, warmCount, 'warm');
  const before = await settledRssBytes(broker);
  await publishSome(publisher, backlogCount, 'backlog');
  const after = await settledRssBytes(broker);
  publisher.close();
  link.close();
  return { startMs, ...optional('idleMiB', idle), ...growth('backlogMiB', before, after) };
}

async function publishSome(publisher: Publisher, maxCount: number, tag: string): Promise<void> {
  await publisher.publish({
    queue: 'backlog',
    tag,
    payloadBytes: backlogBytes,
    window: 256,
    durationMs: 600_000,
    maxCount,
  });
}

async function connections(broker: BenchBroker): Promise<Reading> {
  const first = await LoadLink.open(broker.address);
  await delay(idleMs);
  const before = await settledRssBytes(broker);
  const links = await idleLinks(broker, connectionCount);
  await delay(idleMs);
  const after = await settledRssBytes(broker);
  for (const link of [first, ...links]) link.close();
  return growth('connectionsMiB', before, after);
}

/** Opens connections that are idle after their handshake. */
export async function idleLinks(broker: BenchBroker, count: number): Promise<readonly LoadLink[]> {
  const links: LoadLink[] = [];
  while (links.length < count) {
    const batch = Math.min(connectAtOnce, count - links.length);
    links.push(...(await Promise.all(Array.from({ length: batch }, () => LoadLink.open(broker.address)))));
  }
  return links;
}

function optional(name: 'idleMiB', bytes: number | undefined): Reading {
  return bytes === undefined ? {} : { [name]: mebibytes(bytes) };
}

function growth(
  name: 'backlogMiB' | 'connectionsMiB',
  before: number | undefined,
  after: number | undefined,
): Reading {
  return before === undefined || after === undefined ? {} : { [name]: mebibytes(after - before) };
}
