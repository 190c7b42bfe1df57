// Tries one planted fault on the tests and scenarios that name what it breaks: those in process and over TCP, unit tests, and tests of whole
// programs.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import type { Fault } from '../faults/catalogue.ts';
import type { Planted } from '../faults/planter.ts';
import { runCucumber } from '../features/cucumber.ts';
import { asGroup, endOfGroup } from '../runner/process-group.ts';
import { type Evidence, type Reading, readCucumber, readVitest } from '../traceability/evidence.ts';
import { isFeatures, type NamingFile } from './naming-files.ts';
import type { SeenBy } from './report.ts';

const folder = 'out/proof';
const planter = './.tools/faults/plant-on-load.mjs';

/** A run takes seconds, with no fault planted minutes; one that takes longer than this, even on a busy machine, hangs. */
function deadlineMs(isControl: boolean): number {
  return isControl ? 900_000 : 180_000;
}

/** Runs what names the requirements that the fault breaks, on a broker with the fault. */
export async function tryFault(
  root: string,
  { id, breaks = [] as unknown as readonly [string] }: Fault,
  planted: Planted,
  files: readonly NamingFile[],
): Promise<SeenBy> {
  const failed = await failuresOf(root, id, planted, { files, requirements: breaks, isControl: false });
  const entries = breaks.map((clause) => {
    const paths = failed.filter((one) => one.id === clause).map(({ by }) => by);
    return [clause, [...new Set(paths)].sort()] as const;
  });
  return Object.fromEntries(entries.filter(([, paths]) => paths.length > 0));
}

/**
 * What names a requirement and fails although nothing is planted, one text each: with it the run would prove nothing. `unchanged`: a source as it is.
 */
export async function controlFailures(
  root: string,
  unchanged: Planted,
  files: readonly NamingFile[],
): Promise<readonly string[]> {
  const failed = await failuresOf(root, 'control', unchanged, { files, requirements: [], isControl: true });
  return [...new Set(failed.map(({ id, by }) => `${by} fails for ${id} with no fault planted`))];
}

/** What failed of that which names the requirements, or any requirement if there are none. */
async function failuresOf(
  root: string,
  id: string,
  planted: Planted,
  { files, requirements, isControl }: Pick<Try, 'files' | 'requirements' | 'isControl'>,
): Promise<readonly Evidence[]> {
  const name = `${folder}/${id}`;
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, `${name}.planted.json`), JSON.stringify(planted));
  const evidence: Evidence[] = [];
  for (const kind of ['features', 'features-over-tcp', 'unit', 'programs'] as const) {
    const named = files.filter((file) => file.kind === kind);
    if (named.length > 0)
      evidence.push(...(await runOf(kind, { root, name, files: named, requirements, isControl })));
  }
  rmSync(join(root, `${name}.planted.json`));
  return evidence.filter(({ passed }) => !passed);
}

type Try = {
  readonly root: string;
  readonly name: string;
  readonly files: readonly NamingFile[];
  /** None stands for all. */
  readonly requirements: readonly string[];
  /** Nothing is planted: each run must leave a report. */
  readonly isControl: boolean;
};

async function runOf(kind: NamingFile['kind'], what: Try): Promise<readonly Evidence[]> {
  const { root, name } = what;
  const result = `${name}.${kind}.json`;
  if (kind === 'unit' || kind === 'programs') await runTests(kind, what, result);
  else await runScenarios(kind === 'features' ? 'in-process' : 'tcp', what, result);
  try {
    return readingOf(kind, readFileSync(join(root, result), 'utf8'), root).evidence;
  } catch (error) {
    if (what.isControl) throw error;
    // A broker that hangs or brings its process down leaves no report: nobody named the requirement.
    return [];
  } finally {
    rmSync(join(root, result), { force: true });
  }
}

function readingOf(kind: NamingFile['kind'], json: string, root: string): Reading {
  return isFeatures(kind) ? readCucumber(json, root) : readVitest(json, root);
}

async function runScenarios(
  driver: 'in-process' | 'tcp',
  { root, name, files, requirements, isControl }: Try,
  result: string,
): Promise<void> {
  const tags = requirements.map((id) => `@${id}`).join(' or ');
  await runCucumber({
    driver,
    args: [
      ...['--format', `json:${result}`],
      ...(tags === '' ? [] : ['--tags', tags]),
      ...files.map(({ path }) => path),
    ],
    imports: [planter],
    environment: { PLANTED_FAULT: join(root, `${name}.planted.json`) },
    output: 'ignore',
    deadlineMs: deadlineMs(isControl),
  });
}

async function runTests(
  kind: 'unit' | 'programs',
  { root, name, files, requirements, isControl }: Try,
  result: string,
): Promise<void> {
  const args = [
    ...['node_modules/vitest/vitest.mjs', 'run', '-c', '.config/vitest.planted.config.ts'],
    ...['--reporter=json', `--outputFile.json=${result}`, '-t', `\\[.*(${requirements.join('|')}).*\\]$`],
    ...files.map(({ path }) => path),
  ];
  const child = execa(process.execPath, args, {
    cwd: root,
    stdio: 'ignore',
    reject: false,
    ...asGroup,
    // Programs that a test starts, in whatever folder, must have the fault too.
    env: {
      PLANTED_FAULT: join(root, `${name}.planted.json`),
      PLANTED_TESTS: kind,
      NODE_OPTIONS: `--import ${pathToFileURL(join(root, planter)).href}`,
    },
  });
  await endOfGroup(child, deadlineMs(isControl));
}
