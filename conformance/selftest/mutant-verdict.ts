// Whether the suite saw a planted fault, and nothing else. Pure. Killed means: every check that must fail ran and did not pass, and
// no other check did but those that may. A check that ended in an error, or that could not run, has shown nothing.
import { causesOf } from '../src/engine/causes.ts';
import { isViolated } from '../src/outcome.ts';
import type { CheckResult } from '../src/result.ts';
import type { Mutant } from './mutants.ts';

/**
 * What is wrong, one sentence each; empty when the mutant is killed as it should be. That a check of random scenarios (`isRandom`) does not
 * fail is left out: see `survivals`.
 */
export function mutantFaults(
  mutant: Mutant,
  results: readonly CheckResult[],
  smokeId: string,
  isRandom: (id: string) => boolean = () => false,
): readonly string[] {
  const smoke = results.find((result) => result.id === smokeId);
  // What is watched in every check may be broken there too, though the handshake and the Ping succeed.
  if (smoke?.outcome !== 'pass' && smoke?.watched !== true) {
    return [
      `it does not count: the smoke test ended with ${smoke?.outcome ?? 'nothing'} (${smoke?.reason ?? 'it did not run'})`,
    ];
  }
  const others = results.filter((result) => result.id !== smokeId);
  const steady = mutant.mustFail.filter((id) => !isRandom(id));
  return [
    ...survivals(steady, others),
    ...wronglyWatched(mutant, others),
    ...unexpected(mutant, others),
    ...unreliable(others),
  ];
}

/**
 * The requirements that the results call broken, recommendations and options that are not taken up among them: what their summary tells
 * somebody to mend.
 */
export function reportedBroken(results: readonly CheckResult[]): ReadonlySet<string> {
  const standing = results.filter(
    ({ outcome, explainedBy }) => outcome !== 'blocked' && explainedBy === undefined,
  );
  // What a check warned of before it failed may come from the same cause.
  const warned = standing
    .filter((result) => !isViolated(result) || result.watched === true)
    .flatMap(({ warnings }) => warnings.map(({ clause }) => clause));
  const untaken = standing
    .filter(
      ({ outcome, expected, reliesOn }) =>
        outcome === 'not applicable' && expected !== undefined && reliesOn === undefined,
    )
    .map(({ clause, clauses }) => clause ?? clauses[0] ?? '');
  return new Set([...causesOf(results).map(({ clause }) => clause), ...warned, ...untaken]);
}

/**
 * What is called broken though the fault does not break it, but for what a check is about that may fail, and did. And what is broken and not
 * called so, though a check that must fail is about it, and nothing else that is broken explains its failure.
 */
export function misnamedRules(
  { breaks, mustFail, mayFail = [] }: Pick<Mutant, 'breaks' | 'mustFail' | 'mayFail'>,
  results: readonly CheckResult[],
): readonly string[] {
  const reported = reportedBroken(results);
  const byChance = results.filter((result) => mayFail.includes(result.id) && isKill(result));
  const named = [...breaks, ...byChance.flatMap(({ clauses }) => clauses)];
  const own = results.filter(({ id }) => mustFail.includes(id));
  const explained = new Set(own.filter(isExplained).flatMap(({ clauses }) => clauses));
  const about = new Set(own.flatMap(({ clauses }) => clauses).filter((clause) => !explained.has(clause)));
  return [
    ...[...reported]
      .filter((clause) => !named.includes(clause))
      .map((clause) => `${clause} is called broken, and the fault does not name it`),
    ...breaks
      .filter((clause) => about.has(clause) && !reported.has(clause))
      .map((clause) => `${clause} is broken, and is not called so`),
  ];
}

function isExplained({ blockedBy, explainedBy }: CheckResult): boolean {
  return blockedBy !== undefined || explainedBy !== undefined;
}

/**
 * A MAY that was not taken is reported as not applicable with a note; here that is a difference like any other. What another check's
 * failure blocks would have failed without that check.
 */
export function isKill(result: CheckResult): boolean {
  const optional = result.outcome === 'not applicable' && result.notes.length > 0;
  return ['fail', 'blocked', 'warn'].includes(result.outcome) || optional;
}

/** Those of the checks, of which each must fail, that do not. */
export function survivals(mustFail: readonly string[], results: readonly CheckResult[]): readonly string[] {
  return mustFail.flatMap((id) => {
    const result = results.find((candidate) => candidate.id === id);
    if (result === undefined) return [`${id} did not run`];
    return isKill(result) || result.outcome === 'error'
      ? []
      : [`it survives ${id}, which ended with ${result.outcome}`];
  });
}

/** What the watch sees proves nothing of the assertions of a check, and the other way round. */
function wronglyWatched(
  { mustFail, watched = [] }: Mutant,
  results: readonly CheckResult[],
): readonly string[] {
  return results
    .filter(({ id }) => mustFail.includes(id))
    .filter((result) => isKill(result) && isOnlyWatched(result) !== watched.includes(result.id))
    .map((result) => ({ id: result.id, isWatched: isOnlyWatched(result) }))
    .map(({ id, isWatched }) =>
      isWatched
        ? `the assertions of ${id} hold: it fails only by what is watched in every check`
        : `${id} fails by its own assertions, not only by what is watched in every check`,
    );
}

/** The assertions of the check hold, those about recommendations included. */
export function isOnlyWatched({ watched, warnings }: CheckResult): boolean {
  return watched === true && warnings.length === 0;
}

/** What a fault says of checks: those that must not pass, and the others that may fail. */
type Expected = {
  readonly mustFail: readonly string[];
  readonly mayFail?: readonly string[];
  readonly breaks: readonly string[];
};

/** A check saw something on this fault that nobody said it would see. The watch may see what the fault breaks in any check. */
export function isUnexpected({ mustFail, mayFail = [], breaks }: Expected, result: CheckResult): boolean {
  const isWatched = result.watched === true && breaks.includes(result.clause ?? '');
  return isKill(result) && !isWatched && !mustFail.includes(result.id) && !mayFail.includes(result.id);
}

function unexpected(mutant: Mutant, results: readonly CheckResult[]): readonly string[] {
  return results
    .filter((result) => isUnexpected(mutant, result))
    .map(
      (result) =>
        `${result.id} fails too and is not named: ${result.reason ?? result.warnings[0]?.text ?? ''}`,
    );
}

function unreliable(results: readonly CheckResult[]): readonly string[] {
  return results
    .filter((result) => result.outcome === 'error' || result.outcome === 'could not run')
    .map((result) => `${result.id} ended with ${result.outcome}: ${result.reason ?? ''}`);
}
