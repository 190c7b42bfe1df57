// `truemq-conformance run`: reads the flags and the target file, runs the suite, writes the reports. The exit code is the gate; a
// report that cannot be written is an error of the runner, because a CI job that waits for it would believe an old one.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { levels, profileNames } from '../catalogue-words.ts';
import type { Flag, ParsedFlags } from '../cli/flags.ts';
import { numberIn, oneOf, parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { RunOptions, RunReport, SuiteEvent } from '../engine/suite.ts';
import { runSuite } from '../engine/suite.ts';
import type { TraceChoice } from '../report/console.ts';
import { consoleLines, traceLines, verdictLines } from '../report/console.ts';
import { reportJson } from '../report/json.ts';
import { redactor } from '../report/redaction.ts';
import type { CheckResult } from '../result.ts';
import { readTarget } from '../target/target-file.ts';
import { UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes, strongest } from '../verdict.ts';
import { runnerIdentity } from '../version.ts';
import { wireModes } from '../wire/chunking.ts';

export const runFlags: readonly Flag[] = [
  { name: 'target', kind: 'text', value: 'FILE', help: 'the target file (required)' },
  {
    name: 'profile',
    kind: 'many',
    value: 'NAME',
    help: `profiles to run: ${profileNames.join(', ')}; default: what the target claims`,
  },
  {
    name: 'level',
    kind: 'text',
    value: 'LEVEL',
    help: 'the lowest level to run: MUST, SHOULD or MAY (default)',
  },
  {
    name: 'only',
    kind: 'many',
    value: 'PATTERN',
    help: 'only these: an area, a requirement or a check, * allowed',
  },
  { name: 'skip', kind: 'many', value: 'PATTERN', help: 'all but these' },
  { name: 'seed', kind: 'text', value: 'N', help: 'repeats the random choices of a run' },
  { name: 'repeat', kind: 'text', value: 'N', help: 'runs every check N times, with other random choices' },
  { name: 'jobs', kind: 'text', value: 'N', help: 'checks at the same time (default 4)' },
  { name: 'timeout-scale', kind: 'text', value: 'X', help: 'multiplies every deadline, for slow targets' },
  {
    name: 'wire',
    kind: 'text',
    value: 'MODE',
    help: `how frames are cut on the wire: ${wireModes.join(', ')}`,
  },
  { name: 'trace', kind: 'text', value: 'WHEN', help: 'print the wire trace: off, fail (default) or all' },
  {
    name: 'reporter',
    kind: 'many',
    value: 'NAME[=PATH]',
    help: 'console (default) or json=PATH; may be repeated',
  },
  {
    name: 'out',
    kind: 'text',
    value: 'DIR',
    help: 'writes traces and broker logs of what did not pass into this folder',
  },
  { name: 'fail-fast', kind: 'boolean', help: 'stops at the first failure; the run is then incomplete' },
  { name: 'strict', kind: 'boolean', help: 'warnings close the gate too' },
];

type Reporter = { readonly name: 'console' } | { readonly name: 'json'; readonly path: string };

type RunRequest = {
  readonly options: RunOptions;
  readonly trace: TraceChoice;
  readonly reporters: readonly Reporter[];
  readonly outFolder: string | undefined;
};

/** Throws a UsageError before anything is started. */
export async function runCommand(
  args: readonly string[],
  sources: Sources,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const request = readRequest(parseFlags(args, runFlags), signal);
  const redact = redactor(request.options.target.redactions ?? []);
  const print = printer(request, sources, terminal);
  const report = redact(await runSuite(sources, request.options, (event) => print(redact(event))));
  const faults = writeReports(report, request);
  for (const fault of faults) terminal.err(fault);
  return faults.length === 0
    ? report.verdict.exitCode
    : strongest([exitCodes.runner, report.verdict.exitCode]);
}

function readRequest(flags: ParsedFlags, signal: AbortSignal): RunRequest {
  if (flags.positionals.length > 0)
    throw new UsageError(`run takes no argument, ${flags.positionals[0]} came`);
  const targetPath = flags.text('target');
  if (targetPath === undefined) throw new UsageError('--target FILE is missing');
  const whole = { low: 1, high: 10_000, whole: true };
  const options: RunOptions = {
    target: readTarget(targetPath),
    targetPath,
    profiles: flags.many('profile').map((name) => oneOf('profile', name, profileNames, 'core')),
    level: oneOf('level', flags.text('level')?.toUpperCase(), levels, 'MAY'),
    only: flags.many('only'),
    skip: flags.many('skip'),
    seed: numberIn('seed', flags.text('seed'), { low: 0, high: 2 ** 31 - 1, whole: true }, randomSeed()),
    repeat: numberIn('repeat', flags.text('repeat'), whole, 1),
    jobs: numberIn('jobs', flags.text('jobs'), { ...whole, high: 64 }, 4),
    timeoutScale: numberIn(
      'timeout-scale',
      flags.text('timeout-scale'),
      { low: 0.05, high: 100, whole: false },
      1,
    ),
    wireMode: oneOf('wire', flags.text('wire'), wireModes, 'whole'),
    failFast: flags.boolean('fail-fast'),
    strict: flags.boolean('strict'),
    signal,
  };
  const trace = oneOf('trace', flags.text('trace'), ['off', 'fail', 'all'], 'fail');
  return { options, trace, reporters: reportersOf(flags.many('reporter')), outFolder: flags.text('out') };
}

function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 31);
}

