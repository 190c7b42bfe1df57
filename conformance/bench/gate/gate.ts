// The regression gate: compares what a message costs the broker with what it costs the skeleton, and this ratio with the kept one. Absolute
// figures are never compared, because machines differ. Exit code 0 green, 1 red. The broker must be built.
//
//   npm run bench:gate                   measures and judges; in under two minutes
//   npm run bench:gate -- --beside 4     the same beside four busy loops
//   npm run bench:gate -- --write        measures six times, three of them beside four busy loops, and renews kept.json; `--runs 2`: four times
//   npm run bench:gate -- --planted      plants a slowdown of a fifth, and fails if the gate does not find it in every row
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineFacts } from '../../src/bench/bench-result.ts';
import type { BenchTarget } from '../../src/bench/bench-target.ts';
import { benchTarget, measuredTarget } from '../../src/bench/bench-target.ts';
import { readTarget } from '../../src/target/target-file.ts';
import { referenceTarget } from '../figure.ts';
import { judgedAttempts } from './attempts.ts';
import { startBusyLoops } from './busy-loops.ts';
import type { RowVerdict } from './judge.ts';
import type { KeptFile, Run } from './kept.ts';
import { keptRows } from './kept.ts';
import { measureRows } from './measure.ts';
import { gateRows } from './rows.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const keptPath = fileURLToPath(new URL('kept.json', import.meta.url));
const plantedPath = fileURLToPath(new URL('planted-slowdown.mjs', import.meta.url));
const formatter = `${root}node_modules/@biomejs/biome/bin/biome`;
const skeletonTarget = fileURLToPath(new URL('../skeleton/target.json', import.meta.url));

const repeatCount = 3;
/** For the attempts; starting, and the one that is under way, come on top. */
const budgetMs = 100_000;
const busyLoopCount = 4;
const runsOfEachKind = 3;

process.exitCode = await run(process.argv.slice(2));

async function run(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      write: { type: 'boolean' },
      planted: { type: 'boolean' },
      beside: { type: 'string' },
      runs: { type: 'string' },
    },
  });
  if (values.write === true) return write(Number(values.runs ?? runsOfEachKind));
  const stop = startBusyLoops(Number(values.beside ?? 0));
  try {
    const startedAtMs = performance.now();
    const verdicts = await verdictsOf(
      values.planted === true ? plantedTarget() : benchTarget(referenceTarget),
    );
    say(`${Math.round((performance.now() - startedAtMs) / 1e3)} s`);
    return values.planted === true ? plantedCode(verdicts) : gateCode(verdicts);
  } catch (error) {
    say(
      `nothing was measured: ${(error as Error).message}: build the broker (npm run build) and start it once by hand`,
    );
    return ended(0, gateRows.length);
  } finally {
    stop();
  }
}

async function verdictsOf(broker: BenchTarget): Promise<readonly RowVerdict[]> {
  const targets = { skeleton: benchTarget(skeletonTarget), broker };
  return judgedAttempts({
    kept: readKept().rows,
    names: gateRows.map(({ name }) => name),
    measure: (names) =>
      measureRows(
        gateRows.filter(({ name }) => names.includes(name)),
        targets,
      ),
    repeatCount,
    nowMs: () => performance.now(),
    budgetMs,
    tell: say,
  });
}

function gateCode(verdicts: readonly RowVerdict[]): number {
  for (const { kind, text } of verdicts) say(`${kind === 'green' ? 'green' : 'RED  '} ${text}`);
  const red = verdicts.filter(({ kind }) => kind !== 'green').length;
  return ended(verdicts.length - red, red);
}

/** Every row must have become slower: each of them holds what the slowdown costs. */
function plantedCode(verdicts: readonly RowVerdict[]): number {
  for (const { kind, text } of verdicts) say(`${kind === 'slower' ? 'found    ' : 'NOT FOUND'} ${text}`);
  const found = verdicts.filter(({ kind }) => kind === 'slower').length;
  return ended(found, verdicts.length - found);
}

function ended(passed: number, failed: number): number {
  say(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** The reference broker with the slowdown loaded into it. */
function plantedTarget(): BenchTarget {
  const target = readTarget(referenceTarget);
  const { lifecycle } = target;
  if (lifecycle.kind !== 'spawn') throw new Error('the reference broker is not started by a command');
  const [program = process.execPath, ...args] = lifecycle.command;
  const command = [program, '--import', plantedPath, ...args];
  return measuredTarget({ ...target, lifecycle: { ...lifecycle, command } });
}

/** Whole measurements with new processes each: what differs between them is the noise. */
async function write(countOfEachKind: number): Promise<number> {
  const targets = { skeleton: benchTarget(skeletonTarget), broker: benchTarget(referenceTarget) };
  const runs: Run[] = [];
  for (let index = 0; index < 2 * countOfEachKind; index += 1) {
    const isBesideLoad = index % 2 === 1;
    const stop = startBusyLoops(isBesideLoad ? busyLoopCount : 0);
    try {
      const rows = await measureRows(gateRows, targets);
      runs.push({ isBesideLoad, rows });
      say(
        `${isBesideLoad ? 'beside load' : 'alone'}: ${rows.map((row) => row.cpuRatio?.toFixed(2)).join(', ')}`,
      );
    } finally {
      stop();
    }
  }
  writeFileSync(keptPath, `${JSON.stringify(keptFile(runs), null, 2)}\n`);
  spawnSync(process.execPath, [formatter, 'format', '--write', keptPath], { cwd: root, stdio: 'ignore' });
  say(readFileSync(keptPath, 'utf8'));
  return 0;
}

function keptFile(runs: readonly Run[]): KeptFile {
  const { cores, node, platform, arch } = machineFacts();
  const { stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return {
    schema: 1,
    about: `Medians of ${runs.length} measurements with processes of their own, every second one beside ${busyLoopCount} busy loops. The threshold is 1.5 times what the highest of them was above the median, from 0.08 to 0.14.`,
    at: new Date().toISOString(),
    commit: stdout.trim(),
    machine: `${cores} cores, Node ${node}, ${platform} ${arch}`,
    rows: keptRows(runs),
  };
}

/** Without the file no row is kept, so that every row is red. */
function readKept(): Pick<KeptFile, 'rows'> {
  return existsSync(keptPath) ? (JSON.parse(readFileSync(keptPath, 'utf8')) as KeptFile) : { rows: [] };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
