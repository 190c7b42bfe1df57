// Runs the parts named on the command line, all of them if none is, goes on after failures, and sums up. The exit code is
// 0 only if something ran and nothing failed. Results of earlier runs are removed first, so that none can be mistaken
// for this run's.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { add } from './count.ts';
import { type Part, parts, type Task } from './parts.ts';
import { type PartResult, renderSummary } from './summary.ts';
import { runTask, type TaskResult } from './task.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

// A part over its budget is pointed out; one that takes this many times as long hangs.
const hangFactor = 5;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main(process.argv.slice(2));

async function main(names: readonly string[]): Promise<number> {
  const chosen = names.length === 0 ? parts : parts.filter((part) => names.includes(part.name));
  const unknown = names.filter((name) => !parts.some((part) => part.name === name));
  if (unknown.length > 0) {
    const known = parts.map((part) => part.name).join(', ');
    console.error(`There is no part ${unknown.join(', ')}. The parts are: ${known}.`);
    return 2;
  }
  for (const task of chosen.flatMap((part) => part.lanes.flat())) removeResults(task);
  const results: PartResult[] = [];
  for (const part of chosen) results.push(await runPart(part));
  const total = add(results.map((result) => result.count));
  process.stdout.write(renderSummary(results));
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

function removeResults(task: Task): void {
  for (const path of task.writes) rmSync(join(root, path), { force: true });
}

async function runPart(part: Part): Promise<PartResult> {
  process.stdout.write(`\n== ${part.name}\n`);
  const startedAt = performance.now();
  const lanes = await Promise.all(part.lanes.map((lane, index) => runLane(part, lane, index)));
  return {
    name: part.name,
    count: add(lanes.flat().map((result) => result.count)),
    seconds: (performance.now() - startedAt) / 1000,
    budgetSeconds: part.budgetSeconds,
  };
}

// The last lane's output is live; those beside it show theirs when they end.
async function runLane(part: Part, lane: readonly Task[], index: number): Promise<readonly TaskResult[]> {
  const limitMs = part.budgetSeconds * hangFactor * 1000;
  const buffered = index < part.lanes.length - 1;
  const show = (text: string | Buffer): void => {
    process.stdout.write(text);
  };
  const results: TaskResult[] = [];
  for (const task of lane) results.push(await runTask(task, { root, limitMs, buffered, show }));
  return results;
}
