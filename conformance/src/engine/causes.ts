// Explains the failures of a run. A check that failed at a step of another requirement, or after the broker broke another requirement during
// the check, has shown nothing about its own. If another check shows that requirement broken, the check is blocked by it; if none does, the
// failure stays what it is. A check of a recommendation that ended at a step of a MUST is not shown, unless another check shows that MUST kept
// or broken. Pure.
import { isViolated } from '../outcome.ts';
import type { Blocker, CheckResult } from '../result.ts';

type Judged = Pick<
  CheckResult,
  | 'id'
  | 'level'
  | 'outcome'
  | 'clauses'
  | 'clause'
  | 'expected'
  | 'reliesOn'
  | 'possibleCauses'
  | 'requiredStep'
  | 'blockedBy'
  | 'explainedBy'
>;

/** A requirement that is broken, the checks that show it, and those that it blocks. */
export type Cause = {
  readonly clause: string;
  readonly shownBy: readonly string[];
  readonly blocked: readonly string[];
};

/**
 * The results with `blocked` in the place of each failure that another check explains. A warning that only another recommendation explains
 * stays a warning, because a broker may decide recommendations as it likes. The same results twice change nothing more.
 */
export function withCauses<Result extends Judged>(
  given: readonly Result[],
  /** The results are those of a part, such as a shard: the others may show what a check relies on. */
  { isPart = false } = {},
): readonly Result[] {
  const results = given.map(reopened);
  const explanations = explanationsOf(results);
  const broken = byRule(
    results.filter((result) => isViolated(result) && !explanations.has(result)),
    blamedBy,
  );
  const kept = keptRules(results);
  return results.map((result) => {
    const explanation = explanations.get(result);
    if (explanation === undefined) return isPart ? result : decided(result, kept);
    const { clause, isRequired } = explanation;
    const blocker: Blocker = { clause, shownBy: [...(broken.get(clause) ?? [])] };
    return isRequired
      ? { ...result, outcome: 'blocked' as const, blockedBy: blocker }
      : { ...result, explainedBy: blocker };
  });
}

/**
 * What is to be mended, the requirement that blocks most first. A failure at a step of another requirement that no check shows broken is
 * one of the check's own requirement.
 */
export function causesOf(results: readonly Judged[]): readonly Cause[] {
  const failed = results.filter((result) => isViolated(result) && result.explainedBy === undefined);
  const behind = ({ blockedBy, explainedBy }: Judged): string | undefined =>
    (blockedBy ?? explainedBy)?.clause;
  const causes = [...byRule(failed, blamedBy)].map(([clause, shownBy]) => ({
    clause,
    shownBy: [...shownBy],
    blocked: [...new Set(results.filter((result) => behind(result) === clause).map(({ id }) => id))],
  }));
  return causes.sort((a, b) => b.blocked.length - a.blocked.length || (a.clause < b.clause ? -1 : 1));
}

/** The result as it was before the other checks were known. */
function reopened<Result extends Judged>(result: Result): Result {
  if (result.requiredStep === undefined || result.outcome !== 'not shown') return result;
  return { ...result, outcome: result.level === 'MAY' ? ('not applicable' as const) : ('warn' as const) };
}

/** The requirements that checks show kept. */
function keptRules(results: readonly Judged[]): ReadonlySet<string> {
  const passed = results.filter(
    ({ outcome, expected }) => outcome === 'pass' || (outcome === 'warn' && expected === undefined),
  );
  return new Set(passed.flatMap(({ clauses }) => clauses));
}

/** A warning says that the broker decided otherwise. Where the broker may as well have broken a MUST, that is not known. */
function decided<Result extends Judged>(result: Result, kept: ReadonlySet<string>): Result {
  const { requiredStep, explainedBy } = result;
  const isDecided = requiredStep === undefined || explainedBy !== undefined || kept.has(requiredStep);
  return isDecided ? result : { ...result, outcome: 'not shown' as const };
}

/** A requirement that explains a failure, and whether a check with outcome `fail` shows it broken. */
type Explanation = { readonly clause: string; readonly isRequired: boolean };

/** The requirements that are shown broken so far. */
class ShownRules {
  readonly #required = new Set<string>();
  readonly #recommended = new Set<string>();

