// `npm start`: the broker from a clone, with nothing installed or built by hand. Arguments after `--` go to `truemq serve`. SQLite, which takes
// a minute to compile, is compiled before a broker that needs it and beside any other. Needs Node's own modules only; what it says itself
// goes to stderr.
import './node-version.mjs';
import { spawn, spawnSync } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { ensureBrokerBuilt } from './build.mjs';
import { ensureCompiled, ensureUnpacked, isCompiled, root } from './install.mjs';

// Ctrl-C in a terminal reaches this process twice, from the terminal and forwarded by npm, and to the broker a second
// signal means "stop at once, drop what is in flight". So the broker runs in a process group of its own, out of the
// terminal's reach, and one signal within this time is passed on once.
const repeatedSignalMs = 500;

const commandLine = join(root, 'dist/cli/main.js');
const hasProcessGroups = process.platform !== 'win32';

if (ensureUnpacked() && ensureBrokerBuilt()) start(process.argv.slice(2));
else process.exitCode = 1;

function start(args) {
  // A broker without SQLite says what it misses.
  if (!isCompiled() && needsSqlite(args)) ensureCompiled();
  else if (!isCompiled()) process.on('exit', compileBeside());
  serve(args);
}

/** As the flags, the environment and the file of configuration say. */
function needsSqlite(args) {
  const { stdout } = spawnSync(process.execPath, [commandLine, 'config', ...args], { encoding: 'utf8' });
  return /^(storage: sqlite|enableAuthentication: true)\b/m.test(stdout);
}

/** Begins to compile at the lowest priority, and prints what comes of it. The result ends it. */
function compileBeside() {
  console.error(
    'Compiling SQLite beside the broker, for queues and users that last (once; about a minute) ..',
  );
  const compiler = spawn(process.execPath, [join(root, '.tools/compile.mjs')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: hasProcessGroups,
  });
  if (compiler.pid !== undefined) setPriority(compiler.pid, constants.priority.PRIORITY_LOW);
  let said = '';
  compiler.stderr.on('data', (chunk) => {
    said += chunk;
  });
  compiler.on('error', (error) => console.error(`SQLite could not be compiled: ${error.message}`));
  compiler.on('close', (code) => console.error(code === 0 ? 'SQLite is compiled.' : said.trimEnd()));
  return () => {
    if (compiler.pid === undefined || compiler.exitCode !== null || compiler.signalCode !== null) return;
    try {
      process.kill(hasProcessGroups ? -compiler.pid : compiler.pid);
    } catch {
      // It has ended in this moment.
    }
  };
}

function serve(args) {
  const broker = spawn(process.execPath, [commandLine, 'serve', ...args], {
    stdio: 'inherit',
    detached: hasProcessGroups,
  });
  forwardSignals(broker);
  if (process.env.npm_lifecycle_event !== undefined) followParent(broker);
  broker.on('error', (error) => {
    console.error(`The broker could not be started: ${error.message}`);
    process.exitCode = 1;
  });
  broker.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

function forwardSignals(broker) {
  let lastAt = Number.NEGATIVE_INFINITY;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      const now = performance.now();
      if (now - lastAt < repeatedSignalMs) return;
      lastAt = now;
      // A terminal that closes says SIGHUP; the broker ends in good order then too.
      broker.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
    });
  }
}

// npm runs this through a shell, and a shell that is told to end does not tell its children. Being handed to another
// parent is then the only sign that npm is gone.
function followParent(broker) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    broker.kill('SIGTERM');
  }, 250);
  timer.unref();
}
