// The outcomes of checks, and how the end of a check's run is mapped to one. A violated MUST is a failure, a violated SHOULD a warning, an
// unused MAY a note; a MUST that an assertion names is a failure in a check of any level. A check that decided nothing about its rule is not
// shown, and never a pass. A fault of the runner is an error. When all results are known, failures that another failure explains become
// blocked (engine/causes.ts). Pure.
import type { Level } from './catalogue-words.ts';
import { ExpectationFailure, NothingShown, PrerequisiteMissing, RuleNotApplicable } from './expectation.ts';
import type { Hints } from './wire/queue-traffic.ts';

export const outcomes = [
  'pass',
  'fail',
  'blocked',
  'warn',
  'not applicable',
  /** The check ran and decided nothing about its rule. Closes the gate. */
  'not shown',
  'could not run',
  'error',
] as const;
export type Outcome = (typeof outcomes)[number];

/** A SHOULD that the broker does not follow, reported by a check that did not fail. */
export type Warning = {
  readonly clause: string;
  readonly text: string;
  readonly expected?: string;
  readonly actual?: string;
};

export type Judgement = {
  readonly outcome: Outcome;
  readonly reason?: string;
  readonly expected?: string;
  readonly actual?: string;
  /** The requirement that was broken, if it is not the check's main one. */
  readonly clause?: string;
  /** The requirement of the step at which the check ended, if the check is not about it but only relies on it. */
  readonly reliesOn?: string;
  /**
   * Other requirements that would explain the failure if the broker breaks them, according to what the check observed. If a check about
   * one of them fails, this check is blocked.
   */
  readonly possibleCauses?: readonly string[];
  /**
   * In a check of a SHOULD or MAY: the MUST of the step at which it ended, if no assertion names that one. If no other check shows that one
   * kept or broken, the check is not shown: a broker that breaks it would only be warned about.
   */
  readonly requiredStep?: string;
  /** The check itself did not fail, but a frame or an HTTP answer broke a MUST by itself (watch/check-watch.ts). */
  readonly watched?: true;
  /** With `watched`: when that came, in milliseconds since the start of the run. */
  readonly brokenAtMs?: number;
  /**
   * The runner was too slow for a reliable result, with `watched` for one of the check itself; it may be repeated on a less busy machine.
   */
  readonly starved?: true;
};

/** True if the check ended with a failed assertion; false for a pass with warnings, and for a rule that does not apply. */
export function isViolated({ outcome, expected }: Pick<Judgement, 'outcome' | 'expected'>): boolean {
  return outcome === 'fail' || (outcome === 'warn' && expected !== undefined);
}

export type RunEnd = {
  /** The value that `run` threw; undefined if it returned. */
  readonly thrown: unknown;
  readonly level: Level;
  /** Whether a requirement is a MUST. */
  readonly isRequired: (clause: string) => boolean;
  /** The requirements that the check is about. */
  readonly clauses: readonly string[];
  /** The target declares the capability that this check requires: then even a MAY is binding. */
  readonly declared: boolean;
  readonly warningCount: number;
  readonly hints: Hints;
  /** What is missing for a pass, in words. */
  readonly missingEvidence: string | undefined;
  /** Why the runner was too slow for a reliable result, in words; undefined if it was not. */
  readonly starved: string | undefined;
};

export function judge(end: RunEnd): Judgement {
  const { thrown } = end;
  if (thrown instanceof PrerequisiteMissing) return { outcome: 'could not run', reason: thrown.message };
  const isFailure = thrown instanceof ExpectationFailure;
  const isUndecided = thrown instanceof NothingShown || thrown instanceof RuleNotApplicable;
  if (thrown !== undefined && !isFailure && !isUndecided) {
    return { outcome: 'error', reason: `the check threw ${stackOf(thrown)}` };
  }
  if (end.starved !== undefined) return { outcome: 'error', reason: end.starved, starved: true };
  if (thrown instanceof RuleNotApplicable) {
    // Warnings from before remain, and close the gate with --strict.
    return { outcome: end.warningCount > 0 ? 'warn' : 'not applicable', reason: thrown.message };
  }
  if (thrown instanceof NothingShown) return { outcome: 'not shown', reason: thrown.message };
  return isFailure ? judgeFailure(thrown, end) : judgeReturn(end);
}

function judgeReturn(end: RunEnd): Judgement {
  if (end.missingEvidence !== undefined) {
    return { outcome: 'not shown', reason: `the check ended without its evidence: ${end.missingEvidence}` };
  }
  return { outcome: end.warningCount > 0 ? 'warn' : 'pass' };
}

function judgeFailure(failure: ExpectationFailure, end: RunEnd): Judgement {
  const { message: reason, expected, actual, clause, reliesOn } = failure;
  const { seen, needed } = end.hints;
  const own = reliesOn === undefined ? end.clauses[0] : ownRule(reliesOn, clause, end.clauses, seen);
  const isBroken = failure.broken !== undefined;
  const isOwn = isBroken || own !== undefined;
  // A check of a SHOULD or MAY relies on MUST requirements; only the checks of those requirements may call them broken.
  const named = clause ?? (reliesOn !== undefined && end.level === 'MUST' ? own : undefined);
  const blamed = isOwn ? (named ?? end.clauses[0]) : reliesOn;
  const others = [reliesOn, ...failure.possibleCauses, ...seen, ...needed];
  const possibleCauses = [...new Set(others)].filter(
    (one): one is string => one !== undefined && one !== blamed,
  );
  // What an assertion names as broken is broken, whatever else the check is about.
  const isMust = isBroken || (clause !== undefined && end.isRequired(clause));
  const outcome = isMust ? 'fail' : outcomeOfFailure(end);
  const isStepRequired = outcome !== 'fail' && reliesOn !== undefined && end.isRequired(reliesOn);
  return {
    outcome,
    reason,
    expected,
    actual,
    ...(named === undefined ? {} : { clause: named }),
    ...(isOwn || reliesOn === undefined ? {} : { reliesOn }),
    ...(possibleCauses.length === 0 ? {} : { possibleCauses }),
    ...(isStepRequired && reliesOn !== end.clauses[0] ? { requiredStep: reliesOn } : {}),
  };
}

/** The requirement of the check that a failed step is about: that of the step, or one that the check saw broken. */
function ownRule(
  step: string,
  named: string | undefined,
  clauses: readonly string[],
  seen: readonly string[],
): string | undefined {
  if (clauses.includes(step)) return step;
  return named === undefined ? clauses.find((one) => seen.includes(one)) : undefined;
}

function outcomeOfFailure(end: RunEnd): Outcome {
  switch (end.level) {
    case 'MUST':
      return 'fail';
    case 'SHOULD':
      return 'warn';
    case 'MAY':
      return end.declared ? 'fail' : 'not applicable';
  }
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
