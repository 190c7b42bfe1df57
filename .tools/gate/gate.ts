// The regression gate: compares what a message costs the broker with what it costs the skeleton, and this ratio with that of the broker of the
// kept commit, on the same machine in the same rounds. Absolute figures are never compared, because machines differ. Exit code 0 green, 1 red.
//
//   npm run bench:gate                   measures and judges; in under two minutes
//   npm run bench:gate -- --beside 4     the same beside four busy loops
//   npm run bench:gate -- --write        measures six times, and renews kept.json; `--runs 3`: three times
//   npm run bench:gate -- --planted      plants a slowdown of a fifth, and fails if the gate does not find it in every row
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineFacts } from '../../conformance/src/bench/bench-result.ts';
import { judgedAttempts } from './attempts.ts';
import { startBusyLoops } from './busy-loops.ts';
import type { RowVerdict } from './judge.ts';
import { type KeptFile, keptRows, type Run } from './kept.ts';
import { committedSources, unpackSources } from './kept-sources.ts';
import { measureRows, type StartSide, withKept, withoutKept } from './measure.ts';
import { gateRows } from './rows.ts';
import { bundleKeptSide, bundleSides, type Side, type SideName, startSide } from './side-process.ts';

type Kept = Pick<KeptFile, 'commit' | 'rows'>;

const root = fileURLToPath(new URL('../..', import.meta.url));
const keptFolder = `${root}out/gate-kept`;
const keptPath = fileURLToPath(new URL('kept.json', import.meta.url));
const formatter = `${root}node_modules/@biomejs/biome/bin/biome`;

const repeatCount = 3;
/** For all attempts: one begins only if it can end in this time. On a slow machine the first takes 83 s, and each row that is repeated 21. */
const budgetMs = 115_000;
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
    const kept = readKept();
    const sides = await sidesWith(kept.commit);
    return values.planted === true
      ? plantedCode(await verdictsOf(kept, sides, startPlanted))
      : gateCode(await verdictsOf(kept, sides, startSide));
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

/** With the broker of the kept commit if the history has it. */
async function sidesWith(commit: string): Promise<readonly SideName[]> {
  const isThere = unpackSources(root, commit, keptFolder);
  if (!isThere) {
    say(`the kept commit ${commit} is not in the history: only the kept ratios are there to compare with`);
    return withoutKept;
  }
  await bundleKeptSide(keptFolder);
  rmSync(keptFolder, { recursive: true });
  return withKept;
}

async function verdictsOf(
  kept: Kept,
  sides: readonly SideName[],
  start: StartSide,
): Promise<readonly RowVerdict[]> {
  const startedAtMs = performance.now();
  const verdicts = await judgedAttempts({
    kept: kept.rows,
    names: gateRows.map(({ name }) => name),
    measure: (names) =>
      measureRows({
        rows: gateRows.filter(({ name }) => names.includes(name)),
        startSide: start,
        sides,
      }),
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

/** Whole measurements with the same broker on both sides: what differs is the noise. */
async function write(runCount: number): Promise<number> {
  const commit = committedSources(root);
  const sides = await sidesWith(commit);
  const runs: Run[] = [];
  while (runs.length < runCount) {
    const rows = await measureRows({ rows: gateRows, startSide, sides });
    runs.push(rows);
    say(
      rows
        .map(({ ratio, change, fault }) => fault ?? `${ratio?.toFixed(2)} (${change?.toFixed(3)})`)
        .join(', '),
    );
  }
  writeFileSync(keptPath, `${JSON.stringify(keptFile(commit, runs), null, 2)}\n`);
  spawnSync(process.execPath, [formatter, 'format', '--write', keptPath], { cwd: root, stdio: 'ignore' });
  say(readFileSync(keptPath, 'utf8'));
  return 0;
}

function keptFile(commit: string, runs: readonly Run[]): KeptFile {
  const { cores, node, platform, arch } = machineFacts();
  return {
    schema: 1,
    about: `Medians of ${runs.length} measurements with processes of their own. The threshold is twice by what part the broker seemed slower than itself at most, from 0.08 to 0.12.`,
    at: new Date().toISOString(),
    commit,
    machine: `${cores} cores, Node ${node}, ${platform} ${arch}`,
    rows: keptRows(runs),
  };
}

/** Without the file no row is kept, so that every row is red. */
function readKept(): Kept {
  if (!existsSync(keptPath)) return { commit: 'without a kept file', rows: [] };
  return JSON.parse(readFileSync(keptPath, 'utf8')) as KeptFile;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
