// What stands behind the failures of a run. A check that failed at a step that it relies on, and not at what it is about, has shown
// nothing about its own requirements: where another check shows the requirement of that step broken, it is blocked by it. Where none
// does, it stays the failure that it is, so that nothing disappears behind a word. Pure.
import { isViolated } from '../outcome.ts';
import type { Blocker, CheckResult } from '../result.ts';

type Judged = Pick<
  CheckResult,
  'id' | 'outcome' | 'clauses' | 'clause' | 'expected' | 'reliesOn' | 'blockedBy'
>;

/** A requirement that is broken, the checks that show it, and those that it blocks. */
export type Cause = {
  readonly clause: string;
  readonly shownBy: readonly string[];
  readonly blocked: readonly string[];
};

/** The results with `blocked` in the place of each failure that another check explains. The same results twice change nothing more. */
export function withCauses<Result extends Judged>(results: readonly Result[]): readonly Result[] {
  const broken = brokenRules(results);
  return results.map((result) => {
    const blocker = blockerOf(result, broken);
    return blocker === undefined ? result : { ...result, outcome: 'blocked' as const, blockedBy: blocker };
  });
}

/** What is to be mended, the requirement that blocks most first. */
export function causesOf(results: readonly Judged[]): readonly Cause[] {
  const causes = [...brokenRules(results)].map(([clause, shownBy]) => ({
    clause,
    shownBy: [...shownBy],
    blocked: [
      ...new Set(results.filter(({ blockedBy }) => blockedBy?.clause === clause).map(({ id }) => id)),
    ],
  }));
  return causes.sort((a, b) => b.blocked.length - a.blocked.length || (a.clause < b.clause ? -1 : 1));
}

/** The requirements that checks about them show broken, each with these checks. */
function brokenRules(results: readonly Judged[]): ReadonlyMap<string, ReadonlySet<string>> {
  const broken = new Map<string, Set<string>>();
  for (const result of results) {
    const clause = brokenBy(result);
    if (clause !== undefined) broken.set(clause, (broken.get(clause) ?? new Set()).add(result.id));
  }
  return broken;
}

function brokenBy(result: Judged): string | undefined {
  const { reliesOn, clause, clauses } = result;
  return isViolated(result) && reliesOn === undefined ? (clause ?? clauses[0]) : undefined;
}

function blockerOf(
  { outcome, reliesOn }: Judged,
  broken: ReadonlyMap<string, ReadonlySet<string>>,
): Blocker | undefined {
  const mayBeBlocked = outcome === 'fail' || outcome === 'warn' || outcome === 'not applicable';
  const shownBy = reliesOn === undefined || !mayBeBlocked ? undefined : broken.get(reliesOn);
  return reliesOn === undefined || shownBy === undefined
    ? undefined
    : { clause: reliesOn, shownBy: [...shownBy] };
}
