// The planted faults of fixtures/faults/: `npm run faults -- --check` says which cannot be planted, `--judge simulation|features|runner|memory|fuzz
// [--only PATTERN]` who sees them, `--rename OLD NEW` follows a renaming in the code. Ends with `N passed, N failed`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findingText, type Judge, judgeAll } from './fault-judges/judge.ts';
import { faultsFolder, fits, readFaults } from './faults/catalogue.ts';
import { unplantable } from './faults/check.ts';
import { openPlanter } from './faults/planter.ts';
import { renameInFaults } from './faults/rename.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const usage = `Usage: npm run faults -- --check
       npm run faults -- --judge simulation|features|runner|memory|fuzz [--only PATTERN]
       npm run faults -- --rename OLD NEW`;

type Count = { readonly passed: number; readonly failed: number };

// Loaded when they are asked for: together they import most of the repository.
const judges: ReadonlyMap<string, () => Promise<Judge>> = new Map(
  Object.entries({
    simulation: async () => (await import('./fault-judges/simulation.ts')).simulationJudge(root),
    features: async () => (await import('./fault-judges/features.ts')).featuresJudge(root),
    memory: async () => (await import('./fault-judges/memory.ts')).memoryJudge(root),
    fuzz: async () => (await import('./fault-judges/fuzz.ts')).fuzzJudge(root),
    runner: async () => (await import('./fault-judges/runner.ts')).runnerJudge(root),
  }),
);

async function check(): Promise<Count> {
  const faults = readFaults(root);
  const complaints = await unplantable(faults, openPlanter(root));
  for (const complaint of complaints) console.log(`FAIL ${complaint}`);
  return { passed: faults.length - complaints.length, failed: complaints.length };
}

async function judge(name: string, only: string | undefined): Promise<Count> {
  const open = judges.get(name);
  if (open === undefined) throw new Error(`${name} is no judge.\n${usage}`);
  const one = await open();
  const named = readFaults(root).filter((fault) => only === undefined || fits(fault, only));
  const faults = named.filter((fault) => one.isFor(fault, only !== undefined));
  if (faults.length === 0) throw new Error(`No fault for ${name} has an id that fits ${only}.`);
  try {
    const findings = await judgeAll(one, faults, (finding) => process.stdout.write(findingText(finding)));
    const complaints = one.sum(findings);
    for (const complaint of complaints) console.log(`FAIL ${complaint}`);
    const seenCount = findings.filter(({ seenBy }) => seenBy.length > 0).length;
    console.log(`${name} sees ${seenCount} of ${faults.length} planted faults`);
    const failed = findings.filter((finding) => finding.complaints.length > 0).length;
    return { passed: faults.length - failed, failed: failed + complaints.length };
  } finally {
    one.close();
  }
}

function rename(from: string, to: string | undefined): Count {
  if (to === undefined) throw new Error(`--rename needs the old name and the new one.\n${usage}`);
  const counts = readdirSync(join(root, faultsFolder))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => renameInFile(join(root, faultsFolder, name), from, to));
  const count = counts.reduce((sum, one) => sum + one, 0);
  console.log(`${from} is now ${to} at ${count} places.`);
  return { passed: count, failed: count === 0 ? 1 : 0 };
}

function renameInFile(path: string, from: string, to: string): number {
  const { text, count } = renameInFaults(readFileSync(path, 'utf8'), from, to);
  if (count > 0) writeFileSync(path, text);
  return count;
}

async function main(): Promise<Count> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      check: { type: 'boolean', default: false },
      judge: { type: 'string' },
      only: { type: 'string' },
      rename: { type: 'string' },
    },
  });
  if (values.judge !== undefined) return judge(values.judge, values.only);
  if (values.rename !== undefined) return rename(values.rename, positionals[0]);
  if (values.check) return check();
  throw new Error(usage);
}

try {
  const { passed, failed } = await main();
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
