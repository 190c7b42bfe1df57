// Publishes 10,000 messages of 1 MiB to a broker whose memoryLimit is 1 GiB: publishers get MEMORY_LIMIT, deliveries and
// acknowledgments continue, and the process stays within the limit: the script fails if the resident memory exceeds it. Prints how many
// messages were accepted, refused and delivered, the maximum resident memory, and the longest wait for a Pong during the load.
//
//   node --import tsx conformance/bench/memory-limit.ts [TARGET] [--json PATH] [--reps N]
import type { BenchBroker, BenchTarget } from '../src/bench/bench-target.ts';
import { type JobContext, mebibytes, recordReading } from '../src/bench/jobs/job.ts';
import { currentSecond, loadClock } from '../src/bench/load/load-clock.ts';
import { LoadFault } from '../src/bench/load/load-fault.ts';
import { LoadLink } from '../src/bench/load/load-link.ts';
import { Publisher } from '../src/bench/load/publisher.ts';
import { makeQueue } from '../src/bench/load/queue-commands.ts';
import { SubscriberGroup } from '../src/bench/load/subscriber-group.ts';
import type { Reading } from '../src/bench/metrics.ts';
import type { ConfigurationRequest } from '../src/configuration.ts';
import { figure } from './figure.ts';
import { PingProbe } from './ping-probe.ts';

const messageCount = 10_000;
/** The largest body is 1 MiB, including the names in it. */
const payloadBytes = 1024 * 1024 - 200;
const queue = 'large';
const tag = 'large';
const memoryLimitBytes = 1024 ** 3;
const request: ConfigurationRequest = { limits: { memoryLimitBytes } };

await figure({
  roundCount: 1,
  measure: async (context) => {
    for (let round = 0; round < context.settings.roundCount; round += 1) {
      for (const target of context.targets) await measure(context, target, round);
    }
  },
});

async function measure(context: JobContext, target: BenchTarget, round: number): Promise<void> {
  const key = { job: 'memory limit', load: '10,000 of 1 MiB, memoryLimit 1 GiB', target: target.name };
  await recordReading(context, key, round, async () => {
    const broker = await target.start(request);
    try {
      return await overfill(broker);
    } finally {
      await broker.stop();
    }
  });
}

async function overfill(broker: BenchBroker): Promise<Reading> {
  const control = await LoadLink.open(broker.address);
  await makeQueue(control, queue);
  control.close();
  const probe = await PingProbe.start(broker.address);
  try {
    const counts = await publishAndTake(broker);
    const { peakRssBytes } = broker.usage() ?? {};
    if (peakRssBytes !== undefined && peakRssBytes > memoryLimitBytes)
      throw new LoadFault(`the process had ${mebibytes(peakRssBytes)} MiB, more than memoryLimit`);
    const peak = peakRssBytes === undefined ? {} : { peakRssMiB: mebibytes(peakRssBytes) };
    return { ...counts, holdMs: probe.longestMs, ...peak };
  } finally {
    probe.stop();
  }
}

async function publishAndTake(broker: BenchBroker): Promise<Reading> {
  const publisher = await Publisher.open(broker.address, loadClock(currentSecond()));
  const order = { queue, payloadBytes, window: 8, durationMs: 600_000 };
  const first = await publisher.publish({ ...order, tag, maxCount: messageCount });
  const refusedCount = onlyMemoryLimit(first.refusedByCode);
  const deliveredCount = await deliverAll(broker, first.confirmedCount);
  const again = await publisher.publish({ ...order, tag: 'again', maxCount: 10 });
  publisher.close();
  if (again.confirmedCount < 10)
    throw new LoadFault('still refuses publishes after everything was acknowledged');
  return { acceptedCount: first.confirmedCount, refusedCount, deliveredCount };
}

function onlyMemoryLimit(refusedByCode: Readonly<Record<string, number>>): number {
  const { MEMORY_LIMIT: refusedCount = 0, ...others } = refusedByCode;
  const [other] = Object.keys(others);
  if (other !== undefined) throw new LoadFault(`publishes were refused with ${other}`);
  if (refusedCount === 0) throw new LoadFault('no publish was refused: the limit was not reached');
  return refusedCount;
}

/** Receives and acknowledges everything from the full broker. */
async function deliverAll(broker: BenchBroker, count: number): Promise<number> {
  const group = new SubscriberGroup(loadClock(currentSecond()), () => {});
  const order = { queue, count: 1, prefetch: 4, acknowledge: true };
  await group.connect(broker.address, order);
  group.arm({ queue, tag, payloadBytes, creditEvery: 0 });
  await group.subscribe(order);
  const { receivedCount, lostCount } = await group.expect(count);
  group.close();
  if (lostCount > 0) throw new LoadFault(`${lostCount} of ${count} accepted messages did not arrive`);
  return receivedCount;
}
