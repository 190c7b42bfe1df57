// `npm run bench`: measures the figures of the documentation (conformance/bench/figures.ts, which gets all arguments), and records which code
// was measured. `npm run bench -- --mark-stale` measures nothing: the page then says which code has changed since, as after `npm run refresh`.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeLines, pageWith, renewed } from './figures/hot-path.ts';
import { keptCodeFile, pageFile, presentDigests, readKeptCode, resultTimes } from './figures/kept-code.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
process.exitCode = args.includes('--mark-stale') ? markStale() : measure();

/** Builds first, so that the code that is recorded is the code that is measured. */
function measure(): number {
  const now = presentDigests(root);
  if (node('.tools/build.mjs') !== 0) return 1;
  const code = node('--import', 'tsx', 'conformance/bench/figures.ts', ...args);
  const kept = renewed(readKeptCode(root), resultTimes(root), now);
  writeFileSync(join(root, keptCodeFile), `${JSON.stringify(kept, null, 2)}\n`);
  markStale();
  return code;
}

function markStale(): number {
  const path = join(root, pageFile);
  const lines = codeLines(readKeptCode(root), resultTimes(root), presentDigests(root));
  writeFileSync(path, pageWith(readFileSync(path, 'utf8'), lines));
  process.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

function node(...command: readonly string[]): number {
  return spawnSync(process.execPath, command, { cwd: root, stdio: 'inherit' }).status ?? 1;
}
