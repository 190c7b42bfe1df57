// What can become of a check, and how the end of its run becomes one of these. Pure: from what happened and the level of the
// check to an outcome. A MUST violated is a failure, a SHOULD violated a warning, a MAY not taken a note. A check that
// decided nothing about its rule is not shown, and never a pass. Everything that is the runner's own fault is an error.
// Blocked is made of a failure when all are known (engine/causes.ts).
import type { Level } from './catalogue-words.ts';
import { ExpectationFailure, NothingShown, PrerequisiteMissing, RuleNotApplicable } from './expectation.ts';
import type { Hints } from './wire/queue-story.ts';

export const outcomes = [
  'pass',
  'fail',
  'blocked',
  'warn',
  'not applicable',
  /** The check ran, and nothing was decided about its rule. Keeps the gate closed. */
  'not shown',
  'could not run',
  'error',
] as const;
export type Outcome = (typeof outcomes)[number];

/** A SHOULD that was decided otherwise, told by a check that otherwise passed. */
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
  /** The requirement that was broken, where the failure names another than the check's main one. */
  readonly clause?: string;
  /** A requirement that the check relies on and is not about: it was at its step that the check ended. */
  readonly reliesOn?: string;
  /**
   * Other requirements whose breach would explain a failure, by what the check saw of the broker: it is blocked by one that a check
   * about it shows broken.
   */
  readonly possibleCauses?: readonly string[];
  /** The runner was too slow to be believed: the same check may well be judged on a quieter machine. */
  readonly starved?: true;
};

/** Whether a check ended with a failure, and not beside a warning or because its rule does not apply. */
export function isViolated({ outcome, expected }: Pick<Judgement, 'outcome' | 'expected'>): boolean {
  return outcome === 'fail' || (outcome === 'warn' && expected !== undefined);
}

export type RunEnd = {
  /** What `run` threw; undefined when it returned. */
  readonly thrown: unknown;
  readonly level: Level;
  /** The requirements that the check is about. */
  readonly clauses: readonly string[];
  /** The target declared the capability that this check requires: what was promised binds, even where it is a MAY. */
  readonly declared: boolean;
  readonly warningCount: number;
  readonly hints: Hints;
  /** What is missing for a pass, in words. */
  readonly missingEvidence: string | undefined;
  /** Why the runner cannot be believed, in words. */
  readonly starved: string | undefined;
};

export function judge(end: RunEnd): Judgement {
  const { thrown } = end;
  if (thrown instanceof PrerequisiteMissing) return { outcome: 'could not run', reason: thrown.message };
  const isBroken = thrown instanceof ExpectationFailure;
  const isUndecided = thrown instanceof NothingShown || thrown instanceof RuleNotApplicable;
  if (thrown !== undefined && !isBroken && !isUndecided) {
    return { outcome: 'error', reason: `the check threw ${stackOf(thrown)}` };
  }
  if (end.starved !== undefined) return { outcome: 'error', reason: end.starved, starved: true };
  if (thrown instanceof RuleNotApplicable) {
    // What it warned of stands, and with --strict it closes the gate.
    return { outcome: end.warningCount > 0 ? 'warn' : 'not applicable', reason: thrown.message };
  }
  if (thrown instanceof NothingShown) return { outcome: 'not shown', reason: thrown.message };
  return isBroken ? judgeFailure(thrown, end) : judgeReturn(end);
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
  const isOwn = own !== undefined;
  // What a recommendation's check relies on is required: that it is broken would be for another check to say.
  const named = clause ?? (reliesOn !== undefined && end.level === 'MUST' ? own : undefined);
  const blamed = isOwn ? (named ?? end.clauses[0]) : reliesOn;
  const others = [reliesOn, ...failure.possibleCauses, ...seen, ...needed];
  const possibleCauses = [...new Set(others)].filter(
    (one): one is string => one !== undefined && one !== blamed,
  );
  return {
    outcome: violated(end),
    reason,
    expected,
    actual,
    ...(named === undefined ? {} : { clause: named }),
    ...(isOwn || reliesOn === undefined ? {} : { reliesOn }),
    ...(possibleCauses.length === 0 ? {} : { possibleCauses }),
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

function violated(end: RunEnd): Outcome {
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
