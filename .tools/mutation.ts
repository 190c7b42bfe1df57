// Mutation testing of what must be right: `npm run mutation` runs it over src/protocol, src/model and src/broker (three quarters of an
// hour on 2 cores; afterwards only what has changed; `-- FILE ..` over these alone) and keeps the result in docs/internals/mutation.json. With
// --check, a part of `npm test`, nothing is mutated: the kept score must reach the least one and be of nearly all of the present code; files
// whose code has changed since are listed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { codeOf } from './faults/product-source.ts';
import {
  ageOf,
  judge,
  type MutationReport,
  type Source,
  type Sources,
  type Summary,
  staleFiles,
  summaryOf,
  withFiles,
} from './mutation/summary.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folders = ['src/broker', 'src/model', 'src/protocol'];
const summaryPath = join(root, 'docs/internals/mutation.json');

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean', default: false } },
  allowPositionals: true,
});
process.exitCode = values.check ? check() : mutate(positionals);

/** The same random tests for every mutant, and fewer of them: what survives them all survives the rest too, nearly always. */
function mutate(paths: readonly string[]): number {
  const only = paths.length === 0 ? [] : ['--mutate', paths.join(',')];
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', '.config/stryker.json', ...only],
    { cwd: root, stdio: 'inherit', env: { ...process.env, TRUEMQ_SEED: '1', TRUEMQ_RUNS: '40' } },
  );
  if (status !== 0) return 1;
  const report = JSON.parse(readFileSync(join(root, 'out/mutation/report.json'), 'utf8')) as MutationReport;
  const date = new Date().toISOString().slice(0, 10);
  const sources = new Map(
    [...presentSources()].filter(([path]) => paths.length === 0 || paths.includes(path)),
  );
  const renewed = summaryOf(report, { date, sources, hash: (text) => sourceOf(text).sha256 });
  const summary = paths.length === 0 ? renewed : withFiles(keptSummary(), renewed, paths);
  writeFileSync(summaryPath, `${JSON.stringify(summary, null, 2)}\n`);
  return check();
}

function keptSummary(): Summary {
  return JSON.parse(readFileSync(summaryPath, 'utf8')) as Summary;
}

function check(): number {
  const summary = keptSummary();
  const present = presentSources();
  const findings = [...judge(summary, folders), ageOf(summary, present)];
  for (const { title, fault } of findings) {
    process.stdout.write(fault === undefined ? `ok   ${title}\n` : `FAIL ${title}: ${fault}\n`);
  }
  const stale = staleFiles(summary, present);
  if (stale.length > 0) {
    process.stdout.write(`Changed since ${summary.date} (npm run mutation brings them up to date):\n`);
    for (const path of stale) process.stdout.write(`  ${path}\n`);
  }
  const failed = findings.filter(({ fault }) => fault !== undefined).length;
  process.stdout.write(`${findings.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

function presentSources(): Sources {
  const paths = folders.flatMap((folder) => sourcesIn(folder));
  return new Map(paths.map((path) => [path, sourceOf(readFileSync(join(root, path), 'utf8'))]));
}

/** What .config/stryker.json mutates. */
function sourcesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts') && !/\.(test|bench)\.ts$/.test(path));
}

/** A comment changes nothing. */
function sourceOf(text: string): Source {
  const code = codeOf(text);
  return { sha256: createHash('sha256').update(code).digest('hex'), length: code.length };
}
