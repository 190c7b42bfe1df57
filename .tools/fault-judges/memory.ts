// The judge of retained memory as a judge of planted faults: its plans from seed 1 on until one fails. It must see every fault that the
// catalogue has for it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runRetainedMemory } from '../../src/testing/retained-memory/run-plans.ts';
import type { Fault } from '../faults/catalogue.ts';
import { plantingPlugin } from '../faults/esbuild-plugin.ts';
import { openPlanter } from '../faults/planter.ts';
import type { Judge, Verdict } from './judge.ts';

export function memoryJudge(root: string): Judge {
  const folder = `out/faults-in-memory-${process.pid}`;
  const planter = openPlanter(root);
  return {
    isFor: ({ memory }, isNamed) => isNamed || memory !== undefined,
    judge: async (fault: Fault): Promise<Verdict> => {
      const plugins = [plantingPlugin(root, planter.plant(fault))];
      const { failures } = await runRetainedMemory({ folder, name: fault.id, plugins, stopsAtFailure: true });
      const seenBy = failures
        .slice(0, 1)
        .map(({ seed, complaints }) => `seed ${seed}: ${complaints[0]?.split('\n')[0]}`);
      const isMissed = fault.memory === 'seen' && seenBy.length === 0;
      return { seenBy, complaints: isMissed ? [`${fault.id}: no plan has seen it`] : [] };
    },
    // Each runs as many processes as there are cores.
    crew: { least: 1, most: 1, idleShare: 0 },
    sum: () => [],
    close: () => rmSync(join(root, folder), { recursive: true, force: true }),
  };
}
