// From the results of a run to the two lines at its end: what the broker is, and what the gate says; and to the exit code.
// Pure. Precedence of the exit codes: 5, 4, 2, 1, 3, 0.

import type { Profile, ProfileName } from './catalogue-words.ts';
import type { Outcome } from './outcome.ts';
import { outcomes } from './outcome.ts';
import type { CheckResult } from './result.ts';

export const exitCodes = {
  open: 0,
  failed: 1,
  usage: 2,
  incomplete: 3,
  target: 4,
  runner: 5,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export type Counts = Readonly<Record<Outcome, number>>;

/** What a verdict is about. */
export type VerdictScope = {
  /** As they were asked for, or as the target claims them. */
  readonly profiles: readonly ProfileName[];
  /** Those among them that have no checks in this version of the suite. */
  readonly unbuilt: readonly Profile[];
};

export type RunFacts = {
  readonly results: readonly CheckResult[];
  readonly scope?: VerdictScope | undefined;
  /** True when the selection left out a part of the claimed profiles. */
  readonly partial: boolean;
  /** Warnings close the gate too. */
  readonly strict: boolean;
  /** Checks of the plan that never ran, e.g. after --fail-fast. */
  readonly notReachedCount: number;
  /** Entries of the baseline that do not hold any more, one sentence each. */
  readonly staleEntries?: readonly string[];
  /** The target did not start, or died outside a check: why. */
  readonly targetFault?: string | undefined;
  /** The runner failed, was interrupted, or could not write a report: why. */
  readonly runnerFault?: string | undefined;
};

export type Verdict = {
  readonly conformant: boolean;
  readonly status: 'conformant' | 'not conformant' | 'undetermined';
  readonly gate: 'open' | 'closed';
  readonly exitCode: ExitCode;
  /** Why the gate is as it is. */
  readonly reason: string;
  readonly partial: boolean;
  /** Absent in reports of runners that did not tell it. */
  readonly scope?: VerdictScope;
};

const precedence: readonly ExitCode[] = [5, 4, 2, 1, 3, 0];

/** The exit code that wins when several apply. */
export function strongest(codes: readonly ExitCode[]): ExitCode {
  return precedence.find((code) => codes.includes(code)) ?? exitCodes.open;
}

export function countOutcomes(results: readonly CheckResult[]): Counts {
  const counted = outcomes.map(
    (outcome) => [outcome, results.filter((result) => result.outcome === outcome).length] as const,
  );
  return Object.fromEntries(counted) as Counts;
}

export function verdictOf(facts: RunFacts): Verdict {
  const reasons = closingReasons(facts);
  const exitCode = strongest(reasons.map((reason) => reason.code));
  const closing = reasons.filter(({ code }) => code === exitCode).map(({ text }) => text);
  const reason = closing.length > 0 ? closing.join('; ') : openText(facts);
  const status = statusOf(facts, reasons);
  return {
    conformant: status === 'conformant',
    status,
    gate: exitCode === exitCodes.open ? 'open' : 'closed',
    exitCode,
    reason,
    partial: facts.partial,
    ...scopeIn(facts),
  };
}

function scopeIn({ scope }: RunFacts): Pick<Verdict, 'scope'> {
  return scope === undefined ? {} : { scope: { profiles: scope.profiles, unbuilt: scope.unbuilt } };
}

type Reason = { readonly code: ExitCode; readonly text: string };

/** Everything that keeps the gate shut; empty when it is open. */
function closingReasons(facts: RunFacts): readonly Reason[] {
  const counts = countOutcomes(facts.results);
  const ranCount = counts.pass + counts.fail + counts.blocked + counts.warn;
  const stale = facts.staleEntries ?? [];
  const found: (Reason | undefined)[] = [
    when(facts.runnerFault !== undefined, exitCodes.runner, facts.runnerFault ?? ''),
    when(counts.error > 0, exitCodes.runner, `${counted(counts.error)} ended in an error of the runner`),
    when(facts.targetFault !== undefined, exitCodes.target, facts.targetFault ?? ''),
    ...failureReasons(facts),
    when(stale.length > 0, exitCodes.failed, staleText(stale)),
    ...blockedReasons(facts),
    when(
      counts['could not run'] > 0,
      exitCodes.incomplete,
      `${counted(counts['could not run'])} could not run`,
    ),
    when(
      counts['not shown'] > 0,
      exitCodes.incomplete,
      `${counted(counts['not shown'])} could not show ${counts['not shown'] === 1 ? 'its rule' : 'their rules'}`,
    ),
    when(
      facts.notReachedCount > 0,
      exitCodes.incomplete,
      `${facts.notReachedCount} of the checks were not reached`,
    ),
    when(
      ranCount === 0 && counts['could not run'] === 0 && counts['not shown'] === 0,
      exitCodes.usage,
      'no check ran: nothing of the selection applies to this target',
    ),
  ];
  return found.filter((reason) => reason !== undefined);
}

/** Only what the baseline does not expect. */
function failureReasons({ results, strict }: RunFacts): readonly (Reason | undefined)[] {
  const unexpected = countOutcomes(results.filter(({ baseline }) => baseline === undefined));
  const though = results.some(({ baseline }) => baseline !== undefined) ? ' unexpectedly' : '';
  return [
    when(unexpected.fail > 0, exitCodes.failed, `${counted(unexpected.fail)} failed${though}`),
    when(
      strict && unexpected.warn > 0,
      exitCodes.failed,
      `${counted(unexpected.warn)} warned${though}, and --strict is set`,
    ),
  ];
}

/** What is broken elsewhere keeps them from showing anything: no failure of theirs, and no pass. */
function blockedReasons({ results }: RunFacts): readonly (Reason | undefined)[] {
  const count = results.filter(
    ({ outcome, baseline }) => outcome === 'blocked' && baseline === undefined,
  ).length;
  return [when(count > 0, exitCodes.incomplete, `${counted(count)} could not be shown, blocked by others`)];
}

function counted(count: number): string {
  return count === 1 ? '1 check' : `${count} checks`;
}

function staleText([first = '', ...others]: readonly string[]): string {
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `the baseline is stale: ${first}${more}`;
}

/** Why an open gate is open: nothing is left out of it that somebody could miss. */
function openText({ results, partial }: RunFacts): string {
  const expectedCount = results.filter(({ baseline }) => baseline !== undefined).length;
  const failed = expectedCount === 0 ? 'nothing failed' : `nothing failed but ${expectedCount} as expected`;
  return partial ? `${failed}, in a PARTIAL run` : failed;
}

function when(condition: boolean, code: ExitCode, text: string): Reason | undefined {
  return condition ? { code, text } : undefined;
}

/**
 * A violated MUST settles it, whatever the baseline expects; without one, only a run that left nothing open can say conformant. That
 * warnings or the baseline close the gate is no matter of the broker's.
 */
function statusOf({ results }: RunFacts, reasons: readonly Reason[]): Verdict['status'] {
  if (countOutcomes(results).fail > 0) return 'not conformant';
  return reasons.every(({ code }) => code === exitCodes.failed) ? 'conformant' : 'undetermined';
}
