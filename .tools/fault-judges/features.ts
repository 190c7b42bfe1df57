// The scenarios as a judge of planted faults: all of them, in process with virtual time, on a broker with the fault. The
// catalogue says nothing about scenarios, so a fault that none of them sees is no failure.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Fault } from '../faults/catalogue.ts';
import { openPlanter, type Planted } from '../faults/planter.ts';
import { runCucumber } from '../features/cucumber.ts';
import { countCucumber } from '../runner/count.ts';
import type { Judge } from './judge.ts';

/** A run takes about four seconds; one that takes longer than this, even on a busy machine, hangs. */
const MAX_RUN_MS = 120_000;

export function featuresJudge(root: string): Judge {
  const folder = `out/faults-in-features-${process.pid}`;
  const planter = openPlanter(root);
  const processCount = availableParallelism();
  mkdirSync(join(root, folder), { recursive: true });
  return {
    isFor: () => true,
    judge: async (fault: Fault) => {
      const seenBy = await failingScenarios(root, `${folder}/${fault.id}`, planter.plant(fault));
      return { seenBy, complaints: [] };
    },
    crew: { least: processCount, most: processCount, idleShare: 0 },
    sum: () => [],
    close: () => rmSync(join(root, folder), { recursive: true, force: true }),
  };
}

async function failingScenarios(root: string, name: string, planted: Planted): Promise<readonly string[]> {
  const [source, result] = [`${name}.planted.json`, `${name}.result.json`];
  writeFileSync(join(root, source), JSON.stringify(planted));
  const exitCode = await runCucumber({
    driver: 'in-process',
    args: ['--format', `json:${result}`],
    imports: ['./.tools/faults/plant-on-load.mjs'],
    environment: { PLANTED_FAULT: join(root, source) },
    output: 'ignore',
    deadlineMs: MAX_RUN_MS,
  });
  try {
    return countCucumber(readFileSync(join(root, result), 'utf8')).remarks;
  } catch {
    // A broker that hangs or brings its process down is noticed too.
    return [`no scenario came to its end: exit code ${exitCode}`];
  }
}
