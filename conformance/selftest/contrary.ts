// Tests that the suite does not fail a broker for a recommendation. The contrary broker (contrary/) follows no SHOULD: it must be
// conformant, and the suite must warn about exactly the recommendations that it does not follow. Its random variants must be conformant
// too. Returns cases, prints nothing.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProfileName } from '../src/catalogue-words.ts';
import type { RunOptions, RunReport } from '../src/engine/suite.ts';
import { runSuite } from '../src/engine/suite.ts';
import { isViolated } from '../src/outcome.ts';
import type { CheckResult } from '../src/result.ts';
import { loadSuiteData } from '../src/suite-data.ts';
import type { Target } from '../src/target/target-file.ts';
import { readTarget } from '../src/target/target-file.ts';
import { exitCodes } from '../src/verdict.ts';
import type { WireMode } from '../src/wire/chunking.ts';
import { unseenDifferences } from './contrary-unseen.ts';
import { type Case, catalogue, volumeChecks } from './phases.ts';
import { root } from './root.ts';

const folder = 'conformance/contrary';

export type ContraryRun = {
  readonly wireMode: WireMode;
  /** Empty: all profiles that the broker claims. */
  readonly profiles: readonly ProfileName[];
  /** 0: contrary in everything; any other number is the seed of a random variant. */
  readonly variant: number;
  /** Replaces the seed of the self-test, so that the random scenarios are the same in every run. */
  readonly seed?: number;
};

/** The runs of `npm test`: all profiles, core with other chunk sizes, one random variant, and random scenarios. */
export function contraryRuns(seed: number): readonly ContraryRun[] {
  return [
    { wireMode: 'whole', profiles: [], variant: 0 },
    { wireMode: 'random', profiles: ['core'], variant: 0 },
    { wireMode: 'bytewise', profiles: ['core'], variant: 0 },
    { wireMode: 'whole', profiles: ['core', 'delivery'], variant: 1 + (seed % 1_000_000) },
    { wireMode: 'whole', profiles: ['model'], variant: 0, seed: 11 },
    { wireMode: 'whole', profiles: ['model'], variant: 5, seed: 11 },
  ];
}

/** The unit tests of the contrary broker. */
export function contraryUnitTests(): Case {
  const folderPath = join(root, folder);
  const flags = ['-B', '-m', 'unittest', 'discover', '-s', folderPath, '-p', 'unittests.py'];
  const { status, stderr, error } = spawnSync('python3', flags, { encoding: 'utf8' });
  const faults = status === 0 && stderr.includes('OK') ? [] : [stderr ?? error?.message ?? ''];
  return { title: 'the contrary broker passes its own tests', faults };
}

/** Needs Python 3. Without it, returns one failing case that says so. */
export async function contraryPhase(run: ContraryRun, seed: number): Promise<readonly Case[]> {
  const title = titleOf(run);
  const missing = pythonFault();
  if (missing !== undefined) return [{ title: `${title}: can be started`, faults: [missing] }];
  const { results, verdict } = await reportOf(run, run.seed ?? seed);
  if (verdict.exitCode === exitCodes.target || results.length === 0) {
    return [{ title, faults: [verdict.reason] }];
  }
  return [
    ...results.map((result) => resultCase(title, result)),
    ...(run.variant === 0 ? [unexpectedCase(title, results)] : []),
    ...(isWhole(run) ? [unseenCase(title, results)] : []),
  ];
}

function isWhole({ variant, profiles }: ContraryRun): boolean {
  return variant === 0 && profiles.length === 0;
}

function reportOf(run: ContraryRun, seed: number): Promise<RunReport> {
  const sources = { catalogue: catalogue(), golden: loadSuiteData().golden };
  const options: RunOptions = {
    target: contraryTarget(run.variant),
    targetPath: `${folder}/target.json`,
    profiles: run.profiles,
    level: 'MAY',
    only: [],
    // They cost what a hundred others do, and the run of all profiles has them.
    skip: isWhole(run) ? [] : volumeChecks,
    seed,
    repeat: 1,
    jobs: 6,
    // Only the run of all profiles must see what comes a second late.
    timeoutScale: isWhole(run) ? 1 : 2,
    wireMode: run.wireMode,
    failFast: false,
    strict: false,
  };
  return runSuite(sources, options, () => {});
}

