// Measures the figures of the documentation and writes them to results/NAME.json and to the marked parts of docs/internals/figures.md.
// Takes a quarter of an hour. Run nothing else at the same time: it would change the figures.
//
//   npm run bench                              all figures
//   npm run bench -- throughput depth          only these
//   npm run bench -- --reps 3              with fewer rounds, where noise does not matter
//   npm run bench -- --render                  measures nothing, writes the document from the existing results
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { BenchResult } from '../src/bench/bench-result.ts';
import { documentWith, withGoals } from './figure-document.ts';
import type { FigureEntry } from './figure-list.ts';
import { figureEntries } from './figure-list.ts';
import { goals } from './goals.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const resultsFolder = fileURLToPath(new URL('results/', import.meta.url));
/** Formats the results like all other files. */
const formatter = `${root}node_modules/@biomejs/biome/bin/biome`;
const documentPath = `${root}docs/internals/figures.md`;

process.exitCode = run(process.argv.slice(2));

function run(args: readonly string[]): number {
  const { names, isRenderOnly, roundCount } = readArguments(args);
  const chosen = figureEntries.filter(({ name }) => names.length === 0 || names.includes(name));
  const failed = isRenderOnly ? [] : chosen.filter((entry) => !isTaken(entry, roundCount));
  const document = documentWith(readFileSync(documentPath, 'utf8'), figureEntries, resultNamed);
  writeFileSync(documentPath, withGoals(document, goals, resultNamed));
  for (const { name } of failed) process.stderr.write(`${name}: a measurement failed, see above\n`);
  return failed.length === 0 ? 0 : 1;
}

/** Throws if a name or a number is invalid. */
function readArguments(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { render: { type: 'boolean' }, reps: { type: 'string' } },
  });
  const known = figureEntries.map(({ name }) => name);
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`no figure is called ${unknown}; the figures are ${known.join(', ')}`);
  const roundCount = values.reps === undefined ? undefined : Number(values.reps);
  return { names: positionals, isRenderOnly: values.render === true, roundCount };
}

/** Writes the results also if a round failed: the failure is a part of them. */
function isTaken(entry: FigureEntry, roundCount = entry.roundCount): boolean {
  process.stderr.write(`\n${entry.title}\n`);
  mkdirSync(resultsFolder, { recursive: true });
  const path = resultPath(entry.name);
  const commit = currentCommit();
  const { status } = spawnSync(
    process.execPath,
    [...entry.command, '--reps', String(roundCount), '--json', path],
    {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const result = resultNamed(entry.name);
  if (result === undefined) return false;
  writeFileSync(path, `${JSON.stringify({ ...result, commit }, null, 2)}\n`);
  spawnSync(process.execPath, [formatter, 'format', '--write', path], { cwd: root, stdio: 'ignore' });
  return status === 0;
}

/** The commit, with a plus sign if the source of the broker differs from it. */
function currentCommit(): string {
  const git = (...args: readonly string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const name = git('rev-parse', '--short', 'HEAD').stdout.trim();
  const ofBroker = ['src', ':!src/testing', ':!src/**/*.test.ts'];
  return git('diff', '--quiet', 'HEAD', '--', ...ofBroker).status === 0 ? name : `${name}+`;
}

function resultNamed(name: string): BenchResult | undefined {
  const path = resultPath(name);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as BenchResult) : undefined;
}

function resultPath(name: string): string {
  return `${resultsFolder}${name}.json`;
}
