// The phases of the self-test: the reference broker passes everything, null brokers pass nothing, every planted fault is seen, and
// every check is seen to fail. Each phase yields lines of one case each; it prints nothing.
import type { Anchored } from '../../.tools/faults/planter.ts';
import type { Catalogue } from '../src/catalogue.ts';
import { catalogueOf } from '../src/catalogue.ts';
import { checks } from '../src/checks/index.ts';
import type { StartBroker } from '../src/engine/broker-pool.ts';
import type { RunOptions, RunReport, SuiteEvent, SuiteSources } from '../src/engine/suite.ts';
import { runSuite } from '../src/engine/suite.ts';
import type { CheckResult } from '../src/result.ts';
import type { Case } from '../src/selftest/proof.ts';
import { runQuick } from '../src/selftest/quick-run.ts';
import { loadSuiteData } from '../src/suite-data.ts';
import { spawnBroker } from '../src/target/broker.ts';
import type { SpawnLifecycle, Target } from '../src/target/target-file.ts';
import { readTarget } from '../src/target/target-file.ts';
import type { WireMode } from '../src/wire/chunking.ts';
import { checksOn } from './area-checks.ts';
import { BrokerHost } from './broker-host.ts';
import { type BundleKind, buildBroker } from './mutant-build.ts';
import {
  isKill,
  isUnexpected,
  misnamedRules,
  mutantFaults,
  reportedBroken,
  survivals,
} from './mutant-verdict.ts';
import { type Mutant, mutants } from './mutants.ts';
import { root } from './root.ts';
import { smokeCheck, smokeRequirement } from './smoke-check.ts';

export type { Case };

const referenceTarget = 'conformance/targets/truemq.json';

const data = loadSuiteData();

export function catalogue(): Catalogue {
  return catalogueOf(checks, data.requirements);
}

/** The same scenarios every time: others are drawn by `run --profile model --repeat N`, which is a search and no gate. */
const withScenarios = {
  profiles: [...(readTarget(`${root}/${referenceTarget}`).profiles ?? []), 'model'],
  seed: 11,
} as const;

/** Runs everything against the unmodified reference broker. */
export function referencePhase(observe: (event: SuiteEvent) => void): Promise<readonly Case[]> {
  return referenceRun({ wireMode: 'whole', ...withScenarios }, observe);
}

/** One of so many checks that need a broker of their own runs with frames cut. */
const OWN_BROKER_SAMPLE = 4;

/**
 * The same with frames cut at random, but for checks that show nothing more then at a high price: those that play thousands of messages, and, of
 * those that need a broker of their own, three quarters, which `seed` draws.
 */
export function cutReferencePhase(seed: number): Promise<readonly Case[]> {
  const left = ownBrokerChecks.filter((_, index) => (index + seed) % OWN_BROKER_SAMPLE !== 0);
  return referenceRun({ wireMode: 'random', skip: [...volumeChecks, ...left] });
}

async function referenceRun(
  given: Pick<RunOptions, 'wireMode'> & Partial<RunOptions>,
  observe: (event: SuiteEvent) => void = () => {},
): Promise<readonly Case[]> {
  const target = readTarget(`${root}/${referenceTarget}`);
  const sources = { catalogue: catalogue(), golden: data.golden };
  const report = await runSuite(sources, options({ target, ...given }), observe);
  return [...report.results.map(referenceCase), verdictCase(report, given.wireMode)];
}

function referenceCase(result: CheckResult): Case {
  const passed = result.outcome === 'pass';
  const detail = [result.reason, result.actual, ...result.warnings.map((warning) => warning.text)]
    .filter(Boolean)
    .join('; ');
  return { title: `reference: ${result.id}`, faults: passed ? [] : [`${result.outcome}: ${detail}`] };
}

function verdictCase({ verdict }: RunReport, wireMode: WireMode): Case {
  const title = `reference: the gate is open, frames sent ${wireMode}`;
  return {
    title,
    faults: verdict.exitCode === 0 ? [] : [`exit code ${verdict.exitCode}: ${verdict.reason}`],
  };
}

/** Every check must be named by a mutant that it kills; every mutant must name checks that exist. */
export function killerCases(all: readonly Mutant[] = mutants): readonly Case[] {
  const killed = new Set(all.flatMap(({ mustFail, watched = [] }) => without(mustFail, watched)));
  const known = new Set(checks.map((check) => check.id));
  const named = all.map((mutant) => ({
    title: `mutant ${mutant.id} names checks that exist`,
    faults: [...mutant.mustFail, ...(mutant.mayFail ?? [])]
      .filter((id) => !known.has(id))
      .map((id) => `${id} does not exist`),
  }));
  const covered = checks.map((check) => ({
    title: `${check.id} is killed by a mutant`,
    faults: killed.has(check.id) ? [] : ['no mutant says that this check must fail'],
  }));
  return [...named, ...covered];
}

