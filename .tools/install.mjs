// Installs the packages of the lock file when they are missing or older than it, so that `npm start` and `npm test` work
// on a fresh clone. Must run with nothing installed: Node's own modules only. Output goes to stderr, since stdout
// belongs to the command that follows.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Installs and compiles if needed. Returns false, after saying what to do, when it could not install: SQLite is optional. */
export function ensureInstalled() {
  if (!isInstalled()) return install('one to two minutes', []);
  ensureCompiled();
  return true;
}

/** Installs if needed, and leaves it to `ensureCompiled` to compile: that takes most of the time, and one core. */
export function ensureUnpacked() {
  return isInstalled() || install('a few seconds', ['--ignore-scripts']);
}

/** Compiles SQLite if needed. Returns whether it is there, or is to be done without: its package is optional. */
export function ensureCompiled() {
  const folder = join(root, 'node_modules', 'better-sqlite3');
  const isThere = !existsSync(folder) || existsSync(join(folder, 'build/Release/better_sqlite3.node'));
  if (isThere) return true;
  console.error('Compiling SQLite (once; one to two minutes) ..');
  if (npm(['rebuild', 'better-sqlite3']) === 0) return true;
  console.error('SQLite could not be compiled (the message is above). It needs Python 3 and a C++ compiler.');
  return false;
}

function install(duration, flags) {
  console.error(`Installing the packages of package-lock.json (once; ${duration}) ..`);
  if (npm(['ci', '--include=dev', '--no-audit', '--no-fund', ...flags]) === 0) return true;
  console.error(
    '`npm ci` failed (its message is above). Trying `npm install`, which is less strict about the lock file ..',
  );
  const lessStrict = ['--include=dev', '--no-save', '--no-package-lock', '--no-audit', '--no-fund'];
  if (npm(['install', ...lessStrict, ...flags]) === 0) return true;
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

function npm(args) {
  const options = { cwd: root, stdio: ['ignore', process.stderr, process.stderr] };
  const npmScript = process.env.npm_execpath;
  const result = npmScript?.endsWith('.js')
    ? spawnSync(process.execPath, [npmScript, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
  if (result.error) console.error(`npm could not be started: ${result.error.message}`);
  return result.status ?? 1;
}
