// Compares the requirements that a run calls broken with those that the broker breaks: where one fault or several are planted. Pure.
import type { CheckResult } from '../src/result.ts';
import { isKill, reportedBroken } from './mutant-verdict.ts';

/** A fault, and the requirements that it breaks; none where the specification permits what it does. */
export type Breaking = { readonly id: string; readonly breaks: readonly string[] };

export type Comparison = {
  /** Requirements that the run calls broken and no fault breaks, each with the checks that say so. */
  readonly wrong: readonly string[];
  /** Requirements that a fault breaks and no check calls broken, although a check about them ran; or faults of which this is true. */
  readonly missing: readonly string[];
  /** Checks that failed at a step that relies on a requirement which no check shows broken. */
  readonly unexplained: readonly string[];
};

/**
 * A requirement is not missing when a check about it is blocked: that check is run again when the other fault is mended. One fault alone
 * must be named completely; of several in one broker, each by at least one requirement.
 */
export function comparison(faults: readonly Breaking[], results: readonly CheckResult[]): Comparison {
  const broken = new Set(faults.flatMap(({ breaks }) => breaks));
  const reported = reportedBroken(results);
  const unseen = (clause: string): boolean => !reported.has(clause) && isDecided(clause, results);
  const [only] = faults;
  return {
    wrong: [...reported].filter((clause) => !broken.has(clause)).map((clause) => told(clause, results)),
    missing:
      faults.length === 1 && only !== undefined
        ? only.breaks.filter(unseen).map((clause) => `${clause} is broken, and is not called so`)
        : faults
            .filter(({ breaks }) => breaks.length > 0 && breaks.every(unseen))
            .map(({ id }) => `no requirement of ${id} is called broken`),
    unexplained: results
      .filter(({ outcome, reliesOn }) => outcome !== 'blocked' && reliesOn !== undefined)
      .filter(isKill)
      .map(
        ({ id, reason = '', reliesOn }) =>
          `${id} relies on ${reliesOn}, which no check shows broken: ${reason}`,
      ),
  };
}

/** A check about the requirement ran, and none is blocked. */
function isDecided(clause: string, results: readonly CheckResult[]): boolean {
  const about = results.filter(({ clauses }) => clauses.includes(clause));
  return about.length > 0 && about.every(({ outcome }) => outcome !== 'blocked');
}

function told(clause: string, results: readonly CheckResult[]): string {
  const sources = results.filter(({ outcome }) => outcome !== 'blocked').flatMap(reasonsFor(clause));
  return `${clause} is called broken by ${[...new Set(sources)].join('; ')}`;
}

function reasonsFor(clause: string) {
  return (result: CheckResult): readonly string[] => {
    const { id, reason = '', expected = '', actual = '', warnings } = result;
    const warned = warnings.filter((one) => one.clause === clause).map(({ text }) => `${id}: ${text}`);
    const isAbout = isKill(result) && (result.clause ?? result.clauses[0]) === clause;
    const isOwn = isAbout && result.reliesOn === undefined && warned.length === 0;
    return isOwn ? [`${id}: ${reason} (expected ${expected}, got ${actual})`] : warned;
  };
}