function without(ids: readonly string[], left: readonly string[]): readonly string[] {
  return ids.filter((id) => !left.includes(id));
}

/** How many mutants are tried at a time. */
export const mutantCrew = { least: 2, most: 8, idleShare: 0.2 } as const;

type MutantCase = Case & Pick<MutantJudgement, 'named' | 'isStarved'>;

/** Tries one mutant. Never rejects. */
export async function mutantPhase(mutant: Mutant): Promise<MutantCase> {
  const title = `mutant ${mutant.id}: ${mutant.title}`;
  try {
    const { faults, named, isStarved } = await judgeMutant(mutant);
    return { title, faults, named, isStarved };
  } catch (error) {
    return { title, faults: [(error as Error).message], named: [], isStarved: false };
  }
}

/** Checks that nearly any fault makes fail: they run on the faults that name them. */
const broadChecks = checks.filter(({ broad }) => broad === true).map(({ id }) => id);

/** It plays random scenarios. */
const isRandom = (id: string): boolean => broadChecks.includes(id) || modelChecks.includes(id);

/** Too many at a time keep each other from answering. */
const restartingChecks = checks.filter(({ isolation }) => isolation === 'restart').map(({ id }) => id);

/** Brokers are started for them alone. */
const ownBrokerChecks = checks.filter(({ isolation }) => isolation !== undefined).map(({ id }) => id);

/** Checks that play thousands of messages: each costs what a hundred others do. */
export const volumeChecks = checks.filter(({ volume }) => volume === true).map(({ id }) => id);

const modelChecks = checks.filter(({ profile }) => profile === 'model').map(({ id }) => id);

type PlantedFault = Anchored & Pick<Mutant, 'breaks' | 'mayFail'> & { readonly mustFail: readonly string[] };

/** Builds a broker, and returns the path of its bundle. */
export type Build = (kind: BundleKind) => Promise<string>;

/** The faults of one broker. */
export type Planted = readonly [PlantedFault, ...PlantedFault[]];

/** What the runner made of a mutant. */
export type MutantJudgement = {
  /** The checks that saw its fault. */
  readonly kills: readonly string[];
  /** Without the smoke test. */
  readonly results: readonly CheckResult[];
  /** The requirements that it breaks and that were called broken. */
  readonly named: readonly string[];
  /** What is not as the mutant says. */
  readonly faults: readonly string[];
  /** The machine was too busy for one of the checks: nothing is shown. */
  readonly isStarved: boolean;
};

/**
 * Plants one fault and runs the checks that must see it, the quick ones of their areas, and the smoke test. Throws when it cannot be
 * planted or tried.
 */
export async function judgeMutant(mutant: Mutant): Promise<MutantJudgement> {
  const { results, verdict } = await areaRun([mutant]);
  const { wrong, again } = await wrongTwice(mutant, results);
  const reported = [...reportedBroken(results), ...reportedBroken(again)];
  const failed = verdict.exitCode === 4 ? [`the broker: ${verdict.reason}`] : [];
  return {
    kills: results.filter(isKill).map(({ id }) => id),
    results: results.filter(({ id }) => id !== smokeCheck.id),
    named: mutant.breaks.filter((clause) => reported.includes(clause)),
    faults: [...failed, ...mutantFaults(mutant, results, smokeCheck.id, isRandom), ...wrong],
    isStarved: results.some(({ starved }) => starved === true),
  };
}

/**
 * What counts only when it is so in two runs: a requirement that is named wrongly, because which one a fault shows first may depend on what
 * runs beside it, and a check of random scenarios that does not meet the fault. What such checks name is not compared: which rule they
 * meet first is chance.
 */
async function wrongTwice(
  mutant: Mutant,
  results: readonly CheckResult[],
): Promise<{ readonly wrong: readonly string[]; readonly again: readonly CheckResult[] }> {
  const wrongIn = (all: readonly CheckResult[]): readonly string[] => [
    ...misnamedRules(
      mutant,
      all.filter(({ id }) => id !== smokeCheck.id && !isRandom(id)),
    ),
    ...survivals(mutant.mustFail.filter(isRandom), all),
  ];
  const first = wrongIn(results);
  if (first.length === 0) return { wrong: [], again: [] };
  const { results: again } = await areaRun([mutant]);
  const second = wrongIn(again);
  return { wrong: first.filter((text) => second.includes(text)), again };
}

