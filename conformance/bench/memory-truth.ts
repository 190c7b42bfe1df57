// Compares the data that a broker must hold with the growth of its process, from outside: patterns of load over TCP, each on a new broker.
//
// The script computes the held data from the messages that must still exist: their contents, and a constant for each message, queue,
// subscription and connection (see `stage.ts`). Growth is the resident memory (RSS) after the pattern less that before it, both after a warm-up and
// after some seconds of light traffic: Node returns memory only when its garbage collector runs, and a small steady load is the
// only way to trigger it from outside. The growth includes memory that the allocator keeps for later, so small ratios mean little; the
// lowest of several samples counts. Allowed is 1.5 times what is held, plus 64 MiB. Patterns in which clients try to exceed a memory limit are
// compared with that limit instead: the maximum resident memory must stay below it. Exits with 1 when a pattern exceeds what is allowed.
//
//   node --import tsx conformance/bench/memory-truth.ts [TARGET] [--json PATH] [--reps N]

import type { JobContext } from '../src/bench/jobs/job.ts';
import { mebibytes, recordReading } from '../src/bench/jobs/job.ts';
import type { Reading } from '../src/bench/metrics.ts';
import { readTarget } from '../src/target/target-file.ts';
import { UsageError } from '../src/usage-error.ts';
import { figure } from './figure.ts';
import { type Pattern, patterns } from './memory-truth/patterns.ts';
import { Stage } from './memory-truth/stage.ts';

const FACTOR = 1.5;
const CONSTANT_BYTES = 64 * 1024 * 1024;
const SAMPLES_BEFORE = 2;
/** A process that has just recovered shrinks for up to six samples; what it still has after eight stays. */
const SAMPLES_AFTER = 8;

/** Only patterns whose name contains this are run. */
const only = process.env['TRUEMQ_MEMORY_PATTERN'] ?? '';

const exceeded: string[] = [];

await figure({
  roundCount: 1,
  measure: async (context, path) => {
    for (let round = 0; round < context.settings.roundCount; round += 1) {
      for (const pattern of patterns) {
        if (pattern.name.includes(only)) await measure(context, path, pattern, round);
      }
    }
  },
});
for (const text of exceeded) process.stderr.write(`${text}\n`);
if (exceeded.length > 0) process.exitCode = 1;

async function measure(context: JobContext, path: string, pattern: Pattern, round: number): Promise<void> {
  const { lifecycle, name } = readTarget(path);
  if (lifecycle.kind !== 'spawn') throw new UsageError('memory-truth needs a broker that the runner starts');
  await recordReading(context, { job: 'memory truth', load: pattern.name, target: name }, round, async () => {
    const stage = await Stage.open(lifecycle, pattern.request ?? {});
    try {
      return await readingOf(pattern, stage);
    } finally {
      await stage.close();
    }
  });
}

async function readingOf(pattern: Pattern, stage: Stage): Promise<Reading> {
  await stage.warmUp();
  const before = await stage.residentBytes(SAMPLES_BEFORE);
  const held = await pattern.run(stage);
  const { memoryLimitBytes } = pattern.request?.limits ?? {};
  // At its limit a broker may refuse the traffic.
  const after =
    memoryLimitBytes === undefined ? await stage.residentBytes(SAMPLES_AFTER) : stage.residentBytesNow();
  const growth = Math.max(0, after - before);
  const allowed = memoryLimitBytes ?? FACTOR * held + CONSTANT_BYTES;
  const peak = stage.peakBytes();
  const compared = memoryLimitBytes === undefined ? growth : peak;
  if (compared > allowed) {
    const what = memoryLimitBytes === undefined ? 'grew by' : 'had at most';
    exceeded.push(
      `EXCEEDED ${pattern.name}: ${what} ${text(compared)}, allowed ${text(allowed)}, held ${text(held)}`,
    );
  }
  return {
    heldMiB: mebibytes(held),
    growthMiB: mebibytes(growth),
    ...(held > 0 ? { growthRatio: growth / held } : {}),
    peakRssMiB: mebibytes(peak),
    allowedMiB: mebibytes(allowed),
  };
}

function text(bytes: number): string {
  return `${mebibytes(bytes).toFixed(1)} MiB`;
}
