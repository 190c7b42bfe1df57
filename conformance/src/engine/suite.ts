// A whole run: check the runner itself, select, run every check with its broker, judge. It tells what happens as events, from which
// all reports are made; it prints nothing and knows no command line. Whatever happens, it ends with a verdict.
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
  /**
   * Stops the run when so many different checks got no answer at the same step, or four times as many failed at one after an answer, and
   * none has passed. From 1; undefined: the run is never stopped for it.
   */
  readonly sameCauseLimit?: number;
  readonly strict: boolean;
  /** Which part of the plan this run is, where several runs share one. From 1. */
  readonly shard?: { readonly index: number; readonly count: number };
  /** The failures that are known. */
  readonly baseline?: Baseline | undefined;
  /** Ends the run early: interrupted. */
  readonly signal?: AbortSignal;
  /** Do not play alone, at the end, what the machine was too busy for: the caller does it in its own way. */
  readonly leavesDoubts?: boolean;
  /** Starts brokers in the place of the target's lifecycle: where several live in one process. */
  readonly startBroker?: StartBroker;
  /** Called after the last event with the brokers that still run; they end when it settles. Without it they end before. */
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
  /** Runs of checks that the plan has and that never happened. */
  readonly notReachedCount: number;
  readonly targetFault?: string | undefined;
  readonly runnerFault?: string | undefined;
  /** Entries of the baseline that do not hold any more, one sentence each. */
  readonly staleEntries?: readonly string[];
  /** What was seen beside the checks and changes no verdict, one sentence each. */
  readonly notes?: readonly string[];
};

export type SuiteSources = { readonly catalogue: Catalogue; readonly golden: readonly GoldenFile[] };

/** Throws a UsageError for a selection that cannot be; everything else ends in the report's verdict. */
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
    if (options.whenDone === undefined) await pool.dispose();
    const report = reportOf(ran, { sources, options, selection });
    observe({ type: 'run finished', report });
    await options.whenDone?.(report, pool.running());
    return report;
  } finally {
    await pool.dispose();
  }
}

/** A check's own broker is kept only when it is the only one, so that a whole run does not leave hundreds behind. */
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
  // Whoever names checks knows that nothing is said about the others.
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
 * Rejections that nobody awaited. A wait that its check abandoned when it failed elsewhere is nothing; anything else is a
 * fault of the runner that would otherwise end the process without a verdict.
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
