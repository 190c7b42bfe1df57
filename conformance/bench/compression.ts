// Measures what compression costs the server: one publisher and one subscriber that send and read messages of 4 KiB uncompressed, with gzip and
// with brotli. Ratios are to the uncompressed load; the skeleton knows no compression, so it is not measured.
//
//   node --import tsx conformance/bench/compression.ts [TARGET] [--json PATH] [--reps N]
import type { BenchBroker } from '../src/bench/bench-target.ts';
import { cpuPerMessage, recordReading } from '../src/bench/jobs/job.ts';
import type { Reading } from '../src/bench/metrics.ts';
import { figure } from './figure.ts';
import type { Compression } from './shapes/compressed-pair.ts';
import { CompressedPair } from './shapes/compressed-pair.ts';

const passCount = 10_000;
const loads: readonly { readonly compression: Compression; readonly load: string }[] = [
  { compression: 'none', load: '4 KiB, uncompressed' },
  { compression: 'gzip', load: '4 KiB, gzip' },
  { compression: 'brotli', load: '4 KiB, brotli' },
];
const baseLoad = '4 KiB, uncompressed';

await figure({
  roundCount: 5,
  measure: async (context) => {
    for (let round = 0; round < context.settings.roundCount; round += 1) {
      for (const target of context.targets) {
        for (const { compression, load } of loads) {
          const base = compression === 'none' ? {} : { baseLoad };
          await recordReading(
            context,
            { job: 'compression', load, target: target.name, ...base },
            round,
            async () => {
              const broker = await target.start();
              try {
                return await onePass(broker, compression);
              } finally {
                await broker.stop();
              }
            },
          );
        }
      }
    }
  },
});

async function onePass(broker: BenchBroker, compression: Compression): Promise<Reading> {
  const pair = await CompressedPair.open(broker.address, compression);
  try {
    await pair.pass(passCount);
    const before = broker.usage();
    const startedAtMs = performance.now();
    await pair.pass(passCount);
    const seconds = (performance.now() - startedAtMs) / 1e3;
    return { messagesPerSecond: passCount / seconds, ...cpuPerMessage(before, broker.usage(), passCount) };
  } finally {
    pair.close();
  }
}
