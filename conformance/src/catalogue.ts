// The checks and the requirements that they are about, found by id. An inconsistent catalogue is rejected, because its verdict would be
// meaningless: an id that occurs twice, a clause that does not exist, a level above the level of its clause. Pure.
import type { Level } from './catalogue-words.ts';
import { isAtLeast } from './catalogue-words.ts';
import type { Check } from './check.ts';
import type { Requirement } from './suite-data.ts';

export type Catalogue = {
  readonly checks: readonly Check[];
  readonly requirements: readonly Requirement[];
  requirement(id: string): Requirement | undefined;
  check(id: string): Check | undefined;
  /** The level that the check declares; otherwise the level of its main clause. */
  levelOf(check: Check): Level;
};

/** Throws if `catalogueFaults` finds a fault. */
export function catalogueOf(checks: readonly Check[], requirements: readonly Requirement[]): Catalogue {
  const faults = catalogueFaults(checks, requirements);
  if (faults.length > 0)
    throw new Error(`the catalogue of checks is inconsistent:\n  ${faults.join('\n  ')}`);
  const requirementsById = new Map(requirements.map((requirement) => [requirement.id, requirement]));
  const checksById = new Map(checks.map((check) => [check.id, check]));
  return {
    checks,
    requirements,
    requirement: (id) => requirementsById.get(id),
    check: (id) => checksById.get(id),
    levelOf: (check) => check.level ?? requirementsById.get(check.clauses[0])?.level ?? 'MUST',
  };
}

/** The faults of the catalogue, one sentence each; empty if there are none. */
export function catalogueFaults(
  checks: readonly Check[],
  requirements: readonly Requirement[],
): readonly string[] {
  const known = new Map(requirements.map((requirement) => [requirement.id, requirement.level]));
  const ids = checks.map((check) => check.id);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} occurs twice`);
  return [...twice, ...checks.flatMap((check) => checkFaults(check, known))];
}

const idForm = /^[A-Z]+-\d{3}[a-z]$/;

function checkFaults(check: Check, known: ReadonlyMap<string, Level>): readonly string[] {
  const [main] = check.clauses;
  const faults = check.clauses
    .filter((clause) => !known.has(clause))
    .map((clause) => `${check.id} names ${clause}, which is not a requirement`);
  if (!idForm.test(check.id)) faults.push(`${check.id} is not a requirement id followed by a letter`);
  if (check.id.slice(0, -1) !== main) faults.push(`${check.id} does not start with its main clause ${main}`);
  const highest = known.get(main);
  if (check.level !== undefined && highest !== undefined && !isAtLeast(highest, check.level)) {
    faults.push(`${check.id} has level ${check.level}, but ${main} is only a ${highest}`);
  }
  return faults;
}
