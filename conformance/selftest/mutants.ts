// Mutants: brokers with one planted fault each, of those faults in fixtures/faults/ that name a check. A mutant proves that the checks it
// names can fail; a check that no mutant kills might not be able to.
import { type Fault, readFaults } from '../../.tools/faults/catalogue.ts';
import type { Anchored } from '../../.tools/faults/planter.ts';
import { root } from './root.ts';

export type Mutant = Anchored & {
  readonly title: string;
  /** The requirements that it breaks: the runner must say so of these and of no others. */
  readonly breaks: readonly string[];
  /** Checks that must not pass. */
  readonly mustFail: readonly [string, ...string[]];
  /** The only other checks that may fail too. */
  readonly mayFail?: readonly string[];
  /** Those of `mustFail` whose own assertions hold: they fail by a frame that breaks what is watched in every check. */
  readonly watched?: readonly string[];
};

/** Undefined for a fault that names no check. */
export function mutantOf({ runner, breaks, ...fault }: Fault): Mutant | undefined {
  return runner === undefined ? undefined : { ...fault, breaks: breaks ?? [], ...runner };
}

export const mutants: readonly Mutant[] = readFaults(root).flatMap((fault) => mutantOf(fault) ?? []);