/** The console is always there: a run that prints nothing tells nobody its verdict. */
function reportersOf(given: readonly string[]): readonly Reporter[] {
  return given.map((text) => {
    const at = text.indexOf('=');
    const name = oneOf('reporter', at < 0 ? text : text.slice(0, at), ['console', 'json'], 'console');
    if (name === 'console') return { name };
    if (at < 0 || at === text.length - 1)
      throw new UsageError(`--reporter ${name} needs a path: --reporter ${name}=FILE`);
    return { name, path: text.slice(at + 1) };
  });
}

function printer(request: RunRequest, sources: Sources, terminal: Terminal): (event: SuiteEvent) => void {
  const setting = { catalogue: sources.catalogue, trace: request.trace, color: terminal.color };
  return (event) => {
    for (const line of consoleLines(event, setting)) terminal.out(line);
  };
}

/** What could not be written, one sentence each. */
function writeReports(report: RunReport, request: RunRequest): readonly string[] {
  const files = [
    ...request.reporters.flatMap((reporter) =>
      reporter.name === 'json' ? [{ path: reporter.path, text: reportJson(report, runnerIdentity) }] : [],
    ),
    ...(request.outFolder === undefined ? [] : outFiles(request.outFolder, report)),
  ];
  return files.flatMap(({ path, text }) => writeFault(path, text));
}

function outFiles(folder: string, report: RunReport): readonly { path: string; text: string }[] {
  const summary = {
    path: join(folder, 'verdict.txt'),
    text: `${verdictLines(report.target.name, report.verdict).join('\n')}\n`,
  };
  const unhappy = report.results.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'not applicable');
  return [summary, ...unhappy.flatMap((result) => resultFiles(folder, result))];
}

function resultFiles(folder: string, result: CheckResult): readonly { path: string; text: string }[] {
  const name = result.repetition === 1 ? result.id : `${result.id}.${result.repetition}`;
  const trace = traceLines(result.trace, result.trace.length);
  return [
    { path: join(folder, `${name}.trace.txt`), text: `${trace.join('\n')}\n` },
    { path: join(folder, `${name}.broker.log`), text: `${result.brokerLog.join('\n')}\n` },
  ];
}

function writeFault(path: string, text: string): readonly string[] {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return [];
  } catch (error) {
    return [`${path} could not be written: ${(error as Error).message}`];
  }
}
