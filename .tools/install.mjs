// Installs the packages of the lock file when they are missing or older than it, so that `npm start` and `npm test` work
// on a fresh clone. Must run with nothing installed: Node's own modules only. Output goes to stderr, since stdout
// belongs to the command that follows.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

const sqlite = join(root, 'node_modules', 'better-sqlite3');
/** Contains the id of the process that compiles SQLite. */
const compilingFile = join(sqlite, 'compiling');
const maxCompileMs = 600_000;

/** Installs and compiles if needed. Returns false, after saying what to do, when it could not install: SQLite is optional. */
export function ensureInstalled() {
  if (!ensureUnpacked()) return false;
  ensureCompiled();
  return true;
}

/** Installs if needed, and leaves it to `ensureCompiled` to compile: that takes most of the time, and one core. */
export function ensureUnpacked() {
  return isInstalled() || install();
}

/** Whether SQLite is there, or is to be done without: its package is optional. */
export function isCompiled() {
  return !existsSync(sqlite) || existsSync(join(sqlite, 'build/Release/better_sqlite3.node'));
}

/** Compiles SQLite if needed; a process that does so already is waited for. Returns what `isCompiled` says then. */
export function ensureCompiled() {
  const until = performance.now() + maxCompileMs;
  let waits = false;
  while (!isCompiled() && performance.now() < until) {
    if (takesTurn()) return compile();
    if (!waits) console.error('Waiting for another process that compiles SQLite ..');
    waits = true;
    pause(250);
  }
  return isCompiled();
}

/** Two processes that compile in the same folder would remove each other's files. */
function takesTurn() {
  try {
    writeFileSync(compilingFile, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    // What cannot be written here, npm cannot write either, and says so.
    if (error.code !== 'EEXIST') return true;
    if (!isRunning(pidIn(compilingFile))) rmSync(compilingFile, { force: true });
    return false;
  }
}

/** 0, which counts as running, when the file is not written or removed yet. */
function pidIn(path) {
  try {
    return Number(readFileSync(path, 'utf8'));
  } catch {
    return 0;
  }
}

function compile() {
  console.error('Compiling SQLite (once; about a minute) ..');
  // With -O3, the default, it compiles a quarter longer and is no faster (docs/decisions/0005-runtime-dependencies.md).
  const code = npm(['rebuild', 'better-sqlite3'], { CFLAGS: '-O2', ...process.env });
  rmSync(compilingFile, { force: true });
  if (code === 0) return true;
  console.error('SQLite could not be compiled (the message is above). It needs Python 3 and a C++ compiler.');
  return false;
}

function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

export function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process runs and belongs to another user.
    return error.code === 'EPERM';
  }
}

function install() {
  console.error('Installing the packages of package-lock.json (once; half a minute) ..');
  const flags = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  if (npm(['ci', ...flags]) === 0) return true;
  console.error(
    '`npm ci` failed (its message is above). Trying `npm install`, which is less strict about the lock file ..',
  );
  if (npm(['install', '--no-save', '--no-package-lock', ...flags]) === 0) return true;
  console.error(
    [
      'The packages could not be installed. Usual causes:',
      '  - no way to the npm registry: try `npm ping`, and `npm config get registry`, `npm config get proxy`',
      '  - a broken node_modules: delete that folder and try again',
      '  - no right to write in this folder',
    ].join('\n'),
  );
  return false;
}

/** Hands over to the TypeScript part of these tools (all parts if none is named) and ends as it ends. */
export function runParts(names) {
  const runner = spawn(process.execPath, ['--import', 'tsx', '.tools/runner/main.ts', ...names], {
    cwd: root,
    stdio: 'inherit',
  });
  runner.on('exit', (code) => process.exit(code ?? 1));
}

// npm writes its own copy of the lock file into node_modules as the last step of an installation, so its time says
// when an installation was last completed.
function isInstalled() {
  const installedAt = modifiedAt(join(root, 'node_modules', '.package-lock.json'));
  return installedAt !== undefined && installedAt >= (modifiedAt(join(root, 'package-lock.json')) ?? 0);
}

function modifiedAt(path) {
  return existsSync(path) ? statSync(path).mtimeMs : undefined;
}

function npm(args, env = process.env) {
  const options = { cwd: root, env, stdio: ['ignore', process.stderr, process.stderr] };
  const npmScript = process.env.npm_execpath;
  const result = npmScript?.endsWith('.js')
    ? spawnSync(process.execPath, [npmScript, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  if (result.error) console.error(`npm could not be started: ${result.error.message}`);
  return result.status ?? 1;
}
