// Plants every fault of the proxy with ten seeds: `node --import tsx conformance/selftest/proxy/seeds.ts [--only NAME] [--seeds N] [--brief]`.
// Takes some minutes, so `npm test` plants each fault only once. Prints a table: for each fault and rate, the number of seeds with which
// the checks that must find it did; --brief runs only the first of these checks. The reference broker must be built.
import { parseArgs } from 'node:util';
import type { Case } from '../../src/selftest/proof.ts';
import { workOff } from '../idle-crew.ts';
import { type FaultCase, faultCases } from './faults.ts';
import { faultCase, honestCase, ProxyProgram } from './proof.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seeds: { type: 'string', default: '10' },
    brief: { type: 'boolean', default: false },
  },
});
const seedCount = Number(values.seeds);
const program = new ProxyProgram();
const failures: Case[] = [];

/** Every fault at each of its rates, with the checks to run. */
function plantedWith(seed: number): readonly FaultCase[] {
  const cases = faultCases(seed);
  return values.brief ? cases.map((one) => ({ ...one, seenBy: one.seenBy.slice(0, 1) })) : cases;
}

async function row(number: number): Promise<void> {
  const seeds = Array.from({ length: seedCount }, (_, index) => 101 + 7919 * index);
  const [first] = plantedWith(0).slice(number, number + 1);
  if (first === undefined) return;
  const cases: Case[] = [];
  for (const seed of seeds) {
    const [planted] = plantedWith(seed).slice(number, number + 1);
    if (planted !== undefined) cases.push(await faultCase(program, planted));
  }
  const shown = cases.filter(({ faults }) => faults.length === 0).length;
  const by = first.seenBy.length === 0 ? 'no error of the runner' : first.seenBy.join(', ');
  process.stdout.write(`| ${first.fault.name} | ${first.fault.at} | ${shown} of ${seedCount} | ${by} |\n`);
  failures.push(...cases.filter(({ faults }) => faults.length > 0));
}

process.stdout.write('| fault | n | seeds | seen by |\n|---|---|---|---|\n');
const rows = faultCases(0)
  .map(({ fault }, number) => ({ name: fault.name, number }))
  .filter(({ name }) => values.only === undefined || name === values.only);
await workOff(rows, ({ number }) => row(number), { least: 2, most: 2, idleShare: 0.3 });
const honest = values.only === undefined ? await honestCase(program) : undefined;
if (honest !== undefined)
  process.stdout.write(`| none | | ${honest.faults.length === 0 ? 'green' : 'red'} | |\n`);
for (const { title, faults } of [...failures, ...(honest === undefined ? [] : [honest])]) {
  for (const fault of faults) process.stdout.write(`FAIL ${title}: ${fault}\n`);
}
program.dispose();
process.exitCode = failures.length === 0 && honest?.faults.length !== 1 ? 0 : 1;
