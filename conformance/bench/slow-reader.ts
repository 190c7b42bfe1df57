// Measures the cost of a subscriber that never reads: one publisher, nine subscribers that read, with and without a tenth that does not
// read, with and without acknowledgments. Compares the processor time of the broker per message; the goal is a difference of at most 15 percent.
//
//   node --import tsx conformance/bench/slow-reader.ts [TARGET] [--json PATH] [--reps N]
import type { BenchBroker, BenchTarget } from '../src/bench/bench-target.ts';
import { cpuPerMessage, type JobContext, recordReading } from '../src/bench/jobs/job.ts';
import { leadFor } from '../src/bench/jobs/session.ts';
import { LoadGenerator } from '../src/bench/load/load-generator.ts';
import { LoadLink } from '../src/bench/load/load-link.ts';
import type { Reading } from '../src/bench/metrics.ts';
import type { ConfigurationRequest } from '../src/configuration.ts';
import { Command } from '../src/wire/command.ts';
import { figure } from './figure.ts';

const readerCount = 9;
const payloadBytes = 1024;
const window = 256;
const passMs = 3000;

const request: ConfigurationRequest = {
  limits: { maxQueuedBytes: 8 * 1024 ** 3 },
  timing: { ackTimeoutMs: 3_600_000 },
};

type Variant = { readonly mode: 'FanOutWithAck' | 'FanOutWithoutAck'; readonly isBeside: boolean };

const variants: readonly Variant[] = (['FanOutWithAck', 'FanOutWithoutAck'] as const).flatMap((mode) =>
  [false, true].map((isBeside) => ({ mode, isBeside })),
);

await figure({
  roundCount: 5,
  measure: async (context) => {
    for (let round = 0; round < context.settings.roundCount; round += 1) {
      for (const target of context.targets) {
        for (const variant of variants) await measure(context, target, variant, round);
      }
    }
  },
});

async function measure(
  context: JobContext,
  target: BenchTarget,
  variant: Variant,
  round: number,
): Promise<void> {
  const baseLoad = `${variant.mode}, nine that read`;
  const load = variant.isBeside ? `${baseLoad}, one that never does` : baseLoad;
  const key = { job: 'slow reader', load, target: target.name, ...(variant.isBeside ? { baseLoad } : {}) };
  await recordReading(context, key, round, async () => {
    const broker = await target.start(request);
    try {
      return await runVariant(broker, variant);
    } finally {
      await broker.stop();
    }
  });
}

async function runVariant(broker: BenchBroker, { mode, isBeside }: Variant): Promise<Reading> {
  const shape = { mode, subscriberCount: readerCount };
  const load = await LoadGenerator.open({
    address: broker.address,
    queue: 'fan',
    prefetch: window,
    ...shape,
  });
  const silent = isBeside ? await silentSubscriber(broker) : undefined;
  try {
    const order = { payloadBytes, window, ...leadFor(shape, { window, payloadBytes }) };
    await load.pass({ ...order, durationMs: 1000 });
    const before = broker.usage();
    const { publish, receive } = await load.pass({ ...order, durationMs: passMs });
    const cpu = cpuPerMessage(before, broker.usage(), publish.sentCount);
    const seconds = (receive.lastAtUs - publish.startedAtUs) / 1e6;
    return { deliveriesPerSecond: receive.receivedCount / seconds, ...cpu };
  } finally {
    silent?.close();
    await load.close();
  }
}

async function silentSubscriber(broker: BenchBroker): Promise<LoadLink> {
  const link = await LoadLink.open(broker.address);
  await link.request({ command: Command.Subscribe, queue: 'fan' });
  link.stopReading();
  return link;
}
