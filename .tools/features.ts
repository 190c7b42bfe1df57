// Runs the scenarios twice: in process with virtual time, and over TCP against the built broker. Ends with
// `N passed, N failed` over both. A run without scenarios fails. Arguments are passed on, e.g. a feature file or
// `--name`.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBrokerBuilt } from './build.mjs';
import { runCucumber } from './features/cucumber.ts';
import { add, type Count, countCucumber, failure, settle } from './runner/count.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

// Over TCP most of the time is spent waiting, so two workers with brokers of their own take half as long.
const runs = [
  { driver: 'in-process', result: 'out/test/features-inprocess.json', workers: 0 },
  { driver: 'tcp', result: 'out/test/features-tcp.json', workers: 2 },
] as const;

const total = add(ensureBrokerBuilt() ? await runAll() : [failure('the broker could not be built')]);
for (const remark of total.remarks) console.log(`  ${remark}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

async function runAll(): Promise<readonly Count[]> {
  const counts: Count[] = [];
  for (const run of runs) {
    const count = await runOnce(run, process.argv.slice(2));
    console.log(`${run.driver}: ${count.passed} scenarios passed, ${count.failed} failed\n`);
    counts.push({ ...count, remarks: count.remarks.map((remark) => `${run.driver}: ${remark}`) });
  }
  return counts;
}

async function runOnce(run: (typeof runs)[number], args: readonly string[]): Promise<Count> {
  const path = join(root, run.result);
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  const exitCode = await runCucumber({
    driver: run.driver,
    args: [
      ...['--parallel', String(run.workers)],
      ...['--format', 'progress', '--format', `json:${run.result}`, ...args],
    ],
  });
  try {
    return settle(countCucumber(readFileSync(path, 'utf8')), exitCode);
  } catch (error) {
    return failure(`left no readable result: ${String(error)}`);
  }
}
