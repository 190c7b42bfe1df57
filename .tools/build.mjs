// Builds what the commands run from: src/ to dist/ with the compiler, the conformance runner to its single file. Run
// directly it builds both; imported, it builds what is out of date. Compiles beside dist/ and swaps at the end, so
// that a failing build leaves the last good one in place.
import './node-version.mjs';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './install.mjs';

const broker = {
  name: 'the broker',
  output: 'dist/cli/main.js',
  inputs: ['src', 'package.json', 'tsconfig.json', '.config/tsconfig.build.json'],
  build: buildBroker,
};

const runner = {
  name: 'the conformance runner',
  output: 'conformance/dist/main.mjs',
  inputs: ['conformance', 'fixtures', 'spec'],
  build: () => run(process.execPath, ['conformance/build.mjs']),
};

/** Builds the broker if it is missing or older than its sources. Returns whether a usable build is there. */
export function ensureBrokerBuilt() {
  return ensureBuilt(broker);
}

/** Builds broker and runner if they are missing or older than their sources. */
export function ensureAllBuilt() {
  return ensureBuilt(broker) && ensureBuilt(runner);
}

function ensureBuilt(target) {
  return isCurrent(target) || buildTarget(target);
}

function buildTarget(target) {
  console.error(`Building ${target.name} ..`);
  const built = target.build() && existsSync(join(root, target.output));
  if (!built) console.error(`${target.name} was not built (the messages are above).`);
  return built;
}

function isCurrent(target) {
  const output = join(root, target.output);
  if (!existsSync(output)) return false;
  const builtAt = statSync(output).mtimeMs;
  return target.inputs.every((input) => newestAt(join(root, input)) <= builtAt);
}

const isNoInput = /^(dist|node_modules|out|docs|selftest|targets)$|^[.]|[.](test[.]ts|md)$/;

function newestAt(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  const entries = readdirSync(path).filter((name) => !isNoInput.test(name));
  return Math.max(0, ...entries.map((name) => newestAt(join(path, name))));
}

function buildBroker() {
  const next = join(root, 'dist.next');
  rmSync(next, { recursive: true, force: true });
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  if (!run(process.execPath, [compiler, '-p', '.config/tsconfig.build.json', '--outDir', next])) {
    rmSync(next, { recursive: true, force: true });
    return false;
  }
  chmodSync(join(next, 'cli/main.js'), 0o755);
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  renameSync(next, join(root, 'dist'));
  return true;
}

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', process.stderr, process.stderr] });
  return result.status === 0;
}

// `npm install` calls this as `prepare`, and so does the first `npx truemq` in a clone: building what is current would make it take half a
// minute, and replace files from which a broker may run. An installation without development packages cannot build and must not fail.
function main() {
  const isPreparing = process.argv.includes('--prepare');
  if (!existsSync(join(root, 'node_modules/typescript'))) {
    console.error(
      'Not building: the development packages are not installed (`npm install --include=dev` does that).',
    );
    return isPreparing;
  }
  return [broker, runner].map(isPreparing ? ensureBuilt : buildTarget).every(Boolean);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = main() ? 0 : 1;
}
