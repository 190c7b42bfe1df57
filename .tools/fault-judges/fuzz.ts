// The fuzzer as a judge of planted faults: the frames that `npm test` runs, from the same seed. It must see every fault that the catalogue
// has for it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { testPlan } from '../../src/testing/fuzz/fuzz-plan.ts';
import { bundleFuzzer, runFuzz } from '../../src/testing/fuzz/run-fuzz.ts';
import type { Fault } from '../faults/catalogue.ts';
import { plantingPlugin } from '../faults/esbuild-plugin.ts';
import { openPlanter } from '../faults/planter.ts';
import type { Judge, Verdict } from './judge.ts';

export function fuzzJudge(root: string): Judge {
  const folder = `out/faults-in-fuzz-${process.pid}`;
  const planter = openPlanter(root);
  return {
    isFor: ({ fuzz }, isNamed) => isNamed || fuzz !== undefined,
    judge: async (fault: Fault): Promise<Verdict> => {
      const bundle = await bundleFuzzer(folder, fault.id, [plantingPlugin(root, planter.plant(fault))]);
      const results = await runFuzz(bundle, { ...testPlan, minimizes: false });
      const seenBy = results
        .flatMap(({ failures }) => failures)
        .map(
          ({ target, seed, complaint }) =>
            `${target}${seed === undefined ? '' : ` seed ${seed}`}: ${complaint}`,
        );
      const isMissed = fault.fuzz === 'seen' && seenBy.length === 0;
      return { seenBy, complaints: isMissed ? [`${fault.id}: no frame has shown it`] : [] };
    },
    // Each runs a process for each target.
    crew: { least: 1, most: 1, idleShare: 0 },
    sum: () => [],
    close: () => rmSync(join(root, folder), { recursive: true, force: true }),
  };
}
