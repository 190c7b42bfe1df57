// The simulation as a judge of planted faults: schedules from seed 1 on until one fails or there were enough of them. Of the faults that
// the catalogue has for the simulation it must see nine of ten.
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { bundleWorker } from '../../src/testing/simulation/bundle.ts';
import { runPool } from '../../src/testing/simulation/pool.ts';
import type { Fault } from '../faults/catalogue.ts';
import { plantingPlugin } from '../faults/esbuild-plugin.ts';
import { openPlanter } from '../faults/planter.ts';
import type { Finding, Judge, Verdict } from './judge.ts';

const MAX_SCHEDULES = 600;
const MIN_SHARE = 0.9;

export function simulationJudge(root: string): Judge {
  const folder = `out/faults-in-simulation-${process.pid}`;
  const planter = openPlanter(root);
  const processCount = availableParallelism();
  return {
    isFor: ({ simulation }, isNamed) => isNamed || simulation !== undefined,
    judge: async (fault: Fault): Promise<Verdict> => {
      const plugins = [plantingPlugin(root, planter.plant(fault))];
      return { seenBy: await simulated(await bundleWorker(folder, fault.id, plugins)), complaints: [] };
    },
    crew: { least: processCount, most: processCount, idleShare: 0 },
    sum: shareComplaints,
    close: () => rmSync(join(root, folder), { recursive: true, force: true }),
  };
}

async function simulated(bundle: string): Promise<readonly string[]> {
  try {
    const { failures } = await runPool({
      bundle,
      firstSeed: 1,
      scheduleCount: MAX_SCHEDULES,
      maxMs: Number.POSITIVE_INFINITY,
      stopsAtFailure: true,
      processCount: 1,
    });
    return failures
      .slice(0, 1)
      .map(({ seed, complaints }) => `seed ${seed}: ${complaints[0]?.split('\n')[0]}`);
  } catch (error) {
    // A broker that hangs or brings its process down is noticed too.
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Faults without field `simulation` do not count. */
function shareComplaints(findings: readonly Finding[]): readonly string[] {
  const counted = findings.filter(({ fault }) => fault.simulation !== undefined);
  if (counted.length === 0) return [];
  const seenCount = counted.filter(({ seenBy }) => seenBy.length > 0).length;
  if (seenCount / counted.length >= MIN_SHARE) return [];
  return [
    `the simulation sees ${seenCount} of ${counted.length} faults that are meant for it, not nine of ten`,
  ];
}
