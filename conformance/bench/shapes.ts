// Measures loads with many parties: a thousand connections with queues of their own, a hundred publishers and subscribers of one queue, four
// priorities, and a slow subscriber among fast ones. Compares the processor time of the server per message; the rate is that of one loading process.
//
//   node --import tsx conformance/bench/shapes.ts [TARGET] [--json PATH] [--reps N]
import { fileURLToPath } from 'node:url';
import type { BenchBroker } from '../src/bench/bench-target.ts';
import type { JobContext } from '../src/bench/jobs/job.ts';
import { cpuPerMessage, recordReading } from '../src/bench/jobs/job.ts';
import type { Reading } from '../src/bench/metrics.ts';
import type { ConfigurationRequest } from '../src/configuration.ts';
import { figure } from './figure.ts';
import type { Shape } from './shapes/shape.ts';
import { shapes } from './shapes/shape.ts';
import { ShapeLoad } from './shapes/shape-load.ts';

const skeleton = fileURLToPath(new URL('skeleton/target.json', import.meta.url));

/** A slow subscriber must not be taken for one that has gone. */
const request: ConfigurationRequest = {
  limits: { maxConnections: 5000, maxQueues: 5000, maxQueuedBytes: 8 * 1024 ** 3 },
  timing: { ackTimeoutMs: 3_600_000, idleTimeoutMs: 3_600_000 },
};

await figure({
  roundCount: 5,
  beside: [skeleton],
  measure: async (context) => {
    for (let round = 0; round < context.settings.roundCount; round += 1) {
      for (const shape of shapes) await measureShape(context, shape, round);
    }
  },
});

async function measureShape(context: JobContext, shape: Shape, round: number): Promise<void> {
  for (const target of context.targets) {
    const key = { job: 'shapes', load: shape.load, target: target.name };
    await recordReading(context, key, round, async () => {
      const broker = await target.start(request);
      try {
        return await onePass(broker, shape);
      } finally {
        await broker.stop();
      }
    });
  }
}

async function onePass(broker: BenchBroker, shape: Shape): Promise<Reading> {
  const load = await ShapeLoad.open(broker.address, shape);
  try {
    await load.pass();
    const before = broker.usage();
    const startedAtMs = performance.now();
    await load.pass();
    const seconds = (performance.now() - startedAtMs) / 1e3;
    return {
      messagesPerSecond: shape.passCount / seconds,
      ...cpuPerMessage(before, broker.usage(), shape.passCount),
    };
  } finally {
    load.close();
  }
}
