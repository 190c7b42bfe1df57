// Which evidence is proved. That a test names a requirement is a claim; that it fails on a broker with a planted fault which breaks this
// requirement proves the claim. For checks the self-test of the runner tells what was called broken, in the same run; for tests and
// scenarios docs/internals/proof.json keeps it. Pure.
import type { Evidence } from './evidence.ts';

/** A planted fault: the requirements that it breaks, and the checks that must fail. */
export type PlantedBreak = {
  readonly id: string;
  readonly breaks: readonly string[];
  readonly mustFail: readonly string[];
};

export type Proofs = {
  readonly faults: readonly PlantedBreak[];
  /** By the id of a fault: the requirements that it breaks and that the runner called broken. */
  readonly calledBroken: ReadonlyMap<string, readonly string[]>;
  /** By requirement: the test files and feature files in which a test that names it failed when it was broken. */
  readonly failingFiles: ReadonlyMap<string, ReadonlySet<string>>;
};

/**
 * The evidence without mere claims. That each check sees the faults which it must see, and that what they break is called broken, is tested by
 * the self-test of the runner.
 */
export function provedEvidence(evidence: readonly Evidence[], proofs: Proofs): readonly Evidence[] {
  const checks = checksByRequirement(proofs);
  return evidence.filter(({ kind, id, by }) =>
    (kind === 'checks' ? checks : proofs.failingFiles).get(id)?.has(by),
  );
}

/**
 * The requirements that only checks prove, and that were called broken with none of their faults in this run: which of several broken rules
 * is called so may depend on what the checks meet first.
 */
export function notCalledBroken(proved: readonly Evidence[], { calledBroken }: Proofs): readonly string[] {
  const called = new Set([...calledBroken.values()].flat());
  const tested = new Set(proved.filter(({ kind }) => kind !== 'checks').map(({ id }) => id));
  const uncalled = proved.filter(({ id }) => !called.has(id) && !tested.has(id)).map(({ id }) => id);
  return [...new Set(uncalled)].sort();
}

/** By requirement: the checks that must fail on a fault that breaks it. */
function checksByRequirement({ faults }: Proofs): ReadonlyMap<string, ReadonlySet<string>> {
  const checks = new Map<string, Set<string>>();
  for (const { breaks, mustFail } of faults) {
    for (const requirement of breaks) {
      const known = checks.get(requirement) ?? new Set();
      for (const check of mustFail) known.add(check);
      checks.set(requirement, known);
    }
  }
  return checks;
}
