// Makes the kill matrix: `npm run selftest:full` (about an hour on two cores), which is this script. Every planted fault is put before every
// check. What was found is kept in out/kill-matrix, one file a fault, so that an interrupted run goes on where it was; a change of the
// sources begins anew. At the end the matrix and its page are written. `--only PATTERN` tries some faults and writes neither. Exit code 1
// when a check kills nothing.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fits } from '../../.tools/faults/catalogue.ts';
import { checks } from '../src/checks/index.ts';
import { workOff } from './idle-crew.ts';
import type { KillMatrix, MatrixRow } from './kill-matrix.ts';
import { matrixFile, matrixJson, matrixPage, matrixText, rowOf, sourceDigest } from './kill-matrix.ts';
import { mutantFolder } from './mutant-build.ts';
import { type Mutant, mutants } from './mutants.ts';
import { fullResults } from './phases.ts';
import { root } from './root.ts';

const digest = sourceDigest(root);
const folder = join(root, 'out/kill-matrix', digest.slice(7, 19));
const crew = { least: 1, most: 3, idleShare: 0.3 } as const;

async function rowFor(mutant: Mutant): Promise<MatrixRow> {
  const path = join(folder, `${mutant.id}.json`);
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as MatrixRow;
  const startedAt = performance.now();
  const row = await tried(mutant);
  writeFileSync(path, JSON.stringify(row));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  process.stdout.write(`${mutant.id}: ${row.fault ?? `${row.kills.length} checks see it`}, ${seconds} s\n`);
  return row;
}

async function tried(mutant: Mutant): Promise<MatrixRow> {
  try {
    return rowOf(mutant, await fullResults(mutant));
  } catch (error) {
    return { mutant: mutant.id, title: mutant.title, kills: [], fault: (error as Error).message };
  }
}

/** Checks that no fault kills, and faults that no check sees. */
function gaps(matrix: KillMatrix): readonly string[] {
  const killed = new Set(matrix.mutants.flatMap(({ kills }) => kills));
  return [
    ...matrix.checks.filter((id) => !killed.has(id)).map((id) => `${id} fails on no planted fault`),
    ...matrix.mutants
      .filter(({ kills }) => kills.length === 0)
      .map(({ mutant, fault }) => `${mutant}: ${fault ?? 'no check sees it'}`),
  ];
}

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const { only } = values;
const chosen = only === undefined ? mutants : mutants.filter((mutant) => fits(mutant, only));
mkdirSync(folder, { recursive: true });
const rows = new Map<string, MatrixRow>();
await workOff(chosen, async (mutant) => void rows.set(mutant.id, await rowFor(mutant)), crew);
rmSync(join(root, mutantFolder), { recursive: true, force: true });

if (only === undefined) {
  const ordered = chosen.flatMap(({ id }) => rows.get(id) ?? []);
  const matrix: KillMatrix = {
    schema: 1,
    digest,
    checks: checks.map(({ id }) => id).sort(),
    mutants: ordered,
  };
  writeFileSync(join(root, matrixFile), matrixJson(matrix));
  writeFileSync(join(root, matrixPage), matrixText(matrix));
  const missing = gaps(matrix);
  for (const gap of missing) process.stdout.write(`${gap}\n`);
  process.stdout.write(`${matrixFile} and ${matrixPage} are written; commit them together.\n`);
  process.exitCode = missing.length === 0 ? 0 : 1;
}
