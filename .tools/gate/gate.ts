// The regression gate: compares what a message costs the broker with what it costs the skeleton, and this ratio with the kept one. Absolute
// figures are never compared, because machines differ. Exit code 0 green, 1 red.
//
//   npm run bench:gate                   measures and judges; in under two minutes
//   npm run bench:gate -- --beside 4     the same beside four busy loops
//   npm run bench:gate -- --write        measures six times, and renews kept.json; `--runs 3`: three times
//   npm run bench:gate -- --planted      plants a slowdown of a fifth, and fails if the gate does not find it in every row
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineFacts } from '../../conformance/src/bench/bench-result.ts';
import { judgedAttempts } from './attempts.ts';
import { startBusyLoops } from './busy-loops.ts';
import type { RowVerdict } from './judge.ts';
import { type KeptFile, keptRows, type Run } from './kept.ts';
import { measureRows, type StartSide } from './measure.ts';
import { gateRows } from './rows.ts';
import { bundleSides, type Side, type SideName, startSide } from './side-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const keptPath = fileURLToPath(new URL('kept.json', import.meta.url));
const formatter = `${root}node_modules/@biomejs/biome/bin/biome`;

const repeatCount = 3;
/** For all attempts: one begins only if it can end in this time. */
const budgetMs = 100_000;
const defaultRunCount = 6;

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
  const stop = startBusyLoops(Number(values.beside ?? 0));
  try {
    await bundleSides();
    if (values.write === true) return await write(Number(values.runs ?? defaultRunCount));
    return values.planted === true
      ? plantedCode(await verdictsOf(startPlanted))
      : gateCode(await verdictsOf(startSide));
  } catch (error) {
    say(`nothing was measured: ${(error as Error).message}`);
    return ended(0, gateRows.length);
  } finally {
    stop();
  }
}

function startPlanted(name: SideName): Promise<Side> {
  return startSide(name, name === 'broker' ? ['planted'] : []);
}

async function verdictsOf(start: StartSide): Promise<readonly RowVerdict[]> {
  const startedAtMs = performance.now();
  const verdicts = await judgedAttempts({
    kept: readKept().rows,
    names: gateRows.map(({ name }) => name),
    measure: (names) =>
      measureRows(
        gateRows.filter(({ name }) => names.includes(name)),
        start,
      ),
    repeatCount,
    nowMs: () => performance.now(),
    budgetMs,
    tell: say,
  });
  say(`${Math.round((performance.now() - startedAtMs) / 1e3)} s`);
  return verdicts;
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

/** Whole measurements: what differs between them is the noise. */
async function write(runCount: number): Promise<number> {
  const runs: Run[] = [];
  while (runs.length < runCount) {
    const rows = await measureRows(gateRows, startSide);
    runs.push(rows);
    say(rows.map(({ ratio, fault }) => ratio?.toFixed(2) ?? fault).join(', '));
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
    about: `Medians of ${runs.length} measurements with processes of their own. The threshold is 1.5 times what the highest of them was above the median, from 0.08 to 0.12.`,
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
