// Shows what the simulation sees: `npm run simulate:mutants [-- --only TEXT]`. Each planted fault is built in and simulated until a schedule fails
// or there were enough of them. Ends with `N passed, N failed`; fewer than nine of ten found is a failure, and so is a fault that cannot be planted.

import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { bundleWorker, type SimulationMutant } from './bundle.ts';
import { mutants } from './mutants.ts';
import { runPool } from './pool.ts';

const MOST_SCHEDULES = 600;
const LEAST_SHARE = 0.9;

const folder = `out/simulation-mutants-${process.pid}`;

type Trial = { readonly mutant: SimulationMutant; readonly isFound: boolean; readonly how: string };

async function tryMutant(mutant: SimulationMutant, name: string): Promise<Trial> {
  const bundle = await bundleWorker(folder, name, mutant);
  try {
    const { failures } = await runPool({
      bundle,
      firstSeed: 1,
      scheduleCount: MOST_SCHEDULES,
      mostMs: Number.POSITIVE_INFINITY,
      stopsAtFailure: true,
      processCount: 1,
    });
    const [first] = failures;
    const how = first === undefined ? '' : `seed ${first.seed}: ${first.complaints[0]?.split('\n')[0]}`;
    return { mutant, isFound: first !== undefined, how };
  } catch (error) {
    // A broker that hangs or brings its process down is noticed too.
    return { mutant, isFound: true, how: error instanceof Error ? error.message : String(error) };
  }
}

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const chosen = mutants.filter(({ title }) => title.includes(values.only ?? ''));
const trials: Trial[] = [];
const unplanted: string[] = [];
const waiting = [...chosen.entries()];
const work = async (): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [index, mutant] = next;
    try {
      const trial = await tryMutant(mutant, `mutant-${index}`);
      trials.push(trial);
      process.stdout.write(`${trial.isFound ? 'found   ' : 'NOT SEEN'} ${mutant.title}\n`);
      if (trial.isFound) process.stdout.write(`           ${trial.how.slice(0, 150)}\n`);
    } catch (error) {
      unplanted.push(mutant.title);
      process.stdout.write(
        `FAIL     ${mutant.title}: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  }
};
await Promise.all(Array.from({ length: availableParallelism() }, work));
rmSync(folder, { recursive: true, force: true });

const found = trials.filter(({ isFound }) => isFound).length;
const share = found / Math.max(1, trials.length);
process.stdout.write(
  `the simulation alone sees ${found} of ${trials.length} planted faults, ${(100 * share).toFixed(1)} percent\n`,
);
const isEnough = share >= LEAST_SHARE && unplanted.length === 0 && trials.length > 0;
process.stdout.write(
  `${found} passed, ${unplanted.length + (isEnough ? 0 : trials.length - found)} failed\n`,
);
process.exitCode = isEnough ? 0 : 1;
