// A whole run: checks the runner itself, selects the checks, runs each one with its broker, and judges. It reports events, from which all
// reports are made; it prints nothing and knows no command line. It always ends with a verdict.
import { staleEntries } from '../baseline/baseline.ts';
import type { Baseline } from '../baseline/baseline-file.ts';
import type { Catalogue } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { ExpectationFailure } from '../expectation.ts';
import { goldenFaults } from '../golden-check.ts';
import type { CheckResult } from '../result.ts';
import type { GoldenFile } from '../suite-data.ts';
import { TargetFault } from '../target/target-fault.ts';
import type { Target } from '../target/target-file.ts';
import { timingFor } from '../timing.ts';
import type { Verdict } from '../verdict.ts';
import { verdictOf } from '../verdict.ts';
import type { WireMode } from '../wire/chunking.ts';
import type { Credentials } from '../wire/credentials.ts';
import type { PoolOptions, RunningBroker, StartBroker } from './broker-pool.ts';
import { BrokerPool } from './broker-pool.ts';
import type { PlanRunnerSetting } from './plan-runner.ts';
import { PlanRunner } from './plan-runner.ts';
import { scopeNotes } from './scope.ts';
import type { Selection, SelectionRequest } from './selection.ts';
import { selectChecks, shardOf } from './selection.ts';

export type RunOptions = SelectionRequest & {
  readonly target: Target;
  /** For the reproduce lines only. */
  readonly targetPath: string;
  readonly seed: number;
  readonly repeat: number;
  /** Checks that run at the same time. */
  readonly jobs: number;
  readonly timeoutScale: number;
  readonly wireMode: WireMode;
  readonly failFast: boolean;
  /** For a broker that the runner does not configure. */
  readonly credentials?: Credentials;
  /** For the command lines that a report names: the flags that gave credentials, with their values. Secrets are in files, whose paths these are. */
  readonly givenCredentials?: readonly (readonly [name: string, value: string])[];
  /**
   * Stops the run when this many different checks got no answer at the same step, or four times as many failed at one step after an
   * answer, and none has passed. From 1; undefined: never.
   */
  readonly sameCauseLimit?: number;
  readonly strict: boolean;
  /** The shard of this run, if several runs share one plan. From 1. */
  readonly shard?: { readonly index: number; readonly count: number };
  /** Other checks judge this target too, and show what the recommendations of this run rely on. A shard is such a part. */
  readonly isPart?: boolean;
  /** The known failures. */
  readonly baseline?: Baseline | undefined;
  /** Interrupts the run. */
  readonly signal?: AbortSignal;
  /** Called with one sentence when the run becomes much slower than planned. */
  readonly notice?: (text: string) => void;
  /** Does not repeat, at the end, the checks that the machine was too busy for: the caller repeats them. */
  readonly skipsReruns?: boolean;
  /** Starts brokers instead of the target's lifecycle, for example several in one process. */
  readonly startBroker?: StartBroker;
  /** Called after the last event with the running brokers, which are stopped when it settles. Without it they are stopped before. */
  readonly whenDone?: (report: RunReport, running: readonly RunningBroker[]) => Promise<void>;
};

export type SuiteEvent =
  | { readonly type: 'run started'; readonly selection: Selection; readonly options: RunOptions }
  | { readonly type: 'check finished'; readonly result: CheckResult }
  | { readonly type: 'run finished'; readonly report: RunReport };

export type RunReport = {
  readonly target: { readonly name: string; readonly version?: string };
  readonly seed: number;
  readonly results: readonly CheckResult[];
  readonly verdict: Verdict;
  /** Planned runs of checks that did not happen. */
  readonly notReachedCount: number;
  readonly targetFault?: string | undefined;
  readonly runnerFault?: string | undefined;
  /** Stale entries of the baseline, one sentence each. */
  readonly staleEntries?: readonly string[];
  /** Observations that change no verdict, one sentence each. */
  readonly notes?: readonly string[];
};

export type SuiteSources = { readonly catalogue: Catalogue; readonly golden: readonly GoldenFile[] };

/** Throws a UsageError for an impossible selection; every other fault becomes part of the verdict. */
export async function runSuite(
  sources: SuiteSources,
  options: RunOptions,
  observe: (event: SuiteEvent) => void,
): Promise<RunReport> {
  const selection = shardOf(selectChecks(sources.catalogue, options, options.target.profiles), options.shard);
  observe({ type: 'run started', selection, options });
  const pool = new BrokerPool(
    options.target,
    timingFor(options.timeoutScale),
    poolOptions(options, selection),
  );
  try {
    const faults = goldenFaults(sources.golden);
    const ran =
      faults.length > 0
        ? notRun(selection, goldenText(faults))
        : await runSelection(sources, options, { selection, pool, observe });
    const ended = options.whenDone === undefined ? await withEnds(ran, pool) : ran;
    const report = reportOf(ended, { sources, options, selection });
    observe({ type: 'run finished', report });
    await options.whenDone?.(report, pool.running());
    return report;
  } finally {
    await pool.dispose();
  }
}

