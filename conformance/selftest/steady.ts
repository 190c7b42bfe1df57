// Tests that no outcome changes between runs: `node --import tsx conformance/selftest/steady.ts [--repetitions 20] [--busy 2] [--target FILE]
// [--profile NAME].. [--seed N]` repeats the suite, each time with another seed, while other processes keep the
// cores busy. A check with different outcomes has flipped. A check whose runner had too little CPU time says so and does not count. Takes
// some minutes, so `npm test` does not run it. Ends with 1 if a check flipped.
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { ProfileName } from '../src/catalogue-words.ts';
import { runSuite } from '../src/engine/suite.ts';
import type { CheckResult } from '../src/result.ts';
import { loadSuiteData } from '../src/suite-data.ts';
import { readTarget } from '../src/target/target-file.ts';
import { catalogue } from './phases.ts';
import { root } from './root.ts';

const { values } = parseArgs({
  options: {
    repetitions: { type: 'string', default: '20' },
    busy: { type: 'string', default: '2' },
    target: { type: 'string', default: join(root, 'conformance/targets/truemq.json') },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    profile: { type: 'string', multiple: true, default: ['full'] },
  },
});

/** The outcomes of one check, each with its runs. */
type Endings = Map<string, string[]>;

function endingOf({ outcome, starved }: CheckResult): string {
  return starved === true ? 'starved' : outcome;
}

function busyLoops(count: number): () => void {
  const loops = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const stop = (): void => {
    for (const loop of loops) loop.kill('SIGKILL');
  };
  process.once('exit', stop);
  return stop;
}

async function runOnce(seed: number): Promise<readonly CheckResult[]> {
  const target = readTarget(resolve(values.target));
  const report = await runSuite(
    { catalogue: catalogue(), golden: loadSuiteData().golden },
    {
      target,
      targetPath: values.target,
      profiles: values.profile as ProfileName[],
      level: 'MAY',
      only: [],
      skip: [],
      seed,
      repeat: 1,
      jobs: 4,
      timeoutScale: 1,
      wireMode: 'whole',
      failFast: false,
      strict: false,
    },
    () => {},
  );
  return report.results;
}

function tell(id: string, endings: Endings): void {
  const parts = [...endings].map(([ending, runs]) => `${runs.length} ${ending}`);
  process.stdout.write(`${id}: ${parts.join(', ')}\n`);
  for (const [ending, runs] of endings) {
    if (ending !== 'pass') process.stdout.write(runs.map((run) => `     ${ending}, ${run}\n`).join(''));
  }
}

/** An interrupt ends the repetitions after the current one; the results so far are printed. */
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupt.abort());

const stop = busyLoops(Number(values.busy));
const all = new Map<string, Endings>();
for (let index = 0; index < Number(values.repetitions) && !interrupt.signal.aborted; index += 1) {
  const seed = Number(values.seed) + 1000 * index;
  const startedAt = performance.now();
  const results = await runOnce(seed);
  for (const result of results) {
    const endings = all.get(result.id) ?? new Map<string, string[]>();
    const detail = `seed ${seed}: ${result.reason ?? ''} ${result.actual ?? ''}`.slice(0, 300);
    endings.set(endingOf(result), [...(endings.get(endingOf(result)) ?? []), detail]);
    all.set(result.id, endings);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const starvedCount = results.filter(({ starved }) => starved === true).length;
  process.stdout.write(
    `run ${index + 1}: seed ${seed}, ${results.length} checks, ${starvedCount} starved, ${seconds} s\n`,
  );
}
stop();
const flipped = [...all].filter(
  ([, endings]) => [...endings.keys()].filter((ending) => ending !== 'starved').length > 1,
);
for (const [id, endings] of flipped) tell(id, endings);
process.stdout.write(`${all.size - flipped.length} checks steady, ${flipped.length} flipped\n`);
const exitCode = flipped.length === 0 && all.size > 0 ? 0 : 1;
process.stdout.write('', () => process.exit(exitCode));
