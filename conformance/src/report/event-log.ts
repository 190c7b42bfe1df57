// The event log: what a run leaves behind, one JSON object a line, and what every report is made from. The first line says what was to
// be run, then one line for each check that ended, and the last line, with the verdict, vouches for all before it. A log without its
// last line is of a run that was interrupted. These are the forms; schemas/event-log.schema.json is published of them.
import type { Capability, Level, ProfileName } from '../catalogue-words.ts';
import type { CheckResult } from '../result.ts';
import type { Counts, Verdict, VerdictScope } from '../verdict.ts';
import { exitCodes, verdictOf } from '../verdict.ts';

export const logSchemaVersion = 1;

/** A rule that a result names, with its text: a report is read where the catalogue is not at hand. */
export type LoggedRule = {
  readonly id: string;
  readonly level: Level;
  readonly sentence: string;
  readonly alternatives?: readonly string[];
};

export type LoggedResult = CheckResult & {
  readonly rules: readonly LoggedRule[];
  /** The acceptable outcomes in words, where there are several. */
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
  /** The rules and checks that were judged by: runs with other digests are not of the same suite. */
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
  /** What the verdict is about, and the MUSTs that no check covers. Absent in logs of runners that did not tell it. */
  readonly scope?: VerdictScope & { readonly uncovered: readonly LoggedRule[] };
  /** The selection left out a part of what the target claims. */
  readonly partial: boolean;
  readonly shard?: { readonly index: number; readonly count: number };
  /** The checks of all shards together. */
  readonly plan: readonly string[];
  readonly planDigest: string;
  /** The checks of this run; absent where it is the whole plan. */
  readonly assigned?: readonly string[];
};

/** A rule that is not kept, the checks that show it, and those that could show nothing because of it. */
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
  /** Entries of the baseline that do not hold any more, one sentence each: they close the gate. */
  readonly staleEntries?: readonly string[];
  readonly notes: readonly string[];
  /** What is to be mended, the rule that blocks most first; absent where nothing is. */
  readonly causes?: readonly LoggedCause[];
};

export type LogEvent = LogHeader | LogCheck | LogFinish;

/** A log as it was read, or as it is known while a run goes on. */
export type RunLog = {
  readonly header: LogHeader;
  /** By repetition and id. */
  readonly results: readonly LoggedResult[];
  /** Absent: the run was interrupted before it could say its verdict. */
  readonly finish?: LogFinish;
};

/** How many runs of checks this log should hold. */
export function plannedCount({ header }: RunLog): number {
  return (header.assigned ?? header.plan).length * header.options.repeat;
}

/** The name of what was judged, with its version where one is known. */
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

/** The verdict that the log ends with. Without an end it is undetermined, whatever passed, and never green. */
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

/** What the run noted, and that it did not end where it did not. */
export function notesOfLog({ finish }: RunLog): readonly string[] {
  return finish?.notes ?? [];
}

/** Milliseconds from start to end; undefined while there is no end. */
export function durationOf({ header, finish }: RunLog): number | undefined {
  if (finish === undefined) return undefined;
  return Math.max(0, Date.parse(finish.finishedAt) - Date.parse(header.startedAt));
}

/** By repetition and id: the order of every report. */
export function byRepetitionAndId(a: CheckResult, b: CheckResult): number {
  if (a.repetition !== b.repetition) return a.repetition - b.repetition;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}
