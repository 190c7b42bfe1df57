// Measures how many of the behaviour faults the random scenarios find: `node --import tsx conformance/selftest/model-mutants.ts [--only PATTERN]
// [--seed N] [--list]`. Plants each fault of the areas below and runs only the checks of the model. Ends with 1 if they find less
// than half. It takes minutes, so the tests use only a few fixed faults instead.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { scenarioChecks } from '../src/checks/scenarios.ts';
import { runSuite } from '../src/engine/suite.ts';
import type { CheckResult } from '../src/result.ts';
import { loadSuiteData } from '../src/suite-data.ts';
import { readTarget } from '../src/target/target-file.ts';
import { buildBroker, mutantFolder } from './mutant-build.ts';
import { isKill } from './mutant-verdict.ts';
import { type Mutant, mutants } from './mutants.ts';
import { catalogue } from './phases.ts';
import { root } from './root.ts';

const leastShare = 0.5;
const parallelMutants = 3;

/** The areas that random scenarios test. */
const areas = [
  ...['queue', 'publish', 'delivery', 'fan-out', 'priority', 'overflow'],
  ...['retry', 'dead-letters', 'negative-ack', 'scenario'],
];

/** Faults that no scenario can find, with reasons: they concern times, or the settings of the broker. */
const beyond: Readonly<Record<string, string>> = {
  'retry-pause-grows-by-steps': 'how long a pause is',
  'retry-pause-triples': 'how long a pause is',
  'retry-pause-without-limit': 'how long a pause is',
  'retry-rest-one-step-short': 'how long a rest is',
  'retry-no-rest': 'how long a rest is',
  'retry-held-by-the-unsubscribed': 'ack timeouts',
  'retry-pause-frees-the-place': 'the size of a window',
  'negative-ack-waits-for-the-timeout': 'how long a pause is',
  'negative-ack-without-pause': 'how long a pause is',
  'delivery-window-one-too-large': 'the size of a window',
  'queue-configured-defaults-unread': "the broker's settings",
  'queue-made-whatever-is-configured': "the broker's settings",
  'queue-created-at-on-the-wrong-clock': 'a clock',
};

type Finding = { readonly mutant: Mutant; readonly found: string | undefined; readonly fault?: string };

const { values } = parseArgs({
  options: { only: { type: 'string' }, seed: { type: 'string' }, list: { type: 'boolean', default: false } },
});
const seed = Number(values.seed ?? process.env['TRUEMQ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const behaviour = mutants.filter(({ id }) => areas.some((area) => id.startsWith(`${area}-`)));
const chosen = behaviour.filter(({ id }) => !(id in beyond) && id.startsWith(values.only ?? ''));

process.stdout.write(`${chosen.length} faults, seed ${seed}\n`);
const findings = await findAll(chosen);
rmSync(join(root, mutantFolder), { recursive: true, force: true });
report(findings);

async function findAll(mutants: readonly Mutant[]): Promise<readonly Finding[]> {
  const waiting = [...mutants];
  const done: Finding[] = [];
  const work = async (): Promise<void> => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const finding = await findSafely(mutant);
      done.push(finding);
      const missed = finding.fault === undefined ? '   not found' : '   not judged';
      const word = finding.found === undefined ? missed : 'found';
      process.stdout.write(`${word} ${mutant.id}: ${finding.found ?? finding.fault ?? ''}\n`);
    }
  };
  await Promise.all(Array.from({ length: parallelMutants }, work));
  return done;
}

/** A fault that cannot be planted or tested does not count as missed. */
async function findSafely(mutant: Mutant): Promise<Finding> {
  try {
    return { mutant, found: await find(mutant) };
  } catch (error) {
    return { mutant, found: undefined, fault: (error as Error).message };
  }
}

/** Returns the failure that a check reports; undefined if none. Throws if the machine was too slow twice. */
async function find(mutant: Mutant): Promise<string | undefined> {
  const bundle = await buildBroker([mutant]);
  const targetPath = `${root}/conformance/targets/truemq.json`;
  const lifecycle = { kind: 'spawn', command: [process.execPath, bundle, 'adapter'], cwd: root } as const;
  const target = { ...readTarget(targetPath), lifecycle };
  const judge = (only: readonly string[]) =>
    runSuite(
      { catalogue: catalogue(), golden: loadSuiteData().golden },
      {
        target,
        targetPath,
        seed,
        only,
        profiles: ['model'],
        level: 'MAY',
        skip: [],
        repeat: 1,
        jobs: only.length,
        timeoutScale: 1,
        wireMode: 'whole',
        failFast: true,
        strict: false,
      },
      () => {},
    );
  const { results } = await judge(scenarioChecks.map(({ id }) => id));
  let kill = results.find(isKill);
  // Repeats the checks for which the machine was too slow, one at a time.
  for (const { id } of kill === undefined ? results.filter(isUnjudged) : []) {
    const again = (await judge([id])).results;
    kill ??= again.find(isKill);
    if (kill === undefined && again.some(isUnjudged)) throw new Error(`${id} gave no result`);
  }
  if (kill === undefined) return undefined;
  const text = kill.actual?.split('\\n')[0] ?? kill.warnings[0]?.text ?? kill.reason ?? '';
  return `${kill.outcome} ${kill.clause ?? kill.warnings[0]?.clause ?? ''} ${text.slice(0, 140)}`;
}

/** Whether the check shows neither the fault nor its absence. */
function isUnjudged({ outcome }: CheckResult): boolean {
  return outcome === 'error' || outcome === 'could not run' || outcome === 'not shown';
}

function report(all: readonly Finding[]): void {
  const found = all.filter((one) => one.found !== undefined);
  const planted = all.filter(({ fault }) => fault === undefined);
  const unjudged = all.length - planted.length;
  const share = found.length / Math.max(1, planted.length);
  const missed = planted.filter((one) => one.found === undefined).map(({ mutant }) => mutant.id);
  if (missed.length > 0) process.stdout.write(`not found: ${missed.join(', ')}\n`);
  for (const [id, reason] of Object.entries(beyond)) process.stdout.write(`left out: ${id} (${reason})\n`);
  if (unjudged > 0) process.stdout.write(`${unjudged} not judged\n`);
  process.stdout.write(`${found.length} of ${planted.length} found, ${(100 * share).toFixed(0)} percent\n`);
  process.exitCode = share >= leastShare && planted.length === all.length ? 0 : 1;
}
