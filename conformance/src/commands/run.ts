// `truemq-conformance run`: reads the flags and the target file, runs the suite, writes the reports. The exit code is the gate. If a report
// cannot be written, that is a usage error before the run and an error of the runner after it, so that a CI job does not use an old report.
import { entriesToAdd } from '../baseline/baseline.ts';
import { readBaseline } from '../baseline/baseline-file.ts';
import { levels, profileNames } from '../catalogue-words.ts';
import {
  credentialFlags,
  givenCredentials,
  readCredentials,
  refuseUnusedCredentials,
} from '../cli/credential-flags.ts';
import type { Flag, ParsedFlags } from '../cli/flags.ts';
import { numberIn, oneOf, parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { RunOptions, RunReport } from '../engine/suite.ts';
import { runSuite } from '../engine/suite.ts';
import { maxSeed } from '../random.ts';
import { refuseSharedPaths } from '../report/output-paths.ts';
import { redactor } from '../report/redaction.ts';
import type { Outputs } from '../report/reporters.ts';
import { readOutputs, reportFlags } from '../report/reporters.ts';
import { faultLines, Reporting } from '../report/reporting.ts';
import { readTarget } from '../target/target-file.ts';
import { UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';
import { wireModes } from '../wire/chunking.ts';
import { brokerKeeper } from './keep-alive.ts';

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
    help: 'only these checks of the profiles: an area, a requirement or a check, * allowed',
  },
  { name: 'skip', kind: 'many', value: 'PATTERN', help: 'all but these' },
  { name: 'seed', kind: 'text', value: 'N', help: 'repeats the random choices of a run' },
  {
    name: 'repeat',
    kind: 'text',
    value: 'N',
    help: 'runs every check N times, with other random choices: side by side, on one broker if checks share it',
  },
  { name: 'jobs', kind: 'text', value: 'N', help: 'checks at the same time (default 6)' },
  { name: 'timeout-scale', kind: 'text', value: 'X', help: 'multiplies every deadline, for slow targets' },
  {
    name: 'wire',
    kind: 'text',
    value: 'MODE',
    help: `how frames are cut on the wire: ${wireModes.join(', ')}`,
  },
  ...credentialFlags,
  ...reportFlags,
  { name: 'baseline', kind: 'text', value: 'FILE', help: 'known failures, which do not close the gate' },
  { name: 'shard', kind: 'text', value: 'I/N', help: 'one of N parts of the run; `report merge` joins them' },
  {
    name: 'keep-alive',
    kind: 'boolean',
    help: 'leaves the started brokers running at the end, until Ctrl-C',
  },
  { name: 'fail-fast', kind: 'boolean', help: 'stops at the first failure; the run is then incomplete' },
  { name: 'strict', kind: 'boolean', help: 'warnings close the gate too' },
];

/** This many failed checks show, after a few seconds, that a broker does not answer. */
const sameCauseLimit = 10;

type RunRequest = {
  readonly options: RunOptions;
  readonly outputs: Outputs;
  readonly keepAlive: boolean;
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
  const { catalogue } = sources;
  const reporting = new Reporting({ outputs: request.outputs, catalogue, terminal, redact });
  const keeping = request.keepAlive ? { whenDone: brokerKeeper(terminal, signal) } : {};
  const unwritable = reporting.start();
  if (unwritable.length > 0) throw new UsageError(unwritable.join('\n'));
  const faults: string[] = [];
  const notice = (text: string): void => terminal.err(redact(`note: ${text}`));
  const { verdict } = await runSuite(sources, { ...request.options, ...keeping, notice }, (event) => {
    if (event.type === 'run finished') adviseBaseline(event.report, request.options, terminal);
    reporting.observe(event);
    if (event.type === 'run finished') faults.push(...reporting.finish());
  });
  for (const line of faultLines(faults)) terminal.err(line);
  return faults.length === 0 ? verdict.exitCode : exitCodes.runner;
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
    profiles: [...new Set(flags.many('profile'))].map((name) => oneOf('profile', name, profileNames, 'core')),
    level: oneOf('level', flags.text('level')?.toUpperCase(), levels, 'MAY'),
    only: flags.many('only'),
    skip: flags.many('skip'),
    seed: numberIn('seed', flags.text('seed'), { low: 0, high: maxSeed, whole: true }, randomSeed()),
    repeat: numberIn('repeat', flags.text('repeat'), whole, 1),
    jobs: numberIn('jobs', flags.text('jobs'), { ...whole, high: 64 }, 6),
    timeoutScale: numberIn(
      'timeout-scale',
      flags.text('timeout-scale'),
      { low: 0.05, high: 100, whole: false },
      1,
    ),
    wireMode: oneOf('wire', flags.text('wire'), wireModes, 'whole'),
    ...shardFrom(flags.text('shard')),
    ...baselineFrom(flags.text('baseline')),
    credentials: readCredentials(flags),
    givenCredentials: givenCredentials(flags),
    failFast: flags.boolean('fail-fast'),
    sameCauseLimit,
    strict: flags.boolean('strict'),
    signal,
  };
  refuseUnusedCredentials(options.target, options.credentials ?? {});
  const outputs = readOutputs(flags);
  refuseSharedPaths(outputs, filesRead(flags), true);
  return { options, outputs, keepAlive: keepAliveOf(flags, options) };
}

/** What a report must not overwrite. */
function filesRead(flags: ParsedFlags): readonly (readonly [what: string, path: string])[] {
  return ['target', 'baseline', 'password-file', 'token-file'].flatMap((name) => {
    const path = flags.text(name);
    return path === undefined ? [] : [[`the file of --${name}`, path] as const];
  });
}

function shardFrom(text: string | undefined): Partial<Pick<RunOptions, 'shard'>> {
  if (text === undefined) return {};
  const [, index, count] = /^(\d{1,4})\/(\d{1,4})$/.exec(text)?.map(Number) ?? [];
  if (index !== undefined && count !== undefined && index >= 1 && index <= count) {
    return { shard: { index, count } };
  }
  throw new UsageError(`--shard: ${text} came, allowed: I/N with I from 1 to N, for example 2/4`);
}

function baselineFrom(path: string | undefined): Partial<Pick<RunOptions, 'baseline'>> {
  return path === undefined ? {} : { baseline: readBaseline(path, new Date()) };
}

function keepAliveOf(flags: ParsedFlags, { target }: RunOptions): boolean {
  if (!flags.boolean('keep-alive')) return false;
  if (target.lifecycle.kind !== 'attach') return true;
  throw new UsageError(
    '--keep-alive: this target is attached, so the runner neither starts nor stops a broker',
  );
}

/** Prints the entries to add, ready to copy, on standard error: the last lines of standard output are the verdict. */
function adviseBaseline({ results }: RunReport, { baseline, strict }: RunOptions, terminal: Terminal): void {
  const entries = baseline === undefined ? [] : entriesToAdd(results, baseline, { strict });
  if (entries.length === 0) return;
  terminal.err(`\nNot in ${baseline?.path}; if the failure is known, add:`);
  for (const line of entries) terminal.err(line);
}

function randomSeed(): number {
  return Math.floor(Math.random() * (maxSeed + 1));
}