/** Plants the faults in one broker and runs the checks that must see one of them, the quick ones of their areas, and the smoke test. */
export async function areaRun(planted: Planted): Promise<RunReport> {
  const mustFail = planted.flatMap((mutant) => mutant.mustFail);
  const only = [...checksOn({ mustFail }, checks), smokeCheck.id];
  const jobs = mustFail.some((id) => restartingChecks.includes(id)) ? 4 : 12;
  const { profiles } = withScenarios;
  return runPlanted(planted, { profiles, jobs, only }, (result) => isDoubtedFor(planted, result));
}

/** No fault of the broker says that the check may fail. */
function isDoubtedFor(planted: Planted, result: CheckResult): boolean {
  return planted.every((mutant) => isUnexpected(mutant, result));
}

/**
 * Plants the faults in one broker and runs every check: random scenarios and crowds, a search and no gate, and checks in volume only where they
 * are to see one of them.
 */
export function fullRun(planted: Planted, more: Pick<Partial<RunOptions>, 'only'> = {}): Promise<RunReport> {
  const mustFail = planted.flatMap((mutant) => mutant.mustFail);
  const seenTimes = new Map<string, number>();
  const isDoubted = (result: CheckResult): boolean => {
    if (!isDoubtedFor(planted, result)) return false;
    const times = (seenTimes.get(result.id) ?? 0) + 1;
    seenTimes.set(result.id, times);
    return times <= 2;
  };
  const searches = mustFail.some((id) => modelChecks.includes(id)) ? withScenarios : {};
  const skip = volumeChecks.filter((id) => !mustFail.includes(id));
  return runPlanted(planted, { jobs: 12, skip, ...searches, ...more }, isDoubted);
}

/** The brokers live in one process, but for those that a check ends or is suspected to end. */
async function runPlanted(
  planted: Planted,
  more: Partial<RunOptions>,
  isDoubted?: (result: CheckResult) => boolean,
): Promise<RunReport> {
  const build: Build = (kind) => buildBroker(planted, kind);
  const name = planted.map(({ id }) => id).join(' and ');
  return runBuilt(build, { name, ...more }, (sources, options) => runQuick(sources, options, isDoubted));
}

/** Runs the checks that the patterns name, but for those that play thousands of messages. Rejects when `build` does, or when the broker cannot be started. */
export function areaRunOf(
  only: readonly string[],
  build: Build,
  { failFast = false } = {},
): Promise<RunReport> {
  const more = { name: 'planted', only, jobs: 12, skip: volumeChecks, failFast };
  return runBuilt(build, more, (sources, options) => runSuite(sources, options, () => {}));
}

async function runBuilt(
  build: Build,
  { name, ...more }: Partial<RunOptions> & { readonly name: string },
  run: (sources: SuiteSources, options: RunOptions) => Promise<RunReport>,
): Promise<RunReport> {
  const reference = readTarget(`${root}/${referenceTarget}`);
  const host = new BrokerHost(programOf(await build('host')));
  const spawnAlone = spawningInTurn(build);
  const startBroker: StartBroker = (order) => (order.ownProcess ? spawnAlone(order) : host.start(order));
  const target: Target = {
    ...reference,
    name,
    profiles: ['full'],
  };
  const withSmoke = catalogueOf([...checks, smokeCheck], [...data.requirements, smokeRequirement]);
  try {
    const sources = { catalogue: withSmoke, golden: data.golden };
    // What the planted faults do not break is kept, as the run of the reference broker shows.
    return await run(sources, options({ target, startBroker, isPart: true, ...more }));
  } finally {
    await host.end();
  }
}

/** One after the other: each start holds the runner's loop up, and a dozen at once starve it. The bundle is built for the first. */
function spawningInTurn(build: Build): StartBroker {
  let program: Promise<string> | undefined;
  let before: Promise<unknown> = Promise.resolve();
  return ({ request, timing }) => {
    const started = before.then(async () => {
      program ??= build('program');
      return spawnBroker(programOf(await program, 'adapter'), request, timing);
    });
    before = started.catch(() => {});
    return started;
  };
}

function programOf(bundle: string, ...args: readonly string[]): SpawnLifecycle {
  return { kind: 'spawn', command: [process.execPath, bundle, ...args], cwd: root };
}

function options(more: Partial<RunOptions> & Pick<RunOptions, 'target'>): RunOptions {
  return {
    targetPath: referenceTarget,
    profiles: [],
    level: 'MAY',
    only: [],
    skip: [],
    seed: Number(process.env['TRUEMQ_SEED'] ?? Math.floor(Math.random() * 2 ** 31)),
    repeat: 1,
    jobs: 6,
    timeoutScale: 1,
    wireMode: 'whole',
    failFast: false,
    strict: true,
    ...more,
  };
}
