// Tests that the checks find occasional faults: the reference broker behind the proxy passes the checks with many messages, and with each
// fault it fails the checks that must find it. With a fault of the answers, any outcome is right except an error of the runner. Returns
// cases, prints nothing.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { RunOptions, RunReport } from '../../src/engine/suite.ts';
import { runSuite } from '../../src/engine/suite.ts';
import type { CheckResult } from '../../src/result.ts';
import { loadSuiteData } from '../../src/suite-data.ts';
import type { Target } from '../../src/target/target-file.ts';
import { readTarget } from '../../src/target/target-file.ts';
import { exitCodes } from '../../src/verdict.ts';
import { workOff } from '../idle-crew.ts';
import { type Case, catalogue } from '../phases.ts';
import { root } from '../root.ts';
import { type FaultCase, faultCases, type PlantedFault } from './faults.ts';

/** The checks that the reference broker must pass behind the proxy. */
export const volumeChecks = [
  'PUBLISH-002b',
  'DELIVERY-010b',
  'DELIVERY-011b',
  'DELIVERY-012b',
  'DELIVERY-014d',
  'DELIVERY-024c',
  'DELIVERY-030c',
  'DELIVERY-038c',
] as const;

const targetPath = 'conformance/targets/truemq.json';

/** The proxy's adapter as one file, which starts faster than its sources do. */
export class ProxyProgram {
  readonly #folder = join(root, `out/proxy-${process.pid}`);
  #built: Promise<string> | undefined;

  /** The command that starts the reference broker behind the proxy. */
  async command(fault: PlantedFault | undefined): Promise<readonly string[]> {
    this.#built ??= this.#build();
    const args = fault === undefined ? ['none'] : argumentsOf(fault);
    return [process.execPath, await this.#built, ...args];
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #build(): Promise<string> {
    mkdirSync(this.#folder, { recursive: true });
    const outfile = join(this.#folder, 'adapter.mjs');
    const entryPoints = [join(root, 'conformance/selftest/proxy/adapter.ts')];
    await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', target: 'node20' });
    return outfile;
  }
}

function argumentsOf({ name, at, seed, answer }: PlantedFault): readonly string[] {
  const limit = answer === undefined ? [] : ['--answer', answer];
  return [name, '--at', `${at}`, '--seed', `${seed}`, ...limit];
}

/** Runs checks against the reference broker behind the proxy. */
export async function runProxied(
  program: ProxyProgram,
  fault: PlantedFault | undefined,
  more: Partial<RunOptions>,
): Promise<RunReport> {
  const reference = readTarget(join(root, targetPath));
  const command = await program.command(fault);
  const target: Target = {
    ...reference,
    name: fault === undefined ? 'TrueMQ behind the proxy' : `${fault.name} ${fault.at}`,
    lifecycle: { kind: 'spawn', command, cwd: root },
  };
  const options: RunOptions = {
    target,
    targetPath,
    profiles: [],
    level: 'MAY',
    only: [],
    skip: [],
    seed: fault?.seed ?? 1,
    repeat: 1,
    jobs: 6,
    timeoutScale: 1,
    wireMode: 'whole',
    failFast: false,
    strict: false,
    ...more,
  };
  return runSuite({ catalogue: catalogue(), golden: loadSuiteData().golden }, options, () => {});
}

/** The cases of `npm test`: the proxy without a fault, and each fault once, with the first check that must find it. Never rejects. */
export async function proxyPhase(seed: number): Promise<readonly Case[]> {
  const program = new ProxyProgram();
  const names = new Set<string>();
  const once = faultCases(seed).filter(({ fault }) => !names.has(fault.name) && names.add(fault.name));
  const brief = once.map((one) => ({ ...one, seenBy: one.seenBy.slice(0, 1) }));
  const works = [
    { title: 'behind the proxy', run: () => honestCase(program) },
    ...brief.map((one) => ({ title: one.title, run: () => faultCase(program, one) })),
  ];
  const cases: Case[] = [];
  await workOff(
    works,
    async ({ title, run }) => {
      const failed = (error: unknown): Case => ({ title, faults: [String(error)] });
      cases.push(await run().catch(failed));
    },
    { least: 2, most: 6, idleShare: 0.2 },
  );
  program.dispose();
  return cases;
}

/** The checks with many messages pass without a fault. */
export async function honestCase(program: ProxyProgram): Promise<Case> {
  const results = await provedResults(program, undefined, { only: volumeChecks, jobs: 2 });
  const faults = results
    .filter(({ outcome }) => outcome !== 'pass')
    .map(({ id, outcome, reason, actual }) => `${id}: ${outcome}: ${reason ?? ''} ${actual ?? ''}`);
  return { title: 'the reference broker behind the proxy passes the checks with many messages', faults };
}

/** The checks that must find the fault fail. A fault of the answers causes no error of the runner. */
export async function faultCase(program: ProxyProgram, { fault, title, seenBy }: FaultCase): Promise<Case> {
  if (seenBy.length === 0) return answersCase(program, fault, title);
  const results = await provedResults(program, fault, { only: seenBy, timeoutScale: 0.5 });
  const faults = seenBy
    .map((id) => results.find((result) => result.id === id) ?? { id, outcome: 'not run', reason: '' })
    .filter(({ outcome }) => outcome !== 'fail')
    .map(({ id, outcome, reason }) => `${id} ended with ${outcome} ${reason ?? ''}`);
  return { title: `behind the proxy, seed ${fault.seed}: ${title}`, faults };
}

const starvedTries = 4;

/** Repeats checks whose runner had too little CPU time, one at a time and with the usual deadlines. */
async function provedResults(
  program: ProxyProgram,
  fault: PlantedFault | undefined,
  more: Partial<RunOptions>,
): Promise<readonly CheckResult[]> {
  let { results } = await runProxied(program, fault, more);
  for (let count = 1; count < starvedTries; count += 1) {
    const starved = results.filter((result) => result.starved === true).map(({ id }) => id);
    if (starved.length === 0) break;
    const again = await runProxied(program, fault, { only: starved, jobs: 1 });
    results = results.map((result) => again.results.find(({ id }) => id === result.id) ?? result);
  }
  return results;
}

async function answersCase(program: ProxyProgram, fault: PlantedFault, title: string): Promise<Case> {
  const more = { profiles: ['core'], skip: volumeChecks, jobs: 24, timeoutScale: 0.25 } as const;
  const { results, verdict } = await runProxied(program, fault, more);
  const errors = results
    .filter(({ outcome, starved }) => outcome === 'error' && starved !== true)
    .map(({ id, reason }) => `${id} ended with an error of the runner: ${reason}`);
  const isBlamed = verdict.exitCode === exitCodes.target;
  return {
    title: `behind the proxy, seed ${fault.seed}: ${title}`,
    faults: isBlamed ? [...errors, `exit code ${verdict.exitCode}: ${verdict.reason}`] : errors,
  };
}
