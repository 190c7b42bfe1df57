// Derives from the results of a run its verdict on the broker, the state of the gate, and the exit code. If several exit codes apply, the
// first of 5, 4, 2, 1, 3, 0 is used. Pure.

import type { Profile, ProfileName } from './catalogue-words.ts';
import { countText } from './count-text.ts';
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

/** The profiles that a verdict is about. */
export type VerdictScope = {
  /** The requested profiles, or those that the target claims. */
  readonly profiles: readonly ProfileName[];
  /** The profiles among them that have no checks in this version of the suite. */
  readonly unbuilt: readonly Profile[];
};

export type RunFacts = {
  readonly results: readonly CheckResult[];
  readonly scope?: VerdictScope | undefined;
  /** True if the selection omits a part of the claimed profiles. */
  readonly partial: boolean;
  /** Warnings also close the gate. */
  readonly strict: boolean;
  /** Checks of the plan that did not run, for example after --fail-fast. */
  readonly notReachedCount: number;
  /** Baseline entries that no longer apply, one sentence each. */
  readonly staleEntries?: readonly string[];
  /** Why the target did not start, or died outside a check. */
  readonly targetFault?: string | undefined;
  /** Why the runner failed: an error, an interrupt, or a report that could not be written. */
  readonly runnerFault?: string | undefined;
};

export type Verdict = {
  readonly conformant: boolean;
  readonly status: 'conformant' | 'not conformant' | 'undetermined';
  readonly gate: 'open' | 'closed';
  readonly exitCode: ExitCode;
  /** Why the gate is open or closed. */
  readonly reason: string;
  readonly partial: boolean;
  /** Absent in reports of older runners. */
  readonly scope?: VerdictScope;
};

const precedence: readonly ExitCode[] = [5, 4, 2, 1, 3, 0];

/** The exit code to use if several apply. */
export function decidingExitCode(codes: readonly ExitCode[]): ExitCode {
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
  const exitCode = decidingExitCode(reasons.map((reason) => reason.code));
  const closing = reasons.filter(({ code }) => code === exitCode).map(({ text }) => text);
  const reason = closing.length > 0 ? closing.join('; ') : openReason(facts);
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

/** The reasons why the gate is closed; empty if it is open. */
function closingReasons(facts: RunFacts): readonly Reason[] {
  const counts = countOutcomes(facts.results);
  const ranCount = counts.pass + counts.fail + counts.blocked + counts.warn;
  const stale = facts.staleEntries ?? [];
  const found: (Reason | undefined)[] = [
    reasonIf(facts.runnerFault !== undefined, exitCodes.runner, facts.runnerFault ?? ''),
    reasonIf(
      counts.error > 0,
      exitCodes.runner,
      `${checksText(counts.error)} ended with an error of the runner`,
    ),
    reasonIf(facts.targetFault !== undefined, exitCodes.target, facts.targetFault ?? ''),
    ...failureReasons(facts),
    reasonIf(stale.length > 0, exitCodes.failed, staleText(stale)),
    ...blockedReasons(facts),
    reasonIf(
      counts['could not run'] > 0,
      exitCodes.incomplete,
      `${checksText(counts['could not run'])} could not run`,
    ),
    reasonIf(
      counts['not shown'] > 0,
      exitCodes.incomplete,
      `${checksText(counts['not shown'])} could not show ${counts['not shown'] === 1 ? 'its rule' : 'their rules'}`,
    ),
    reasonIf(
      facts.notReachedCount > 0,
      exitCodes.incomplete,
      `${checksText(facts.notReachedCount)} ${facts.notReachedCount === 1 ? 'was' : 'were'} not reached`,
    ),
    reasonIf(
      ranCount === 0 && counts['could not run'] === 0 && counts['not shown'] === 0,
      exitCodes.usage,
      'no check ran: no selected check applies to this target',
    ),
  ];
  return found.filter((reason) => reason !== undefined);
}

/** Failures and warnings that the baseline does not expect. */
function failureReasons({ results, strict }: RunFacts): readonly (Reason | undefined)[] {
  const unexpected = countOutcomes(results.filter(({ baseline }) => baseline === undefined));
  const suffix = results.some(({ baseline }) => baseline !== undefined) ? ' unexpectedly' : '';
  return [
    reasonIf(unexpected.fail > 0, exitCodes.failed, `${checksText(unexpected.fail)} failed${suffix}`),
    reasonIf(
      strict && unexpected.warn > 0,
      exitCodes.failed,
      `${checksText(unexpected.warn)} warned${suffix}, and --strict is set`,
    ),
  ];
}

/** Blocked checks: another broken requirement explains their failure, so they are neither failures nor passes. */
function blockedReasons({ results }: RunFacts): readonly (Reason | undefined)[] {
  const count = results.filter(
    ({ outcome, baseline }) => outcome === 'blocked' && baseline === undefined,
  ).length;
  return [
    reasonIf(
      count > 0,
      exitCodes.incomplete,
      `${checksText(count)} ${count === 1 ? 'is' : 'are'} blocked by other failures`,
    ),
  ];
}

function checksText(count: number): string {
  return countText(count, 'check');
}

function staleText([first = '', ...others]: readonly string[]): string {
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `the baseline is stale: ${first}${more}`;
}

/** The reason for an open gate. Names expected failures and omitted checks, so that nobody overlooks them. */
function openReason({ results, partial }: RunFacts): string {
  const expectedCount = results.filter(({ baseline }) => baseline !== undefined).length;
  const failed =
    expectedCount === 0
      ? 'nothing failed'
      : `nothing failed except ${countText(expectedCount, 'expected failure')}`;
  return partial ? `${failed}, in a PARTIAL run` : failed;
}

function reasonIf(condition: boolean, code: ExitCode, text: string): Reason | undefined {
  return condition ? { code, text } : undefined;
}

/**
 * A violated MUST makes the broker not conformant, whatever the baseline expects. Without one the broker is conformant if the run is
 * complete. Warnings and stale baseline entries can close the gate, but do not change this.
 */
function statusOf({ results }: RunFacts, reasons: readonly Reason[]): Verdict['status'] {
  if (countOutcomes(results).fail > 0) return 'not conformant';
  return reasons.every(({ code }) => code === exitCodes.failed) ? 'conformant' : 'undetermined';
}
