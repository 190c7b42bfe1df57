// `npm start`: the broker from a clone, with nothing installed or built by hand. Arguments after `--` go to
// `truemq serve`. Needs Node's own modules only; what it says itself goes to stderr.
import './node-version.mjs';
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ensureBrokerBuilt } from './build.mjs';
import { ensureInstalled, root } from './install.mjs';

// Ctrl-C in a terminal reaches this process twice, from the terminal and forwarded by npm, and to the broker a second
// signal means "stop at once, drop what is in flight". So the broker runs in a process group of its own, out of the
// terminal's reach, and one signal within this time is passed on once.
const repeatedSignalMs = 500;

if (ensureInstalled() && ensureBrokerBuilt()) serve(process.argv.slice(2));
else process.exitCode = 1;

function serve(args) {
  const broker = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'serve', ...args], {
    stdio: 'inherit',
    detached: process.platform !== 'win32',
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
