// The conformance runner as a judge of planted faults: the checks that must see a fault, the others of their areas, and what the
// catalogue says about both.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { mutantFolder } from '../../conformance/selftest/mutant-build.ts';
import { mutantOf } from '../../conformance/selftest/mutants.ts';
import { judgeMutant, mutantCrew } from '../../conformance/selftest/phases.ts';
import type { Fault } from '../faults/catalogue.ts';
import type { Judge } from './judge.ts';

export function runnerJudge(root: string): Judge {
  return {
    isFor: ({ runner }) => runner !== undefined,
    judge: async (fault: Fault) => {
      const mutant = mutantOf(fault);
      if (mutant === undefined) throw new Error(`${fault.id}: it names no check, under "runner"`);
      const { kills, faults } = await judgeMutant(mutant);
      return { seenBy: kills, complaints: faults };
    },
    crew: mutantCrew,
    sum: () => [],
    close: () => rmSync(join(root, mutantFolder), { recursive: true, force: true }),
  };
}
