// Builds what the commands run from: src/ to dist/ with the compiler, the command line and the page of the dashboard into it, and the conformance runner to conformance/dist/. Run directly, it builds
// both; imported, it builds what is out of date. Each process builds in a folder of its own (`dist.<pid>`) and renames it to `dist` when it is
// complete. So a failed build keeps the last good one, and two builds at the same time leave one complete `dist`.
import './node-version.mjs';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRunning, root } from './install.mjs';

const broker = {
  name: 'the broker',
  folder: 'dist',
  output: 'cli/main.js',
  inputs: [
    'src',
    'package.json',
    'tsconfig.json',
    '.config/tsconfig.build.json',
    '.tools/bundle.mjs',
    '.tools/page.mjs',
  ],
  buildIn: buildBroker,
};

const runner = {
  name: 'the conformance runner',
  folder: 'conformance/dist',
  output: 'main.mjs',
  inputs: ['conformance', 'fixtures', 'spec'],
  buildIn: (folder) => run(process.execPath, ['conformance/build.mjs', '--out', folder]),
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
  const built = buildAndReplace(target);
  if (!built) console.error(`${target.name} was not built (the messages are above).`);
  return built;
}

function buildAndReplace(target) {
  const folder = join(root, target.folder);
  const next = `${folder}.${process.pid}`;
  const builtBefore = builtAt(target);
  removeAbandonedBuilds(folder);
  try {
    if (!target.buildIn(next) || !existsSync(join(next, target.output))) return false;
    const isReplaced = () => builtAt(target) !== builtBefore && isCurrent(target);
    replaceFolder(folder, next, isReplaced);
    return true;
  } finally {
    remove(next);
  }
}

/** Removes build folders of processes that do not run any more, and those that an earlier process with the id of this one left. */
function removeAbandonedBuilds(folder) {
  const name = basename(folder);
  for (const entry of readdirSync(dirname(folder))) {
    const [, pid] = entry.startsWith(`${name}.`) ? (/[.](\d+)([.]old)?$/.exec(entry) ?? []) : [];
    if (pid === undefined) continue;
    if (Number(pid) === process.pid || !isRunning(Number(pid))) remove(join(dirname(folder), entry));
  }
}

const maxAttempts = 100;

/** Renames `next` to `folder`. Keeps `folder` if another process replaced it with a current build in the meantime. */
function replaceFolder(folder, next, isReplaced) {
  const old = `${next}.old`;
  for (let attempt = 1; !isReplaced(); attempt += 1) {
    try {
      if (existsSync(folder)) renameSync(folder, old);
      renameSync(next, folder);
      break;
    } catch (error) {
      // Another process created or moved the folder between these calls.
      if (attempt === maxAttempts || !['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code))
        throw error;
    } finally {
      remove(old);
    }
  }
}

function remove(path) {
  rmSync(path, { recursive: true, force: true });
}

function isCurrent(target) {
  const at = builtAt(target);
  return at !== undefined && target.inputs.every((input) => newestAt(join(root, input)) <= at);
}

/** When the build in place was made; undefined if there is none. */
function builtAt({ folder, output }) {
  return statSync(join(root, folder, output), { throwIfNoEntry: false })?.mtimeMs;
}

const isNoInput =
  /^(dist|dist[.]\d+([.]old)?|node_modules|out|docs|selftest|targets)$|^[.]|[.](test[.]ts|md)$/;

function newestAt(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  const entries = readdirSync(path).filter((name) => !isNoInput.test(name));
  return Math.max(0, ...entries.map((name) => newestAt(join(path, name))));
}

function buildBroker(folder) {
  const compiler = join(root, 'node_modules/typescript-native/bin/tsc');
  const main = join(folder, 'cli/main.js');
  const compile = [compiler, '-p', '.config/tsconfig.build.json', '--outDir', folder];
  if (!run(process.execPath, compile) || !bundleCommandLine(join(folder, 'cli'))) return false;
  chmodSync(main, 0o755);
  return buildPage(join(folder, 'http/dashboard/page'));
}

/** In a process of its own, since it needs a package that need not be installed when this file is read. */
function bundleCommandLine(folder) {
  remove(folder);
  const isBuilt = run(process.execPath, ['.tools/bundle.mjs', '--out', folder]);
  if (!isBuilt) console.error('The command line was not bundled (the messages are above).');
  return isBuilt;
}

/** In a process of its own, for the same reason. */
function buildPage(folder) {
  const isBuilt = run(process.execPath, ['.tools/page.mjs', '--out', folder]);
  if (!isBuilt) console.error('The page of the dashboard was not bundled (the messages are above).');
  return isBuilt;
}

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', process.stderr, process.stderr] });
  return result.status === 0;
}

// `npm install` calls this as `prepare`, and so does the first `npx truemq` in a clone: building what is current would make it take half a
// minute, and replace files from which a broker may run. An installation without development packages cannot build and must not fail.
function main() {
  const isPreparing = process.argv.includes('--prepare');
  if (!existsSync(join(root, 'node_modules/typescript-native'))) {
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
