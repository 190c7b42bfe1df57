// Runs the scenarios twice: in process with virtual time, and over TCP against a started broker. Ends with
// `N passed, N failed` over both. A run without scenarios fails. Arguments are passed on, e.g. a feature file or
// `--name`.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { add, type Count, countCucumber, failure, settle } from './runner/count.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const cucumber = 'node_modules/@cucumber/cucumber/bin/cucumber.js';

// The steps read the driver's name from the world's parameters.
const runs = [
  { driver: 'in-process', result: 'out/test/features-inprocess.json' },
  { driver: 'tcp', result: 'out/test/features-tcp.json' },
] as const;

const counts: Count[] = [];
for (const run of runs) {
  const count = await runOnce(run, process.argv.slice(2));
  console.log(`${run.driver}: ${count.passed} scenarios passed, ${count.failed} failed`);
  for (const remark of count.remarks) console.log(`  ${remark}`);
  counts.push(count);
}
const total = add(counts);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed === 0 ? 0 : 1;

async function runOnce(run: (typeof runs)[number], args: readonly string[]): Promise<Count> {
  const path = join(root, run.result);
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  const exitCode = await execute([
    ...['--config', '.config/cucumber.mjs', '--world-parameters', JSON.stringify({ driver: run.driver })],
    ...['--format', 'progress', '--format', `json:${run.result}`, ...args],
  ]);
  try {
    return settle(countCucumber(readFileSync(path, 'utf8')), exitCode);
  } catch (error) {
    return failure(`left no readable result: ${String(error)}`);
  }
}

function execute(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ['--import', 'tsx', cucumber, ...args], {
    cwd: root,
    stdio: 'inherit',
  });
  return new Promise((resolve) => {
    child.on('error', () => resolve(1));
    child.on('close', (code) => resolve(code ?? 1));
  });
}
