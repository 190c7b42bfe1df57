// Targets and checks for tests of the engine, around the tiny broker. Not in the package.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Catalogue } from '../catalogue.ts';
import { catalogueOf } from '../catalogue.ts';
import type { Check } from '../check.ts';
import type { RunOptions } from '../engine/suite.ts';
import type { GoldenFile, Requirement } from '../suite-data.ts';
import { loadSuiteData } from '../suite-data.ts';
import type { Target } from '../target/target-file.ts';

export function tinyTarget(environment: Readonly<Record<string, string>> = {}): Target {
  const adapter = fileURLToPath(new URL('tiny-broker.mjs', import.meta.url));
  const lifecycle = { kind: 'spawn', command: [process.execPath, adapter], environment } as const;
  return { schema: 1, name: 'tiny', lifecycle };
}

const requirements: readonly Requirement[] = [
  { id: 'CONN-001', level: 'MUST', sentence: 'A MUST.' },
  { id: 'CONN-002', level: 'SHOULD', sentence: 'A SHOULD.' },
  { id: 'CONN-003', level: 'MAY', sentence: 'A MAY.' },
];

/** A check on one of CONN-001 (MUST), CONN-002 (SHOULD), CONN-003 (MAY). */
export function tinyCheck(id: string, run: Check['run'], more: Partial<Check> = {}): Check {
  return {
    id,
    title: `title of ${id}`,
    clauses: [id.slice(0, -1)],
    profile: 'core',
    evidence: {},
    run,
    ...more,
  };
}

/**
 * Passes after the end of the first broker that wrote its process id to the file `pids` (TINY_PID), so that the runner sees this end
 * before the run is over, however fast the broker of this check starts.
 */
export function tinyWait(id: string, pids: string): Check {
  const waits: Check['run'] = async (ctx) => {
    const connection = await ctx.connect();
    const first = Number(readFileSync(pids, 'utf8').split('\n')[0]);
    while (isRunning(first)) await connection.ping();
    const pong = await connection.ping();
    ctx.assert.equal(pong.commandName, 'Pong', 'Ping is answered');
  };
  return tinyCheck(id, waits, { isolation: 'fresh' });
}

/** Whether the process exists; an ended process exists until its parent has read its exit. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export function tinyCatalogue(checks: readonly Check[]): Catalogue {
  return catalogueOf(checks, requirements);
}

export function tinyOptions(more: Partial<RunOptions> = {}): RunOptions {
  return {
    target: tinyTarget(),
    targetPath: 'tiny.json',
    profiles: [],
    level: 'MAY',
    only: [],
    skip: [],
    seed: 1,
    repeat: 1,
    jobs: 4,
    timeoutScale: 1,
    wireMode: 'whole',
    failFast: false,
    strict: false,
    ...more,
  };
}

export function recordedFrames(): readonly GoldenFile[] {
  return loadSuiteData().golden;
}
