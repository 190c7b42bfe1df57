// Makes the kill matrix: `npm run selftest:full`, which is this script. Tries the checks on every planted fault: what has changed of either, or
// all with --all (MINUTES on two cores). The matrix and its page are written after each fault: after an interruption, a fault that was
// tried is not tried again. `--only PATTERN` tries some faults. Exit code 1 when a check kills nothing or a fault is seen by none.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fits } from '../../.tools/faults/catalogue.ts';
import { checks } from '../src/checks/index.ts';
import { workOff } from './idle-crew.ts';
import type { KillMatrix, MatrixRow, Retrial } from './kill-matrix.ts';
import { matrixFile, matrixJson, matrixPage, matrixText, mergedRow, retrials, rowOf } from './kill-matrix.ts';
import { presentSources } from './matrix-digests.ts';
import { mutantFolder } from './mutant-build.ts';
import { type Mutant, mutants } from './mutants.ts';
import { judgeMutant, resultsOn } from './phases.ts';
import { root } from './root.ts';

const crew = { least: 1, most: 3, idleShare: 0.3 } as const;
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

async function tryAgain({ mutant: id, checks: tried }: Retrial): Promise<void> {
  const mutant = known.get(id);
  if (mutant === undefined) return;
  const startedAt = performance.now();
  const row = await rowFor(mutant, tried);
  rows.set(id, mergedRow(rows.get(id), row, tried));
  keep(before.checks);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  process.stdout.write(
    `${id}: ${row.fault ?? `${row.kills.length} of ${tried.length} checks see it`}, ${seconds} s\n`,
  );
}

async function rowFor(mutant: Mutant, tried: readonly string[]): Promise<MatrixRow> {
  const digest = present.faults.get(mutant.id)?.digest ?? '';
  try {
    const named = await namedFor(mutant, tried);
    return rowOf({ ...mutant, named }, await resultsOn(mutant, tried), digest);
  } catch (error) {
    const fault = (error as Error).message;
    return { mutant: mutant.id, title: mutant.title, kills: [], named: [], fault, digest };
  }
}

/** As `npm test` judges it; throws when that is not as the fault says. Not tried again when its own checks have not changed. */
async function namedFor(mutant: Mutant, tried: readonly string[]): Promise<readonly string[]> {
  const row = rows.get(mutant.id);
  if (row?.fault === undefined && row !== undefined && !mutant.mustFail.some((id) => tried.includes(id)))
    return row.named;
  const { named, faults } = await judgeMutant(mutant);
  if (faults.length > 0) throw new Error(faults.join('; '));
  return named;
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
const before = all ? empty : committed();
const rows = new Map(before.mutants.map((row) => [row.mutant, row]));
const due = retrials(before, present).filter(
  ({ mutant }) => only === undefined || fits({ id: mutant }, only),
);
await workOff(due, tryAgain, crew);
rmSync(join(root, mutantFolder), { recursive: true, force: true });
// A check that was not tried on every fault is still to be tried.
const matrix = keep(only === undefined ? Object.fromEntries(present.checks) : before.checks);
const missing = only === undefined ? gaps(matrix) : [];
for (const gap of missing) process.stdout.write(`${gap}\n`);
process.stdout.write(`${matrixFile} and ${matrixPage} are written; commit them together.\n`);
process.exitCode = missing.length === 0 ? 0 : 1;
