// The event log of a run, from which every report is made: one JSON object in each line. The first line has the plan, then one line
// follows for each ended check, and the last line has the verdict and a digest. A log without its last line belongs to an interrupted
// run. These are the types; schemas/event-log.schema.json is the published schema.
import type { Capability, Level, ProfileName } from '../catalogue-words.ts';
import type { CheckResult } from '../result.ts';
import type { Counts, Verdict, VerdictScope } from '../verdict.ts';
import { exitCodes, verdictOf } from '../verdict.ts';

export const logSchemaVersion = 1;

/** A rule that a result names, with its text, because the reader of a report may not have the catalogue. */
export type LoggedRule = {
  readonly id: string;
  readonly level: Level;
  readonly sentence: string;
  readonly alternatives?: readonly string[];
};

export type LoggedResult = CheckResult & {
  readonly rules: readonly LoggedRule[];
  /** The accepted outcomes in words, if there are several. */
  readonly accepts: readonly string[];
};

export type LoggedOptions = {
  readonly profiles: readonly ProfileName[];
  readonly level: Level;
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly repeat: number;
  readonly jobs: number;
  readonly timeoutScale: number;
  readonly wire: string;
  readonly failFast: boolean;
  readonly strict: boolean;
};

export type LogHeader = {
  readonly type: 'run started';
  readonly schema: typeof logSchemaVersion;
  readonly runner: { readonly name: string; readonly version: string };
  /** Identifies the rules and checks: runs with different digests used different suites. */
  readonly suite: { readonly protocol: 1; readonly checkCount: number; readonly digest: string };
  readonly platform: { readonly node: string; readonly os: string };
  readonly startedAt: string;
  readonly target: {
    readonly name: string;
    readonly version?: string;
    readonly url?: string;
    readonly lifecycle: string;
    readonly profiles: readonly ProfileName[];
    readonly capabilities: readonly Capability[];
  };
  readonly seed: number;
  readonly options: LoggedOptions;
  /** The scope of the verdict, and the MUST requirements that no check covers. Absent in logs of older runners. */
  readonly scope?: VerdictScope & { readonly uncovered: readonly LoggedRule[] };
  /** The selection left out a part of what the target claims. */
  readonly partial: boolean;
  readonly shard?: { readonly index: number; readonly count: number };
  /** The checks of all shards together. */
  readonly plan: readonly string[];
  readonly planDigest: string;
  /** The checks of this run; absent if they are the whole plan. */
  readonly assigned?: readonly string[];
};

/** A broken rule, the checks that show it, and the checks that it blocks. */
export type LoggedCause = Pick<LoggedRule, 'id' | 'level' | 'sentence'> & {
  readonly shownBy: readonly string[];
  readonly blocked: readonly string[];
};

export type LogCheck = { readonly type: 'check finished'; readonly result: LoggedResult };

export type LogFinish = {
  readonly type: 'run finished';
  readonly finishedAt: string;
  readonly target: { readonly name: string; readonly version?: string };
  readonly verdict: Verdict;
  readonly counts: Counts;
  readonly notReachedCount: number;
  readonly targetFault?: string;
  readonly runnerFault?: string;
  /** Stale entries of the baseline, one sentence each: they close the gate. */
  readonly staleEntries?: readonly string[];
  readonly notes: readonly string[];
  /** The broken rules, the one that blocks most first; absent if there are none. */
  readonly causes?: readonly LoggedCause[];
};

export type LogEvent = LogHeader | LogCheck | LogFinish;

/** A log, complete or of a run that is still going on. */
export type RunLog = {
  readonly header: LogHeader;
  /** By repetition and id. */
  readonly results: readonly LoggedResult[];
  /** Absent if the run was interrupted before its verdict. */
  readonly finish?: LogFinish;
};

/** How many runs of checks this log should hold. */
export function plannedCount({ header }: RunLog): number {
  return (header.assigned ?? header.plan).length * header.options.repeat;
}

/** The name of the target, with its version if known. */
export function targetOfLog({ header, finish }: RunLog): {
  readonly name: string;
  readonly version?: string;
} {
  const { name, version } = header.target;
  return finish?.target ?? { name, ...(version === undefined ? {} : { version }) };
}

export function targetLabel(log: RunLog): string {
  const { name, version } = targetOfLog(log);
  return version === undefined ? name : `${name} ${version}`;
}

/** The verdict of the log. Without a last line it is undetermined, never green. */
export function verdictOfLog(log: RunLog): Verdict {
  if (log.finish !== undefined) return log.finish.verdict;
  const reached = `${log.results.length} of ${plannedCount(log)} checks had ended`;
  const { partial, options, scope } = log.header;
  const facts = { scope, results: log.results, partial, strict: options.strict, notReachedCount: 0 };
  const verdict = verdictOf({ ...facts, runnerFault: `the log ends before the run did; ${reached}` });
  return {
    ...verdict,
    conformant: false,
    status: 'undetermined',
    gate: 'closed',
    exitCode: exitCodes.runner,
  };
}

/** The notes of the run. */
export function notesOfLog({ finish }: RunLog): readonly string[] {
  return finish?.notes ?? [];
}

/** Milliseconds from start to end; undefined if the log has no end. */
export function durationOf({ header, finish }: RunLog): number | undefined {
  if (finish === undefined) return undefined;
  return Math.max(0, Date.parse(finish.finishedAt) - Date.parse(header.startedAt));
}

/** By repetition and id: the order of every report. */
export function byRepetitionAndId(a: CheckResult, b: CheckResult): number {
  if (a.repetition !== b.repetition) return a.repetition - b.repetition;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}