  add(result: Judged): void {
    const clause = blamedBy(result);
    if (clause !== undefined) (result.outcome === 'fail' ? this.#required : this.#recommended).add(clause);
  }

  /** A recommendation that is not followed explains no failure of a MUST, and nothing about a MUST that is shown broken anyway. */
  explanationOf(result: Judged): Explanation | undefined {
    const causes = causesThatMayBe(result);
    const required = causes.find((one) => this.#required.has(one));
    if (required !== undefined) return { clause: required, isRequired: true };
    const isRequired = result.outcome === 'fail' || this.#required.has(blamedBy(result) ?? '');
    const clause = causes.find((one) => this.#recommended.has(one));
    return clause === undefined || isRequired ? undefined : { clause, isRequired: false };
  }
}

/** By which requirement each failure is explained: first those of MUST requirements, which no recommendation explains, then the others. */
function explanationsOf<Result extends Judged>(results: readonly Result[]): ReadonlyMap<Result, Explanation> {
  const shown = new ShownRules();
  const isMust = ({ outcome }: Judged): boolean => outcome === 'fail';
  const required = explanationsAmong(results.filter(isMust), shown);
  const others = explanationsAmong(
    results.filter((result) => !isMust(result)),
    shown,
  );
  return new Map([...required, ...others]);
}

/**
 * A failure that nothing else may explain shows its requirement broken; what may be explained by that shows nothing. Of the rest, those show
 * their requirement that no other one of the rest may explain, and so on; where failures explain each other in a circle, those stand that
 * explain most. Last come those that ended at a step of another requirement that no check shows broken.
 */
function explanationsAmong<Result extends Judged>(
  results: readonly Result[],
  shown: ShownRules,
): ReadonlyMap<Result, Explanation> {
  const explanations = new Map<Result, Explanation>();
  let open = new Set(results.filter(isOpen));
  for (const result of results) if (!open.has(result) && isOwn(result)) shown.add(result);
  for (let isProgress = true; isProgress; ) {
    const before = open.size;
    for (const result of open) {
      const explanation = shown.explanationOf(result);
      if (explanation === undefined) continue;
      explanations.set(result, explanation);
      open.delete(result);
    }
    isProgress = open.size < before;
    if (isProgress) continue;
    const standing = standingAmong([...open]);
    for (const result of standing) shown.add(result);
    open = new Set([...open].filter((result) => !standing.includes(result)));
    isProgress = standing.length > 0;
  }
  return explanations;
}

/** Those whose requirement is to be believed broken though others may explain them: none of these is among the failures. */
function standingAmong<Result extends Judged>(open: readonly Result[]): readonly Result[] {
  const failed = open.filter(isViolated);
  const blamed = new Set(failed.map(blamedBy));
  const free = failed.filter((result) => !causesThatMayBe(result).some((one) => blamed.has(one)));
  const own = free.filter(isOwn);
  if (own.length > 0) return own;
  return free.length > 0 ? free : mostExplainingOf(failed, open);
}

/** Of failures that explain each other, those whose requirement would explain most of what is open: the least that is to be mended. */
function mostExplainingOf<Result extends Judged>(
  candidates: readonly Result[],
  open: readonly Result[],
): readonly Result[] {
  const counts = new Map<string | undefined, number>();
  for (const one of open.flatMap(causesThatMayBe)) counts.set(one, (counts.get(one) ?? 0) + 1);
  const countOf = (result: Result): number => counts.get(blamedBy(result)) ?? 0;
  const max = Math.max(0, ...candidates.map(countOf));
  return candidates.filter((result) => countOf(result) === max);
}

/** The requirement that a failure is taken to show broken when nothing explains it. */
function blamedBy({ clause, clauses }: Judged): string | undefined {
  return clause ?? clauses[0];
}

function isOpen(result: Judged): boolean {
  const { outcome, explainedBy } = result;
  const mayBeBlocked = outcome === 'fail' || outcome === 'warn' || outcome === 'not applicable';
  return mayBeBlocked && explainedBy === undefined && causesThatMayBe(result).length > 0;
}

/** The requirement of the step first. */
function causesThatMayBe(result: Judged): readonly string[] {
  const { reliesOn, possibleCauses = [] } = result;
  const others = possibleCauses.filter((one) => one !== blamedBy(result));
  return reliesOn === undefined ? others : [reliesOn, ...others];
}

function byRule(
  results: readonly Judged[],
  ruleOf: (result: Judged) => string | undefined,
): ReadonlyMap<string, ReadonlySet<string>> {
  const checks = new Map<string, Set<string>>();
  for (const result of results) {
    const clause = ruleOf(result);
    if (clause !== undefined) checks.set(clause, (checks.get(clause) ?? new Set()).add(result.id));
  }
  return checks;
}

/** Whether a check failed at a step of its own requirement, and nothing explains it. */
function isOwn(result: Judged): boolean {
  const { reliesOn, explainedBy } = result;
  return isViolated(result) && reliesOn === undefined && explainedBy === undefined;
}
