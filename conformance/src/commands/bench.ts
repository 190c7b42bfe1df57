// `truemq-conformance bench`: measures one or several brokers under the same load, or compares two results. It does not judge conformance,
// but a message that is lost or refused under load fails the run with exit code 1.
import { readFileSync } from 'node:fs';
import schema from '../../schemas/bench.schema.json' with { type: 'json' };
import type { Access } from '../bench/access.ts';
import { accessFlags, readAccess } from '../bench/access.ts';
import type { BenchResult } from '../bench/bench-result.ts';
import { machineFacts, ResultCollector } from '../bench/bench-result.ts';
import { resultLines } from '../bench/bench-table.ts';
import type { BenchTarget } from '../bench/bench-target.ts';
import { benchTargets, skeletonName } from '../bench/bench-target.ts';
import { compareResults, comparisonLines, isComplete } from '../bench/comparison.ts';
import { depthJob } from '../bench/jobs/depth.ts';
import { footprintJob } from '../bench/jobs/footprint.ts';
import type { BenchSettings, Job, OfferedRate } from '../bench/jobs/job.ts';
import { fanOutJob, latencyJob, throughputJob } from '../bench/jobs/loaded.ts';
import { minPayloadBytes } from '../bench/load/message-template.ts';
import { type PartName, partNames } from '../bench/own-program.ts';
import { servePart } from '../bench/parts.ts';
import type { Flag, ParsedFlags } from '../cli/flags.ts';
import { numberIn, oneOf, parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import { Interrupted } from '../interruption.ts';
import { refuseOverwriting } from '../report/output-paths.ts';
import { prepareFault, writeFault } from '../report/report-files.ts';
import type { Schema } from '../target/schema-check.ts';
import { schemaFaults } from '../target/schema-check.ts';
import { TargetFault } from '../target/target-fault.ts';
import { UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';
import { runnerIdentity } from '../version.ts';

const jobs = {
  throughput: throughputJob,
  latency: latencyJob,
  'fan-out': fanOutJob,
  footprint: footprintJob,
  depth: depthJob,
} as const satisfies Record<string, Job>;
type JobName = keyof typeof jobs;
const jobNames = Object.keys(jobs) as JobName[];

export const benchFlags: readonly Flag[] = [
  {
    name: 'target',
    kind: 'many',
    value: 'FILE',
    help: `a target file, or "${skeletonName}" for the upper bound; several are measured in turn, ratios are to the first`,
  },
  {
    name: 'job',
    kind: 'many',
    value: 'NAME',
    help: `${jobNames.join(', ')}; default: throughput,latency`,
  },
  { name: 'size', kind: 'many', value: 'BYTES', help: 'payload sizes (default 1024)' },
  { name: 'window', kind: 'text', value: 'N', help: 'unconfirmed publishes at a time (default 256)' },
  { name: 'prefetch', kind: 'text', value: 'N', help: 'unacknowledged deliveries at a time (default 256)' },
  {
    name: 'rate',
    kind: 'many',
    value: 'N',
    help: 'messages per second for latency, or "half" of what the target takes (default 2000)',
  },
  { name: 'subscribers', kind: 'many', value: 'N', help: 'subscribers for fan-out (default 100)' },
  {
    name: 'storage',
    kind: 'text',
    value: 'KIND',
    help: 'memory or durable, for throughput, latency and fan-out; default: the default of the target',
  },
  ...accessFlags,
  { name: 'duration', kind: 'text', value: 'S', help: 'seconds per measurement (default 3)' },
  { name: 'reps', kind: 'text', value: 'N', help: 'rounds; fewer than 3 cannot show noise (default 3)' },
  {
    name: 'json',
    kind: 'text',
    value: 'PATH',
    help: 'writes the results to a file, or with - to standard output and the table to standard error',
  },
  {
    name: 'compare',
    kind: 'many',
    value: 'BEFORE,AFTER',
    help: 'measures nothing: compares two files of results',
  },
  {
    name: 'fail-slower',
    kind: 'boolean',
    help: 'with --compare: exit code 1 when anything became worse, 3 when it cannot be told',
  },
];

const comparisonFlags: readonly string[] = ['compare', 'fail-slower'];
const standardOutput = '-';

/** Throws a UsageError before anything is started. */
export async function benchCommand(
  args: readonly string[],
  _sources: Sources,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const part = partNames.find((name) => name === args[0]);
  if (part !== undefined) return serveHidden(part);
  const flags = parseFlags(args, benchFlags);
  if (flags.many('compare').length > 0) return compare(flags, terminal);
  if (flags.positionals.length > 0) {
    throw new UsageError(`bench takes no argument, ${flags.positionals[0]} came`);
  }
  return measure(flags, terminal, signal);
}

/** Runs one of the helper processes of a measurement, which use the same program. The part itself ends the process. */
async function serveHidden(part: PartName): Promise<never> {
  await servePart(part);
  return new Promise<never>(() => {});
}

async function measure(flags: ParsedFlags, terminal: Terminal, signal: AbortSignal): Promise<ExitCode> {
  if (flags.boolean('fail-slower')) throw new UsageError('--fail-slower is for --compare BEFORE AFTER');
  const settings = readSettings(flags);
  const chosen = chosenJobs(flags);
  refuseUnused(chosen, flags);
  const access = readAccess(flags);
  const targets = readTargets(flags, access);
  refuseAttached(chosen, targets);
  refuseStorage(chosen, settings);
  const jsonPath = flags.text('json');
  if (jsonPath !== undefined) prepareResults(jsonPath, flags);
  const machine = machineFacts();
  const book = new ResultCollector();
  const context = { targets, settings, book, tell: (line: string) => terminal.err(line), signal };
  try {
    for (const job of chosen) await jobs[job](context);
  } catch (error) {
    return faultCode(error, terminal);
  }
  const result: BenchResult = {
    schema: 1,
    runner: runnerIdentity,
    at: new Date().toISOString(),
    machine,
    settings: { ...settings, ...settingsOf(access) },
    targets: targets.map(({ name }) => ({ name })),
    rows: book.rows,
  };
  for (const line of resultLines(result)) {
    if (jsonPath === standardOutput) terminal.err(line);
    else terminal.out(line);
  }
  if (jsonPath !== undefined && !hasWritten(jsonPath, result, terminal)) return exitCodes.runner;
  return book.hasFaults ? exitCodes.failed : exitCodes.open;
}

/** As `run` does with its reports: refuses to overwrite what is read, and removes older results, so that no job takes them for new ones. */
function prepareResults(path: string, flags: ParsedFlags): void {
  if (path === standardOutput) return;
  const inputs = flags.many('target').map((target) => ['a target file', target] as const);
  refuseOverwriting({ path, flag: `--json ${path}` }, inputs);
  const fault = prepareFault(path);
  if (fault !== undefined) throw new UsageError(fault);
}

function faultCode(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof TargetFault) {
    terminal.err(`truemq-conformance: no results, since a target did not start: ${error.message}`);
    return exitCodes.target;
  }
  if (error instanceof Interrupted) {
    terminal.err('truemq-conformance: interrupted: no results');
    return exitCodes.runner;
  }
  throw error;
}

function hasWritten(path: string, result: BenchResult, terminal: Terminal): boolean {
  const text = JSON.stringify(result, null, 2);
  if (path === standardOutput) terminal.out(text);
  const fault = path === standardOutput ? undefined : writeFault({ path, text: `${text}\n` });
  if (fault !== undefined) terminal.err(fault);
  return fault === undefined;
}

/** With --fail-slower, a comparison that lacks figures must not look like one in which nothing became worse. */
function compare(flags: ParsedFlags, terminal: Terminal): ExitCode {
  const other = benchFlags.find(({ name }) => flags.boolean(name) && !comparisonFlags.includes(name));
  if (other !== undefined)
    throw new UsageError(
      `--compare measures nothing, so --${other.name} is of no use beside it; leave it out`,
    );
  const [before, after, ...more] = [...flags.many('compare'), ...flags.positionals];
  if (before === undefined || after === undefined || more.length > 0) {
    throw new UsageError('--compare needs two files of results: --compare BEFORE AFTER');
  }
  const comparison = compareResults(readResult(before), readResult(after));
  if (comparison.figures.length === 0) {
    throw new UsageError(
      [`${before} and ${after} have no figure in common:`, ...comparison.gaps, ...comparison.notes].join(
        '\n  ',
      ),
    );
  }
  for (const line of comparisonLines(comparison)) terminal.out(line);
  // The skeleton comes with the runner: where its own figures are worse, the machine was slower.
  const isWorse = comparison.figures.some(
    ({ target, difference }) => target !== skeletonName && difference.verdict === 'worse',
  );
  if (!flags.boolean('fail-slower')) return exitCodes.open;
  if (isWorse) return exitCodes.failed;
  if (isComplete(comparison)) return exitCodes.open;
  terminal.err(
    'truemq-conformance: it cannot be told whether everything is as fast as before: figures are missing or failed, or have too few rounds',
  );
  return exitCodes.incomplete;
}

/** Throws a UsageError that names the faults of the file. */
function readResult(path: string): BenchResult {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
  const faults = schemaFaults(schema as Schema, value);
  if (faults.length > 0) throw new UsageError([`${path} is not a file of results:`, ...faults].join('\n  '));
  return value as BenchResult;
}

/** What the results say about the access; never a secret. */
function settingsOf({ tls, authentication }: Access): Readonly<Record<string, unknown>> {
  return { ...(tls ? { tls } : {}), ...(authentication === undefined ? {} : { authentication }) };
}

function readTargets(flags: ParsedFlags, access: Access): readonly BenchTarget[] {
  const given = flags.many('target');
  if (given.length === 0) throw new UsageError('--target FILE is missing');
  const targets = benchTargets(given, access);
  const names = targets.map(({ name }) => name);
  const twice = repeatedOf(names);
  if (twice !== undefined)
    throw new UsageError(
      `two targets have the same name, ${twice}; change "name" in one of the target files`,
    );
  return targets;
}

/** These jobs fill the broker, so they need a fresh one. */
const ownBrokerJobs: readonly JobName[] = ['footprint', 'depth'];

function refuseAttached(chosen: readonly JobName[], targets: readonly BenchTarget[]): void {
  const job = chosen.find((name) => ownBrokerJobs.includes(name));
  const attached = targets.find(({ isAttached }) => isAttached);
  if (job === undefined || attached === undefined) return;
  throw new UsageError(`--job ${job} needs a broker that the runner starts; ${attached.name} is attached to`);
}

function refuseStorage(chosen: readonly JobName[], { storage }: BenchSettings): void {
  const job = chosen.find((name) => ownBrokerJobs.includes(name));
  if (job !== undefined && storage !== undefined)
    throw new UsageError(`--storage is for throughput, latency and fan-out; ${job} does not use it`);
}

function chosenJobs(flags: ParsedFlags): readonly JobName[] {
  const given = flags.many('job');
  if (given.length === 0) return ['throughput', 'latency'];
  return withoutRepeats(
    'job',
    given.map((name) => oneOf('job', name, jobNames, 'throughput')),
  );
}

/** The results have one row for each: a repeated one would overwrite the other. Throws a UsageError. */
function withoutRepeats<T extends string | number>(flag: string, values: readonly T[]): readonly T[] {
  const twice = repeatedOf(values);
  if (twice === undefined) return values;
  throw new UsageError(`--${flag}: ${twice} came twice; for more rounds, use --reps`);
}

function repeatedOf<T>(values: readonly T[]): T | undefined {
  return values.find((value, index) => values.indexOf(value) < index);
}

const loadedJobs: readonly JobName[] = ['throughput', 'latency', 'fan-out'];
/** The flags that only some jobs use. */
const jobsOfFlags: Readonly<Record<string, readonly JobName[]>> = {
  size: loadedJobs,
  window: loadedJobs,
  prefetch: loadedJobs,
  duration: loadedJobs,
  rate: ['latency'],
  subscribers: ['fan-out'],
};

/** Who gives a flag expects an effect. */
function refuseUnused(chosen: readonly JobName[], flags: ParsedFlags): void {
  for (const [name, users] of Object.entries(jobsOfFlags)) {
    if (!flags.boolean(name) || chosen.some((job) => users.includes(job))) continue;
    throw new UsageError(
      `--${name} is for --job ${users.join(', ')}; leave it out, or add the job: --job ${[...chosen, users[0]].join(',')}`,
    );
  }
}

function readSettings(flags: ParsedFlags): BenchSettings {
  const whole = (name: string, low: number, high: number, otherwise: number): number =>
    numberIn(name, flags.text(name), { low, high, whole: true }, otherwise);
  const list = (name: string, low: number, high: number, otherwise: number): readonly number[] => {
    const values = flags.many(name).map((value) => numberIn(name, value, { low, high, whole: true }, 0));
    return values.length === 0 ? [otherwise] : withoutRepeats(name, values);
  };
  const seconds = numberIn('duration', flags.text('duration'), { low: 0.1, high: 3600, whole: false }, 3);
  return {
    payloadBytes: list('size', minPayloadBytes, 1_000_000, 1024),
    window: whole('window', 1, 100_000, 256),
    prefetch: whole('prefetch', 1, 100_000, 256),
    rates: rates(flags.many('rate')),
    durationMs: seconds * 1e3,
    subscriberCounts: list('subscribers', 1, 10_000, 100),
    roundCount: whole('reps', 1, 1000, 3),
    ...storageOf(flags.text('storage')),
  };
}

function storageOf(given: string | undefined): Pick<BenchSettings, 'storage'> {
  return given === undefined ? {} : { storage: oneOf('storage', given, ['memory', 'durable'], 'memory') };
}

function rates(given: readonly string[]): readonly OfferedRate[] {
  if (given.length === 0) return [2000];
  const range = { low: 1, high: 10_000_000, whole: true };
  return withoutRepeats(
    'rate',
    given.map((value) => (value === 'half' ? value : numberIn('rate', value, range, 0))),
  );
}
