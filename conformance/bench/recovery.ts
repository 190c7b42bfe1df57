// Measures the recovery of a durable broker after kill -9 with 1,000,000 messages of 1 KiB in its store: the time from its start until it
// answers a client, the maximum memory during this time, and the disk space of a message. Fails if a message is missing.
//
//   node --import tsx conformance/bench/recovery.ts [TARGET] [--json PATH] [--reps N]
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobContext } from '../src/bench/jobs/job.ts';
import { mebibytes, recordReading } from '../src/bench/jobs/job.ts';
import { currentSecond, loadClock } from '../src/bench/load/load-clock.ts';
import { LoadFault } from '../src/bench/load/load-fault.ts';
import { LoadLink } from '../src/bench/load/load-link.ts';
import { Publisher } from '../src/bench/load/publisher.ts';
import { makeQueue, queueLength } from '../src/bench/load/queue-commands.ts';
import type { Reading } from '../src/bench/metrics.ts';
import { usageOf } from '../src/bench/process-usage.ts';
import type { ConfigurationRequest } from '../src/configuration.ts';
import type { Broker } from '../src/target/broker.ts';
import { spawnBroker } from '../src/target/broker.ts';
import { readTarget } from '../src/target/target-file.ts';
import { timingFor } from '../src/timing.ts';
import { UsageError } from '../src/usage-error.ts';
import { figure } from './figure.ts';

const messageCount = 1_000_000;
const payloadBytes = 1024;
const queue = 'kept';
const request: ConfigurationRequest = { storage: 'durable', limits: { maxQueuedBytes: 8 * 1024 ** 3 } };
/** Long enough for a slow machine, so that no measurement is cut off. */
const timeoutScale = 20;

await figure({
  roundCount: 3,
  measure: async (context, path) => {
    for (let round = 0; round < context.settings.roundCount; round += 1) await measure(context, path, round);
  },
});

async function measure(context: JobContext, path: string, round: number): Promise<void> {
  const { lifecycle, name } = readTarget(path);
  if (lifecycle.kind !== 'spawn') throw new UsageError('recovery needs a broker that the runner starts');
  const load = '1,000,000 of 1 KiB after a kill';
  // The broker stores all its data in this folder.
  const temporary = tmpdir();
  const folder = mkdtempSync(join(temporary, 'truemq-recovery-'));
  process.env['TMPDIR'] = folder;
  await recordReading(context, { job: 'recovery', load, target: name }, round, async () => {
    const broker = await spawnBroker(lifecycle, request, timingFor(timeoutScale));
    try {
      return await recoveryOf(broker, folder);
    } finally {
      await broker.dispose();
    }
  });
  process.env['TMPDIR'] = temporary;
  rmSync(folder, { recursive: true, force: true });
}

async function recoveryOf(broker: Broker, folder: string): Promise<Reading> {
  await fill(broker);
  await broker.crash();
  const diskBytes = sizeOf(folder) / messageCount;
  const startedAtMs = performance.now();
  await broker.start();
  const control = await LoadLink.open(broker.endpoints.tcp);
  const recoveryMs = performance.now() - startedAtMs;
  const peak = broker.processId === undefined ? undefined : usageOf(broker.processId)?.peakRssBytes;
  const count = await queueLength(control, queue);
  control.close();
  if (count !== messageCount) throw new LoadFault(`${count} messages were recovered`);
  return { recoveryMs, diskBytes, ...(peak === undefined ? {} : { peakRssMiB: mebibytes(peak) }) };
}

async function fill(broker: Broker): Promise<void> {
  const control = await LoadLink.open(broker.endpoints.tcp);
  await makeQueue(control, queue);
  control.close();
  const publisher = await Publisher.open(broker.endpoints.tcp, loadClock(currentSecond()));
  const order = { queue, tag: queue, payloadBytes, window: 4096, durationMs: 3_600_000 };
  const { confirmedCount } = await publisher.publish({ ...order, maxCount: messageCount });
  publisher.close();
  if (confirmedCount < messageCount) throw new LoadFault(`${messageCount - confirmedCount} were refused`);
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
