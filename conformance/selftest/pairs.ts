// Runs brokers with two random planted faults each: `node --import tsx conformance/selftest/pairs.ts [--count 200] [--seed N]`. The checks of
// the areas of both faults run, and the requirements that they call broken must be among those that the two faults name. Prints each pair
// with which this is not so, and ends with `N passed, N failed`. Two faults that change the same text, or with which the broker does not even
// shake hands, are no pair.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openPlanter } from '../../.tools/faults/planter.ts';
import { randomFor } from '../src/random.ts';
import { comparison } from './deviations-comparison.ts';
import { workOff } from './idle-crew.ts';
import { mutantFolder } from './mutant-build.ts';
import { type Mutant, mutants } from './mutants.ts';
import { drawPairs } from './pairs-drawing.ts';
import { areaRun, mutantCrew } from './phases.ts';
import { root } from './root.ts';
import { smokeCheck } from './smoke-check.ts';

type Pair = readonly [Mutant, Mutant];

const planter = openPlanter(root);
const totals = { passed: 0, failed: 0, untried: 0 };

function isPlantable(pair: Pair): boolean {
  try {
    planter.plantTogether(pair);
    return true;
  } catch {
    return false;
  }
}

function chosenPairs(count: number, seed: number): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const pair of drawPairs(mutants, randomFor(seed, 'pairs'))) {
    if (pairs.length === count) break;
    if (isPlantable(pair)) pairs.push(pair);
  }
  return pairs;
}

async function tryPair(pair: Pair): Promise<void> {
  const name = pair.map(({ id }) => id).join(' and ');
  try {
    const { results } = await areaRun(pair);
    const smoke = results.find(({ id }) => id === smokeCheck.id);
    if (smoke?.outcome !== 'pass') {
      totals.untried += 1;
      return;
    }
    const { wrong, unexplained } = comparison(pair, results);
    if (wrong.length > 0) return tellFailure(name, [...wrong, ...unexplained.map((text) => `note: ${text}`)]);
    totals.passed += 1;
  } catch (error) {
    tellFailure(name, [(error as Error).message]);
  }
}

function tellFailure(name: string, complaints: readonly string[]): void {
  totals.failed += 1;
  process.stdout.write(`FAIL ${name}\n${complaints.map((complaint) => `     ${complaint}\n`).join('')}`);
}

const { values } = parseArgs({ options: { count: { type: 'string' }, seed: { type: 'string' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const pairs = chosenPairs(Number(values.count ?? 200), seed);
process.stdout.write(`${pairs.length} pairs, drawn with --seed ${seed}\n`);
await workOff(pairs, tryPair, mutantCrew);
rmSync(join(root, mutantFolder), { recursive: true, force: true });
const { passed, failed, untried } = totals;
process.stdout.write(`${untried} brokers did not shake hands\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
