// Runs every command that the documents for beginners show, against the broker that `npm start` starts, and sees that each
// message published is shown by the subscriber. Ends with `N passed, N failed`, one for each command and one for each
// message. Needs a POSIX shell.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../conformance/src/testing/free-port.ts';
import { type DocumentCommand, publishedPayloads, readCommands } from './documents/command.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const documents = ['README.md', 'docs/getting-started.md', 'docs/guides/judge-a-broker.md'];
const commandDeadlineMs = 90_000;
const readyDeadlineMs = 30_000;
const shownDeadlineMs = 5_000;

type Running = { readonly command: DocumentCommand; readonly child: ChildProcess; output: string };

const begun: Running[] = [];
process.once('exit', () => {
  for (const one of begun) kill(one, 'SIGKILL');
});

/** Commands that ended well and say nothing to the document's own broker: such a one does the same wherever it is shown. */
const succeeded = new Set<string>();
const tally = { passed: 0, failed: 0 };
for (const path of documents) await runDocument(path);
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exitCode = tally.failed === 0 && tally.passed > 0 ? 0 : 1;

async function runDocument(path: string): Promise<void> {
  console.log(path);
  const ports = { tcp: await freePort(), health: await freePort(), dashboard: await freePort() };
  const commands = readCommands(readFileSync(join(root, path), 'utf8'), ports);
  const running: Running[] = [];
  for (const command of commands) {
    if (command.kind === 'ends') await runToEnd(command);
    else running.push(await runOn(command));
  }
  const shown = (): string =>
    running
      .filter(({ command }) => command.kind === 'subscriber')
      .map(({ output }) => output)
      .join('\n');
  for (const payload of commands.flatMap((command) => publishedPayloads(command.shown))) {
    judge(
      `the subscriber shows ${payload}`,
      await until(() => shown().split('\n').includes(payload), shownDeadlineMs),
    );
  }
  for (const one of running.reverse()) await stop(one);
}

async function runToEnd(command: DocumentCommand): Promise<void> {
  if (succeeded.has(command.run)) {
    judge(`${command.shown} (it has run above)`, true);
    return;
  }
  const startedAt = performance.now();
  const one = begin(command);
  const ended = await until(
    () => one.child.exitCode !== null || one.child.signalCode !== null,
    commandDeadlineMs,
  );
  if (!ended) kill(one, 'SIGKILL');
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const hasSucceeded = one.child.exitCode === 0;
  if (hasSucceeded && command.run === command.shown) succeeded.add(command.run);
  judge(`${command.shown} (${seconds} s)`, hasSucceeded, one.output);
}

// A broker is ready when it says where it listens; a subscriber says nothing until a message comes.
async function runOn(command: DocumentCommand): Promise<Running> {
  const one = begin(command);
  const isReady = (): boolean => command.kind === 'subscriber' || one.output.includes('127.0.0.1:');
  const ready = await until(() => isReady() || one.child.exitCode !== null, readyDeadlineMs);
  judge(`${command.shown} begins`, ready && one.child.exitCode === null, one.output);
  return one;
}

// npm's shell ends at the signal, before what it runs has; so the end of the broker is read from its own log.
async function stop(one: Running): Promise<void> {
  kill(one, 'SIGINT');
  const hasEnded = (): boolean =>
    (one.child.exitCode !== null || one.child.signalCode !== null) &&
    (one.command.kind !== 'broker' || one.output.includes('"message":"stopped"'));
  const ended = await until(hasEnded, readyDeadlineMs);
  if (!ended) kill(one, 'SIGKILL');
  judge(`${one.command.shown} ends on Ctrl-C`, ended && !/\bError\b/.test(one.output), one.output);
}

function begin(command: DocumentCommand): Running {
  const text = command.kind === 'ends' ? command.run : `exec ${command.run}`;
  const child = spawn('sh', ['-c', text], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const one: Running = { command, child, output: '' };
  const keep = (chunk: Buffer): void => {
    one.output += chunk.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  begun.push(one);
  return one;
}

// A terminal sends Ctrl-C to everything that runs in it.
function kill({ child }: Running, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-child.pid, signal);
}

function judge(what: string, passed: boolean, output = ''): void {
  console.log(`  ${passed ? 'ok' : 'FAILED'} ${what}`);
  if (!passed) console.log(output.replace(/^/gm, '    | '));
  tally[passed ? 'passed' : 'failed'] += 1;
}

async function until(condition: () => boolean, deadlineMs: number): Promise<boolean> {
  const startedAt = performance.now();
  while (!condition()) {
    if (performance.now() - startedAt > deadlineMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
