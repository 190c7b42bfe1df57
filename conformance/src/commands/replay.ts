// `truemq-conformance replay`: sends a recorded trace to a broker and compares what comes with what came. Exit codes: 0 the same, 1 it
// differs, 2 a trace that cannot be replayed, 4 the target did not start or is gone.
import { readFileSync } from 'node:fs';
import type { Check } from '../check.ts';
import type { Flag } from '../cli/flags.ts';
import { numberIn, oneOf, parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import { BrokerPool } from '../engine/broker-pool.ts';
import { openConnection } from '../engine/opening.ts';
import { noPacer } from '../engine/pacer.ts';
import { Evidence } from '../evidence.ts';
import { ExpectationFailure } from '../expectation.ts';
import { randomFor } from '../random.ts';
import type { Replayed } from '../replay/replayer.ts';
import { Replayer } from '../replay/replayer.ts';
import { comparisonLines } from '../replay/side-by-side.ts';
import { substitution } from '../replay/substitution.ts';
import type { Broker } from '../target/broker.ts';
import { TargetFault } from '../target/target-fault.ts';
import { readTarget } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import { timingFor } from '../timing.ts';
import { Trace } from '../trace.ts';
import type { TraceFile } from '../trace-file.ts';
import { parseTraceFile } from '../trace-file.ts';
import { UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';

export const replayFlags: readonly Flag[] = [
  { name: 'target', kind: 'text', value: 'FILE', help: 'the target file (required)' },
  { name: 'trace', kind: 'text', value: 'WHEN', help: 'print what comes: off, fail (default) or all' },
  { name: 'timeout-scale', kind: 'text', value: 'X', help: 'multiplies every deadline, for slow targets' },
];

/** Throws a UsageError before anything is started. */
export async function replayCommand(
  args: readonly string[],
  { catalogue }: Sources,
  terminal: Terminal,
): Promise<ExitCode> {
  const flags = parseFlags(args, replayFlags);
  const [path, ...more] = flags.positionals;
  if (path === undefined || more.length > 0)
    throw new UsageError('replay takes one trace: replay TRACE --target FILE');
  const targetPath = flags.text('target');
  if (targetPath === undefined) throw new UsageError('--target FILE is missing');
  const trace = oneOf('trace', flags.text('trace'), ['off', 'fail', 'all'], 'fail');
  const range = { low: 0.05, high: 100, whole: false };
  const timing = timingFor(numberIn('timeout-scale', flags.text('timeout-scale'), range, 1));
  const file = readTrace(path);
  const check = catalogue.check(file.check) ?? unknownCheck(file);
  if (check.isolation === 'restart')
    throw new UsageError(
      `${file.check} stops and starts its broker, which a trace does not hold: run it instead`,
    );
  const pool = new BrokerPool(readTarget(targetPath), timing);
  try {
    const { broker } = await pool.lease(check);
    const seen = new Trace();
    const replayed = await replay(file, broker, timing, seen);
    for (const line of comparisonLines(file, replayed, seen.events, trace)) terminal.out(line);
    return await exitCodeOf(replayed, broker, terminal);
  } catch (error) {
    if (!(error instanceof TargetFault || error instanceof ExpectationFailure)) throw error;
    terminal.err(`truemq-conformance: ${error.message}`);
    return exitCodes.target;
  } finally {
    await pool.dispose();
  }
}

function readTrace(path: string): TraceFile {
  try {
    return parseTraceFile(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`trace ${path} cannot be read: ${(error as Error).message}`);
  }
}

/** A trace of a check that this version does not have: played on a broker with its defaults. */
function unknownCheck({ check, title }: TraceFile): Check {
  return { id: check, title, clauses: [check], profile: 'core', evidence: {}, run: async () => {} };
}

async function replay(file: TraceFile, broker: Broker, timing: Timing, trace: Trace): Promise<Replayed> {
  const names = otherNames(file.names);
  const startedAt = performance.now();
  const now = (): number => performance.now() - startedAt;
  const evidence = new Evidence();
  const random = randomFor(file.seed, file.check);
  let idCount = 0;
  const nextId = (): string => {
    idCount += 1;
    return `${names}.r-${idCount}`;
  };
  const common = {
    mode: 'whole',
    random,
    timing,
    maxMessageSizeBytes: 0x7fff_ffff,
    evidence,
    trace,
  } as const;
  return new Replayer({
    file,
    names,
    substitute: substitution(file.names, names),
    timing,
    now,
    open: (name) => openConnection(broker.endpoints.tcp, { ...common, name, now, nextId }, noPacer),
  }).run();
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** As long as the recorded ones, and other ones each time: the first characters, the seed's, are drawn anew. */
function otherNames(recorded: string): string {
  const seedLength = Math.max(1, recorded.indexOf('.'));
  const drawn = Array.from({ length: seedLength }, () => letters[Math.floor(Math.random() * letters.length)]);
  return `${drawn.join('')}${recorded.slice(seedLength)}`;
}

async function exitCodeOf({ difference }: Replayed, broker: Broker, terminal: Terminal): Promise<ExitCode> {
  if (difference === undefined) return exitCodes.open;
  if ((await broker.findUnwantedEnd()) === undefined) return exitCodes.failed;
  terminal.err('truemq-conformance: the broker has ended meanwhile');
  return exitCodes.target;
}