function titleOf({ wireMode, profiles, variant }: ContraryRun): string {
  const who = variant === 0 ? 'the contrary broker' : `the contrary broker with --variant ${variant}`;
  return `${who}, ${profiles.join(' and ') || 'all profiles that it claims'}, frames sent ${wireMode}`;
}

function pythonFault(): string | undefined {
  const { status, error } = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 8))']);
  if (status === 0) return undefined;
  const found = error === undefined ? 'it is older than 3.8' : error.message;
  return `the contrary broker needs python3, version 3.8 or later (apt-get install python3): ${found}`;
}

function contraryTarget(variant: number): Target {
  const target = readTarget(join(root, folder, 'target.json'));
  if (target.lifecycle.kind !== 'spawn') throw new Error('the contrary broker is spawned');
  const command = [...target.lifecycle.command, '--variant', String(variant)];
  return { ...target, lifecycle: { ...target.lifecycle, command } };
}

/** Fails unless the check passed, warned or was not applicable. */
function resultCase(title: string, { id, outcome, reason, actual }: CheckResult): Case {
  const isConformant = ['pass', 'warn', 'not applicable'].includes(outcome);
  return {
    title: `${title}: ${id}`,
    faults: isConformant ? [] : [`${outcome}: ${reason ?? ''}; ${actual ?? ''}`],
  };
}

function unexpectedCase(title: string, results: readonly CheckResult[]): Case {
  const differs = contraryRequirements();
  const faults = [...warnedAbout(results)]
    .filter(([clause]) => !differs.has(clause))
    .map(([clause, checks]) => `${checks.join(', ')} warned about ${clause}, which the broker keeps`);
  return { title: `${title}: no warning about a recommendation that it follows`, faults };
}

function unseenCase(title: string, results: readonly CheckResult[]): Case {
  // A check that ends at its first difference names one requirement. It counts for all of its requirements.
  const ended = results.filter((result) => isViolated(result));
  const seen = new Set([...warnedAbout(results).keys(), ...ended.flatMap(({ clauses }) => clauses)]);
  const [differs, known] = [contraryRequirements(), new Set(Object.keys(unseenDifferences))];
  const unseen = [...differs].filter((id) => !seen.has(id) && !known.has(id));
  const outdated = [...known].filter((id) => seen.has(id) || !differs.has(id));
  return {
    title: `${title}: a warning about each recommendation that it does not follow`,
    faults: [
      ...unseen.map((id) => `no check warned about ${id}`),
      ...outdated.map(
        (id) => `${id} is listed as an unseen difference, but a check sees it or the broker follows it`,
      ),
    ],
  };
}

/** The requirements in the broker's table of choices. */
function contraryRequirements(): ReadonlySet<string> {
  const text = readFileSync(join(root, folder, 'choices.json'), 'utf8');
  const rows = Object.values(JSON.parse(text) as Readonly<Record<string, readonly [readonly string[]]>>);
  return new Set(rows.flatMap(([requirements]) => requirements));
}

/** The requirements with a warning, each with the checks that warned. */
function warnedAbout(results: readonly CheckResult[]): ReadonlyMap<string, readonly string[]> {
  const warned = new Map<string, readonly string[]>();
  for (const result of results) {
    const { id, outcome, clause, clauses, warnings } = result;
    if (outcome !== 'warn') continue;
    const main = isViolated(result) ? [clause ?? clauses[0] ?? ''] : [];
    for (const one of [...main, ...warnings.map((warning) => warning.clause)]) {
      warned.set(one, [...(warned.get(one) ?? []), id]);
    }
  }
  return warned;
}
