// Proves the suite: `node --import tsx conformance/selftest/run.ts [--phase PHASE | --only PATTERN]`. The reference broker must be built. Prints what
// failed and one line a phase, writes the reference run's report to out/test/conformance.json and, by planted fault, the requirements that
// were called broken to out/test/broken-rules.json, and ends with `N passed, N failed`. Of the planted faults it tries those of which the
// committed kill matrix is older than their checks, and a fortieth of the others, drawn anew each time (TRUEMQ_SEED draws the same again).
// `npm test` runs it in processes beside each other, which share neither an event loop nor files: `--phase brokers` are the brokers that must pass,
// `--phase life` the faults from life, `--phase faults` those that are planted. --only runs the mutants whose id fits (`delivery-*`), and nothing else.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fits } from '../../.tools/faults/catalogue.ts';
import { checks } from '../src/checks/index.ts';
import { reportJson } from '../src/report/json.ts';
import { LogRecorder } from '../src/report/log-recorder.ts';
import type { Case } from '../src/selftest/proof.ts';
import { contraryPhase, contraryRuns, contraryUnitTests } from './contrary.ts';
import { workOff } from './idle-crew.ts';
import { ageFault, unproved } from './kill-matrix.ts';
import { presentSources, readMatrix } from './matrix-digests.ts';
import { mutantFolder } from './mutant-build.ts';
import { type Mutant, mutants } from './mutants.ts';
import {
  catalogue,
  cutReferencePhase,
  killerCases,
  mutantCrew,
  mutantPhase,
  referencePhase,
} from './phases.ts';
import { proxyPhase } from './proxy/proof.ts';
import { root } from './root.ts';

const totals = { passed: 0, failed: 0 };

function settle(phase: string, cases: readonly Case[], startedAt: number): void {
  const failed = cases.filter((one) => one.faults.length > 0);
  for (const one of failed) {
    process.stdout.write(`FAIL ${one.title}\n${one.faults.map((fault) => `     ${fault}\n`).join('')}`);
  }
  totals.passed += cases.length - failed.length;
  totals.failed += failed.length;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`${phase}: ${cases.length - failed.length} of ${cases.length} shown, ${seconds} s\n`);
}

async function runReference(): Promise<void> {
  const startedAt = performance.now();
  const recorder = new LogRecorder({
    catalogue: catalogue(),
    redact: (value) => value,
    wallNow: () => new Date(),
    wholeTraces: false,
  });
  const cases = await referencePhase((event) => recorder.record(event));
  mkdirSync(join(root, 'out/test'), { recursive: true });
  writeFileSync(join(root, 'out/test/conformance.json'), reportJson(recorder.log));
  settle('the reference broker passes all', cases, startedAt);
  const cutAt = performance.now();
  const seed = sampleSeed();
  process.stdout.write(
    `with frames cut, a quarter of the checks that need a broker of their own runs (TRUEMQ_SEED=${seed})\n`,
  );
  settle('the reference broker passes, frames cut at random', await cutReferencePhase(seed), cutAt);
}

async function runContraryBrokers(): Promise<void> {
  const startedAt = performance.now();
  const seed = Math.floor(Math.random() * 2 ** 31);
  const cases = await Promise.all(contraryRuns(seed).map((run) => contraryPhase(run, seed)));
  settle('the contrary broker is conformant', [contraryUnitTests(), ...cases.flat()], startedAt);
}

async function runFaultsFromLife(): Promise<void> {
  const startedAt = performance.now();
  settle('faults from life are seen', await proxyPhase(Math.floor(Math.random() * 2 ** 20)), startedAt);
}

async function runMutants(chosen: readonly Mutant[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const startedAt = performance.now();
  const cases: Case[] = [];
  const brokenRules = new Map<string, readonly string[]>();
  const starved: Mutant[] = [];
  const tryOne = async (mutant: Mutant, mayRepeat: boolean): Promise<void> => {
    const { named, isStarved, ...one } = await mutantPhase(mutant);
    if (isStarved && mayRepeat) {
      starved.push(mutant);
      return;
    }
    cases.push(one);
    brokenRules.set(mutant.id, named);
  };
  await workOff(chosen, (mutant) => tryOne(mutant, true), mutantCrew);
  // Beside the others the machine was too busy to judge these.
  for (const mutant of starved) await tryOne(mutant, false);
  if (starved.length > 0) process.stdout.write(`${starved.length} tried again, one at a time\n`);
  rmSync(join(root, mutantFolder), { recursive: true, force: true });
  settle('planted faults are seen', cases, startedAt);
  return brokenRules;
}

/** Draws what runs where not all does. */
function sampleSeed(): number {
  return Number(process.env['TRUEMQ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
}

/** One of so many faults that the matrix proves is tried again. */
const SAMPLE = 40;

async function runDueMutants(): Promise<void> {
  const matrix = readMatrix(root);
  const present = presentSources(root, checks);
  const due = unproved(mutants, matrix, present);
  const seed = sampleSeed();
  const chosen = mutants.filter(({ id }, index) => due.has(id) || (index + seed) % SAMPLE === 0);
  process.stdout.write(
    `${due.size} planted faults are newer than the kill matrix; of the others one of ${SAMPLE} is tried (TRUEMQ_SEED=${seed})\n`,
  );
  const tried = await runMutants(chosen);
  const committed = new Map(matrix.mutants.map(({ mutant, named }) => [mutant, named]));
  const brokenRules = Object.fromEntries(
    mutants.map(({ id }) => [id, tried.get(id) ?? committed.get(id) ?? []]),
  );
  writeFileSync(join(root, 'out/test/broken-rules.json'), JSON.stringify({ brokenRules }));
  const age = ageFault(matrix, present);
  const title = 'the kill matrix is of these checks and faults';
  settle(title, [{ title, faults: age === undefined ? [] : [age] }], performance.now());
}

async function runBrokers(): Promise<void> {
  await runReference();
  await runContraryBrokers();
}

async function runPlantedFaults(): Promise<void> {
  settle('every check has a fault that it sees', killerCases(), performance.now());
  await runDueMutants();
}

const phases: ReadonlyMap<string, () => Promise<void>> = new Map([
  ['brokers', runBrokers],
  ['life', runFaultsFromLife],
  ['faults', runPlantedFaults],
]);

/** Throws for a phase that does not exist. */
async function runPhases(phase: string | undefined): Promise<void> {
  const chosen = phase === undefined ? [...phases.values()] : [phases.get(phase)];
  for (const run of chosen) {
    if (run === undefined) throw new Error(`--phase must be one of ${[...phases.keys()].join(', ')}`);
    await run();
  }
}

const { values } = parseArgs({ options: { only: { type: 'string' }, phase: { type: 'string' } } });
const pattern = values.only;
if (pattern === undefined) await runPhases(values.phase);
else await runMutants(mutants.filter((mutant) => fits(mutant, pattern)));
process.stdout.write(`${totals.passed} passed, ${totals.failed} failed\n`);
process.exitCode = totals.failed === 0 && totals.passed > 0 ? 0 : 1;
