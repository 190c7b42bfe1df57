// The suite fails nobody for a recommendation: the contrary broker (contrary/), another program in another language that decides every
// SHOULD otherwise, comes out conformant, and is warned about exactly what it differs in. Brokers drawn at random from the same choices
// come out conformant too. Yields cases, prints nothing.
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
import { type Case, catalogue } from './phases.ts';
import { root } from './root.ts';

const folder = 'conformance/contrary';

export type ContraryRun = {
  readonly wireMode: WireMode;
  /** Empty: all that the broker claims. */
  readonly profiles: readonly ProfileName[];
  /** 0: contrary in everything; any other seed draws a broker. */
  readonly manners: number;
  /** In place of the seed of the day: random scenarios are a search, and a gate needs the same ones every time. */
  readonly seed?: number;
};

/** What `npm test` does: all profiles once, the wire cut in other ways for core, one broker drawn from the seed, and scenarios. */
export function contraryRuns(seed: number): readonly ContraryRun[] {
  return [
    { wireMode: 'whole', profiles: [], manners: 0 },
    { wireMode: 'random', profiles: ['core'], manners: 0 },
    { wireMode: 'bytewise', profiles: ['core'], manners: 0 },
    { wireMode: 'whole', profiles: ['core', 'delivery'], manners: 1 + (seed % 1_000_000) },
    { wireMode: 'whole', profiles: ['model'], manners: 0, seed: 11 },
    { wireMode: 'whole', profiles: ['model'], manners: 5, seed: 11 },
  ];
}

/** Its own tests, of what a run of the suite would blame on something else. */
export function contraryUnitTests(): Case {
  const folderPath = join(root, folder);
  const flags = ['-B', '-m', 'unittest', 'discover', '-s', folderPath, '-p', 'unittests.py'];
  const { status, stderr, error } = spawnSync('python3', flags, { encoding: 'utf8' });
  const faults = status === 0 && stderr.includes('OK') ? [] : [stderr ?? error?.message ?? ''];
  return { title: 'the contrary broker passes its own tests', faults };
}

/** Needs Python 3; without it there is one case that says so. */
export async function contraryPhase(run: ContraryRun, seed: number): Promise<readonly Case[]> {
  const title = titleOf(run);
  const missing = pythonFault();
  if (missing !== undefined) return [{ title: `${title}: can be started`, faults: [missing] }];
  const { results, verdict } = await reportOf(run, run.seed ?? seed);
  if (verdict.exitCode === exitCodes.target || results.length === 0) {
    return [{ title, faults: [verdict.reason] }];
  }
  const isWhole = run.manners === 0 && run.profiles.length === 0;
  return [
    ...results.map((result) => resultCase(title, result)),
    ...(run.manners === 0 ? [unexpectedCase(title, results)] : []),
    ...(isWhole ? [unseenCase(title, results)] : []),
  ];
}

function reportOf(run: ContraryRun, seed: number): Promise<RunReport> {
  const sources = { catalogue: catalogue(), golden: loadSuiteData().golden };
  const options: RunOptions = {
    target: contraryTarget(run.manners),
    targetPath: `${folder}/target.json`,
    profiles: run.profiles,
    level: 'MAY',
    only: [],
    skip: [],
    seed,
    repeat: 1,
    jobs: 6,
    timeoutScale: 1,
    wireMode: run.wireMode,
    failFast: false,
    strict: false,
  };
  return runSuite(sources, options, () => {});
}

function titleOf({ wireMode, profiles, manners }: ContraryRun): string {
  const who = manners === 0 ? 'the contrary broker' : `a broker drawn with --manners ${manners}`;
  return `${who}, ${profiles.join(' and ') || 'all that it claims'}, frames sent ${wireMode}`;
}

function pythonFault(): string | undefined {
  const { status, error } = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 8))']);
  if (status === 0) return undefined;
  const found = error === undefined ? 'it is older than 3.8' : error.message;
  return `the contrary broker needs python3, version 3.8 or later (apt-get install python3): ${found}`;
}

function contraryTarget(manners: number): Target {
  const target = readTarget(join(root, folder, 'target.json'));
  if (target.lifecycle.kind !== 'spawn') throw new Error('the contrary broker is spawned');
  const command = [...target.lifecycle.command, '--manners', String(manners)];
  return { ...target, lifecycle: { ...target.lifecycle, command } };
}

/** A broker none of whose checks failed, erred or could not run is conformant. */
function resultCase(title: string, { id, outcome, reason, actual }: CheckResult): Case {
  const isFair = ['pass', 'warn', 'not applicable'].includes(outcome);
  return { title: `${title}: ${id}`, faults: isFair ? [] : [`${outcome}: ${reason ?? ''}; ${actual ?? ''}`] };
}

function unexpectedCase(title: string, results: readonly CheckResult[]): Case {
  const differs = turnedRequirements();
  const faults = [...warnedAbout(results)]
    .filter(([clause]) => !differs.has(clause))
    .map(([clause, checks]) => `${checks.join(', ')} warned about ${clause}, which it keeps`);
  return { title: `${title}: warned about nothing that it keeps`, faults };
}

function unseenCase(title: string, results: readonly CheckResult[]): Case {
  // A check that ends at the first difference names one requirement and stands for all of its own.
  const ended = results.filter((result) => isViolated(result));
  const seen = new Set([...warnedAbout(results).keys(), ...ended.flatMap(({ clauses }) => clauses)]);
  const [differs, known] = [turnedRequirements(), new Set(Object.keys(unseenDifferences))];
  const unseen = [...differs].filter((id) => !seen.has(id) && !known.has(id));
  const outdated = [...known].filter((id) => seen.has(id) || !differs.has(id));
  return {
    title: `${title}: warned about all that it decides otherwise`,
    faults: [
      ...unseen.map((id) => `no check warned about ${id}`),
      ...outdated.map((id) => `${id} is listed as a difference that no check sees, and it is none`),
    ],
  };
}

/** The requirements that the broker's table of choices names. */
function turnedRequirements(): ReadonlySet<string> {
  const text = readFileSync(join(root, folder, 'choices.json'), 'utf8');
  const rows = Object.values(JSON.parse(text) as Readonly<Record<string, readonly [readonly string[]]>>);
  return new Set(rows.flatMap(([requirements]) => requirements));
}

/** The requirements warned about, each with the checks that did. */
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
