// The common part of the figure scripts: reads the arguments, measures in rounds, prints the table, writes the JSON.
// Arguments: `[TARGET] [--json PATH] [--reps N]`, where TARGET is a target file, by default that of the reference broker.
// Exit codes are those of the runner: 1 when a measurement failed, 2 for a wrong argument, 4 when the target did not start.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { machineFacts, ResultCollector } from '../src/bench/bench-result.ts';
import { resultLines } from '../src/bench/bench-table.ts';
import type { BenchTarget } from '../src/bench/bench-target.ts';
import { benchTarget } from '../src/bench/bench-target.ts';
import type { JobContext } from '../src/bench/jobs/job.ts';
import { numberIn, parseFlags } from '../src/cli/flags.ts';
import { TargetFault } from '../src/target/target-fault.ts';
import { UsageError } from '../src/usage-error.ts';
import { exitCodes } from '../src/verdict.ts';
import { runnerIdentity } from '../src/version.ts';

export const referenceTarget = fileURLToPath(new URL('../targets/truemq.json', import.meta.url));

export type Measurement = {
  /** The number of rounds without `--reps`. */
  readonly roundCount: number;
  /** Additional targets. They are measured first, and ratios are to the first of them. */
  readonly beside?: readonly string[];
  /** `path`: the target file of the arguments. */
  readonly measure: (context: JobContext, path: string) => Promise<void>;
};

/** Runs a measurement with the arguments of this process and sets the exit code. */
export async function figure(measurement: Measurement): Promise<void> {
  try {
    process.exitCode = await measured(measurement, process.argv.slice(2));
  } catch (error) {
    process.exitCode = faultCode(error);
  }
}

async function measured({ roundCount, beside = [], measure }: Measurement, args: readonly string[]) {
  const flags = parseFlags(args, [
    { name: 'json', kind: 'text', value: 'PATH', help: 'writes the results' },
    { name: 'reps', kind: 'text', value: 'N', help: 'rounds' },
  ]);
  const [path = referenceTarget, ...more] = flags.positionals;
  if (more.length > 0) throw new UsageError(`only one target is allowed; ${more[0]} is a second one`);
  const range = { low: 1, high: 1000, whole: true };
  const rounds = numberIn('reps', flags.text('reps'), range, roundCount);
  const context = contextFor([...beside, path].map(benchTarget), rounds);
  const machine = machineFacts();
  await measure(context, path);
  const { targets, settings, book } = context;
  const result = {
    schema: 1 as const,
    runner: runnerIdentity,
    at: new Date().toISOString(),
    machine,
    settings: { roundCount: settings.roundCount },
    targets: targets.map(({ name }) => ({ name })),
    rows: book.rows,
  };
  process.stdout.write(`${resultLines(result).join('\n')}\n`);
  const jsonPath = flags.text('json');
  if (jsonPath !== undefined) writeJson(jsonPath, result);
  return book.hasFaults || book.rows.length === 0 ? exitCodes.failed : exitCodes.open;
}

function contextFor(targets: readonly BenchTarget[], roundCount: number): JobContext {
  const settings = {
    payloadBytes: [1024],
    window: 256,
    prefetch: 256,
    rates: [2000],
    durationMs: 3000,
    subscriberCounts: [100],
    roundCount,
  };
  const tell = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  return { targets, settings, book: new ResultCollector(), tell, signal: new AbortController().signal };
}

function writeJson(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

function faultCode(error: unknown): number {
  if (error instanceof UsageError || error instanceof TargetFault) {
    process.stderr.write(`${error.message}\n`);
    return error instanceof UsageError ? exitCodes.usage : exitCodes.target;
  }
  throw error;
}
