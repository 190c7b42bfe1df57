// The checks and the requirements they stand on, joined and looked up by id. A catalogue that contradicts itself (an id twice,
// a clause that does not exist, a level above its clause's) is refused: the verdict would be about nothing. Pure.
import type { Level } from './catalogue-words.ts';
import { isAtLeast } from './catalogue-words.ts';
import type { Check } from './check.ts';
import type { Requirement } from './suite-data.ts';

export type Catalogue = {
  readonly checks: readonly Check[];
  readonly requirements: readonly Requirement[];
  requirement(id: string): Requirement | undefined;
  check(id: string): Check | undefined;
  /** The check's own level, else its main clause's. */
  levelOf(check: Check): Level;
};

/** Throws when `catalogueFaults` finds any. */
export function catalogueOf(checks: readonly Check[], requirements: readonly Requirement[]): Catalogue {
  const faults = catalogueFaults(checks, requirements);
  if (faults.length > 0)
    throw new Error(`the catalogue of checks contradicts itself:\n  ${faults.join('\n  ')}`);
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

/** What is wrong with the checks, one sentence each. */
export function catalogueFaults(
  checks: readonly Check[],
  requirements: readonly Requirement[],
): readonly string[] {
  const known = new Map(requirements.map((requirement) => [requirement.id, requirement.level]));
  const ids = checks.map((check) => check.id);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} is there twice`);
  return [...twice, ...checks.flatMap((check) => checkFaults(check, known))];
}

const idForm = /^[A-Z]+-\d{3}[a-z]$/;

function checkFaults(check: Check, known: ReadonlyMap<string, Level>): readonly string[] {
  const [main] = check.clauses;
  const faults = check.clauses
    .filter((clause) => !known.has(clause))
    .map((clause) => `${check.id} stands on ${clause}, which is no requirement`);
  if (!idForm.test(check.id)) faults.push(`${check.id} is not a requirement id and a letter`);
  if (check.id.slice(0, -1) !== main) faults.push(`${check.id} does not begin with its main clause ${main}`);
  const highest = known.get(main);
  if (check.level !== undefined && highest !== undefined && !isAtLeast(highest, check.level)) {
    faults.push(`${check.id} has level ${check.level}, but ${main} is only a ${highest}`);
  }
  return faults;
}
