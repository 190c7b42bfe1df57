// Runs the scenarios three times: in process with virtual time, the same with a backend whose queues are elsewhere, and over TCP against
// the built broker; those tagged @over-tcp only there. Ends with `N passed, N failed` over all. A run without scenarios fails. Arguments are
// passed on, e.g. a feature file or `--name`.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBrokerBuilt } from './build.mjs';
import { type CucumberRun, runCucumber } from './features/cucumber.ts';
import { add, type Count, countCucumber, failure, nothing, settle } from './runner/count.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

type Run = Pick<CucumberRun, 'driver'> & { readonly result: string; readonly workers: number };

// Runs of one stage run beside each other: those in process keep one core busy each. Over TCP most of the time is spent waiting, so two
// workers with brokers of their own take half as long.
const stages: readonly (readonly Run[])[] = [
  [
    { driver: 'in-process', result: 'out/test/features-inprocess.json', workers: 0 },
    { driver: 'delayed', result: 'out/test/features-delayed.json', workers: 0 },
  ],
  [{ driver: 'tcp', result: 'out/test/features-tcp.json', workers: 2 }],
];

const total = add(ensureBrokerBuilt() ? await runAll() : [failure('the broker could not be built')]);
for (const remark of total.remarks) console.log(`  ${remark}`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

async function runAll(): Promise<readonly Count[]> {
  const counts: Count[] = [];
  for (const runs of stages) counts.push(...(await Promise.all(runs.map(runAndTell))));
  return counts;
}

async function runAndTell(run: Run): Promise<Count> {
  const count = await runOnce(run, process.argv.slice(2));
  console.log(`\n${run.driver}: ${count.passed} scenarios passed, ${count.failed} failed\n`);
  return { ...count, remarks: count.remarks.map((remark) => `${run.driver}: ${remark}`) };
}

async function runOnce(run: Run, args: readonly string[]): Promise<Count> {
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
    const count = countCucumber(readFileSync(path, 'utf8'));
    const isEmpty = count.passed + count.failed === 0;
    // Of a selection, all scenarios may be for TCP only; the run over TCP fails when it has none.
    if (run.driver !== 'tcp' && args.length > 0 && isEmpty && exitCode === 0) return nothing;
    return settle(count, exitCode);
  } catch (error) {
    return failure(`left no readable result: ${String(error)}`);
  }
}