/** Keeps a check's own broker running only if the run has one check, so that a whole run does not leave hundreds of brokers. */
function poolOptions({ whenDone, repeat, startBroker }: RunOptions, { checks }: Selection): PoolOptions {
  const keepOwn = whenDone !== undefined && checks.length * repeat === 1;
  return { keepOwn, ...(startBroker === undefined ? {} : { startBroker }) };
}

type Plan = {
  readonly sources: SuiteSources;
  readonly options: RunOptions;
  readonly selection: Selection;
};

function reportOf(ran: Ran, { sources, options, selection }: Plan): RunReport {
  const { strict, baseline } = options;
  const { catalogue } = sources;
  const stale = baseline === undefined ? [] : staleEntries(baseline, ran.results, { catalogue, strict });
  // A user who names checks knows that the verdict does not cover the others.
  const gaps = options.only.length > 0 ? [] : scopeNotes(selection.scope);
  const partial = selection.leftOutCount > 0 || selection.plan !== undefined;
  return {
    target: identityOf(options.target, ran.identity),
    seed: options.seed,
    results: ran.results,
    verdict: verdictOf({ ...ran, scope: selection.scope, partial, strict, staleEntries: stale }),
    notReachedCount: ran.notReachedCount,
    targetFault: ran.targetFault,
    runnerFault: ran.runnerFault,
    ...(stale.length === 0 ? {} : { staleEntries: stale }),
    notes: [...stale.map((text) => `stale baseline: ${text}`), ...gaps, ...ran.notes],
  };
}

type Ran = {
  readonly results: readonly CheckResult[];
  readonly notReachedCount: number;
  readonly targetFault?: string | undefined;
  readonly runnerFault?: string | undefined;
  readonly identity?: { readonly name: string; readonly version?: string } | undefined;
  readonly notes: readonly string[];
};

/** Ends the brokers; the run with the fault of one that could not be ended as its target says. */
async function withEnds(ran: Ran, pool: BrokerPool): Promise<Ran> {
  try {
    await pool.dispose();
    return ran;
  } catch (error) {
    if (!(error instanceof TargetFault)) throw error;
    return { ...ran, targetFault: ran.targetFault ?? error.message };
  }
}

function notRun(selection: Selection, runnerFault: string): Ran {
  return { results: [], notReachedCount: selection.checks.length, runnerFault, notes: [] };
}

function goldenText(faults: readonly string[]): string {
  return `the runner's own codec disagrees with the recorded frames: ${faults.slice(0, 3).join('; ')}`;
}

async function runSelection(
  sources: SuiteSources,
  options: RunOptions,
  work: Pick<PlanRunnerSetting, 'selection' | 'pool' | 'observe'>,
): Promise<Ran> {
  const strays = watchStrays();
  const runner = new PlanRunner({ ...sources, options, ...work });
  try {
    await runner.run(entriesOf(work.selection.checks, options.repeat));
    return { ...runner.ran(), ...strays.fault(runner.ran().runnerFault) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const fault = error instanceof TargetFault ? { targetFault: text } : { runnerFault: text };
    return { ...runner.ran(), ...fault };
  } finally {
    strays.end();
  }
}

/**
 * Watches for unhandled rejections. One from a wait that a failed check abandoned is ignored. Any other one is a fault of the runner,
 * which would end the process without a verdict.
 */
function watchStrays(): { fault(known: string | undefined): Pick<Ran, 'runnerFault'>; end(): void } {
  let first: string | undefined;
  const note = (reason: unknown): void => {
    if (reason instanceof ExpectationFailure) return;
    first ??= `a rejection was not handled: ${reason instanceof Error ? reason.stack : String(reason)}`;
  };
  process.on('unhandledRejection', note);
  return {
    fault: (known) => ({ runnerFault: known ?? first }),
    end: () => {
      process.off('unhandledRejection', note);
    },
  };
}

export type PlanEntry = { readonly check: Check; readonly repetition: number };

function entriesOf(checks: readonly Check[], repeat: number): readonly PlanEntry[] {
  const repetitions = Array.from({ length: repeat }, (_, index) => index + 1);
  return repetitions.flatMap((repetition) => checks.map((check) => ({ check, repetition })));
}

function identityOf(target: Target, seen: Ran['identity']): RunReport['target'] {
  const version = target.version ?? seen?.version;
  return { name: target.name, ...(version === undefined ? {} : { version }) };
}
