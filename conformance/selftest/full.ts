// Makes the kill matrix: `npm run selftest:full`, which is this script. Tries the faults that have changed, or of which a check has; with --all
// every one (a quarter of an hour on two cores). The matrix and its page are written after each fault: after an interruption, a fault
// that was tried is not tried again. `--only PATTERN` tries some. Exit code 1 when a check kills nothing or a fault is not seen as it says.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fits } from '../../.tools/faults/catalogue.ts';
import { checks } from '../src/checks/index.ts';
import { workOff } from './idle-crew.ts';
import type { KillMatrix, MatrixRow, Retrial } from './kill-matrix.ts';
import { matrixFile, matrixJson, matrixPage, matrixText, retrials, rowOf } from './kill-matrix.ts';
import { presentSources } from './matrix-digests.ts';
import { mutantFolder } from './mutant-build.ts';
import { type Mutant, mutants } from './mutants.ts';
import { judgeMutant, mutantCrew } from './phases.ts';
import { root } from './root.ts';

const checkIds = checks.map(({ id }) => id);
const present = presentSources(root, checks);
const known = new Map(mutants.map((mutant) => [mutant.id, mutant]));
const empty: KillMatrix = { schema: 3, checks: Object.fromEntries(present.checks), mutants: [] };

/** Nothing when most checks have changed: then what is tried is kept fault by fault. */
function committed(): KillMatrix {
  const path = join(root, matrixFile);
  if (!existsSync(path)) return empty;
  const matrix = JSON.parse(readFileSync(path, 'utf8')) as KillMatrix;
  const changedCount = checkIds.filter((id) => matrix.checks[id] !== present.checks.get(id)).length;
  return changedCount > checkIds.length / 2 ? empty : matrix;
}

async function tryAgain({ mutant: id }: Retrial): Promise<void> {
  const mutant = known.get(id);
  if (mutant === undefined) return;
  const row = (await rowFor(mutant)) ?? (await rowFor(mutant)) ?? untried(mutant, 'the machine was too busy');
  rows.set(id, row);
  keep(before.checks);
  process.stdout.write(`${id}: ${row.fault ?? `seen by ${row.kills.join(', ')}`}\n`);
}

/** Undefined: the machine was too busy to judge it. */
async function rowFor(mutant: Mutant): Promise<MatrixRow | undefined> {
  try {
    const { named, faults, results, isStarved } = await judgeMutant(mutant);
    if (isStarved) return undefined;
    if (faults.length > 0) return untried(mutant, faults.join('; '));
    return rowOf({ ...mutant, named }, results, digestOf(mutant));
  } catch (error) {
    return untried(mutant, (error as Error).message);
  }
}

function untried(mutant: Mutant, fault: string): MatrixRow {
  return { mutant: mutant.id, title: mutant.title, kills: [], named: [], fault, digest: digestOf(mutant) };
}

function digestOf({ id }: Mutant): string {
  return present.faults.get(id)?.digest ?? '';
}

/** Writes the matrix and its page. `digests`: of the checks that were tried on every fault. */
function keep(digests: KillMatrix['checks']): KillMatrix {
  const matrix: KillMatrix = {
    schema: 3,
    checks: digests,
    mutants: mutants.flatMap(({ id }) => rows.get(id) ?? []),
  };
  writeFileSync(join(root, matrixFile), matrixJson(matrix));
  writeFileSync(join(root, matrixPage), matrixText(matrix));
  return matrix;
}

/** Checks that no fault kills, and faults that no check sees. */
function gaps(matrix: KillMatrix): readonly string[] {
  const killed = new Set(matrix.mutants.flatMap(({ kills }) => kills));
  return [
    ...checkIds.filter((id) => !killed.has(id)).map((id) => `${id} fails on no planted fault`),
    ...matrix.mutants
      .filter(({ kills }) => kills.length === 0)
      .map(({ mutant, fault }) => `${mutant}: ${fault ?? 'no check sees it'}`),
  ];
}

const { values } = parseArgs({
  options: { only: { type: 'string' }, all: { type: 'boolean', default: false } },
});
const { only, all } = values;
// Of `--all --only`, the rows of the others stay.
const before = all && only === undefined ? empty : committed();
const rows = new Map(before.mutants.map((row) => [row.mutant, row]));
const due = retrials(all ? empty : before, present).filter(
  ({ mutant }) => only === undefined || fits({ id: mutant }, only),
);
await workOff(due, tryAgain, mutantCrew);
rmSync(join(root, mutantFolder), { recursive: true, force: true });
// A check that was not tried on every fault is still to be tried.
const matrix = keep(only === undefined ? Object.fromEntries(present.checks) : before.checks);
const missing = only === undefined ? gaps(matrix) : [];
for (const gap of missing) process.stdout.write(`${gap}\n`);
process.stdout.write(`${matrixFile} and ${matrixPage} are written; commit them together.\n`);
process.exitCode = missing.length === 0 ? 0 : 1;
