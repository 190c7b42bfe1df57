// Runs the parts named on the command line, all of them if none is, stage by stage, goes on after failures, and sums up. The exit code is
// 0 only if something ran and nothing failed. Results of earlier runs are removed first, so that none can be mistaken
// for this run's.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { add } from './count.ts';
import { type Part, parts, type Stage, stages, type Task } from './parts.ts';
import { type PartResult, renderSummary } from './summary.ts';
import { runTask, type TaskResult } from './task.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

// A part over its budget is pointed out; one that takes this many times as long hangs.
const hangFactor = 3;

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
  for (const stage of stages) results.push(...(await runStage(chosenOf(stage, chosen))));
  const total = add(results.map((result) => result.count));
  process.stdout.write(renderSummary(results));
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
}

function removeResults(task: Task): void {
  for (const path of task.writes) rmSync(join(root, path), { force: true });
}

/** Without the parts that were not chosen, and without tracks that have none. */
function chosenOf(stage: Stage, chosen: readonly Part[]): Stage {
  const tracks = stage.map((track) => track.filter((part) => chosen.includes(part)));
  return tracks.filter((track) => track.length > 0);
}

async function runStage(stage: Stage): Promise<readonly PartResult[]> {
  const runs = stage.map((track, index) => runTrack(track, index === stage.length - 1));
  return (await Promise.all(runs)).flat();
}

async function runTrack(track: readonly Part[], isLive: boolean): Promise<readonly PartResult[]> {
  const results: PartResult[] = [];
  for (const part of track) results.push(await runPart(part, isLive));
  return results;
}

async function runPart(part: Part, isLive: boolean): Promise<PartResult> {
  process.stdout.write(`\n== ${part.name}${isLive ? '' : ' begins; its output follows'}\n`);
  const startedAt = performance.now();
  const lanes = await Promise.all(
    part.lanes.map((lane, index) => runLane(part, lane, isLive && index === part.lanes.length - 1)),
  );
  return {
    name: part.name,
    count: add(lanes.flat().map((result) => result.count)),
    seconds: (performance.now() - startedAt) / 1000,
    budgetSeconds: part.budgetSeconds,
  };
}

// The output of what runs beside something live is shown when it ends.
async function runLane(part: Part, lane: readonly Task[], isLive: boolean): Promise<readonly TaskResult[]> {
  const limitMs = part.budgetSeconds * hangFactor * 1000;
  const show = (text: string | Buffer): void => {
    process.stdout.write(text);
  };
  const results: TaskResult[] = [];
  for (const task of lane) results.push(await runTask(task, { root, limitMs, buffered: !isLive, show }));
  return results;
}
