// That no broker outlives the runner, and no data directory: an adapter's children end with the adapter, and everything ends with the
// runner's process, whether it was interrupted, interrupted twice, killed, or threw.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { builtRunner } from '../testing/built-programs.ts';
import { freePort } from '../testing/free-port.ts';
import { tinyTarget } from '../testing/tiny-target.ts';
import { timingFor } from '../timing.ts';
import { spawnBroker } from './broker.ts';

let folder: string;
let childFile: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'truemq-orphans-'));
  childFile = join(folder, 'child');
});

afterEach(() => rmSync(folder, { recursive: true }));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch {
    return false;
  }
}

/** Where nobody reaps orphans, as in a bare container, a dead one keeps its place in the table. */
function isZombie(pid: number): boolean {
  const path = `/proc/${pid}/stat`;
  return existsSync(path) && readFileSync(path, 'utf8').includes(') Z ');
}

async function untilGone(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid), { timeout: 10_000, interval: 20 }).toBe(false);
}

/** What the brokers wrote. One that is killed just then leaves an empty file, or the beginning of a line. */
function startedBrokers(): readonly number[] {
  const path = join(folder, 'broker');
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
  return lines.map(Number);
}

function childId(): number {
  return Number(readFileSync(childFile, 'utf8'));
}

it('ends what an adapter has started, when the adapter ends in an orderly way and when it is killed', async () => {
  const { lifecycle } = tinyTarget({ TINY_CHILD: childFile });
  if (lifecycle.kind !== 'spawn') throw new Error('the tiny broker is spawned');
  const broker = await spawnBroker(lifecycle, {}, timingFor(1));
  expect(isAlive(childId())).toBe(true);
  broker.terminate();
  expect(await broker.exit).toMatchObject({ code: 0 });
  await untilGone(childId());
  await broker.start();
  await broker.crash();
  await untilGone(childId());
  await broker.dispose();
});

it.each([
  ['SIGINT', 1],
  ['SIGTERM', 2],
  ['SIGHUP', 1],
  ['SIGKILL', 1],
] as const)('leaves no broker behind after %s, sent %i times', async (signal, count) => {
  const target = join(folder, 'target.json');
  writeFileSync(target, JSON.stringify(tinyTarget({ TINY_PID: join(folder, 'broker') })));
  await interrupted(target, signal, count);
});

it.each([
  ['SIGINT', 1],
  ['SIGINT', 2],
] as const)(
  'leaves no broker behind that a hook has started, after %s, sent %i times',
  async (signal, count) => {
    const program = fileURLToPath(new URL('../testing/tiny-broker.mjs', import.meta.url));
    const lifecycle = {
      kind: 'hooks',
      start: `'${process.execPath}' '${program}' &`,
      stop: 'kill $(cat "$CONFORMANCE_DATA_DIRECTORY/pid")',
      environment: { TINY_PID: join(folder, 'broker') },
    };
    const endpoints = { tcp: { host: '127.0.0.1', port: await freePort() } };
    const target = join(folder, 'target.json');
    writeFileSync(target, JSON.stringify({ schema: 1, name: 'hooked', lifecycle, endpoints }));
    await interrupted(target, signal, count);
  },
);

/**
 * Runs the command line on the target, interrupts it once a broker runs, and waits until each broker it has started is gone; unless it
 * was killed, so are their data directories.
 */
async function interrupted(target: string, signal: NodeJS.Signals, count: number): Promise<void> {
  const args = ['run', '--target', target, '--only', 'CONN', '--trace', 'off'];
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  const runner = spawn(process.execPath, [builtRunner, ...args], {
    stdio: 'pipe',
    env: { ...process.env, TMPDIR: temporary },
  });
  const said: Buffer[] = [];
  for (const stream of [runner.stdout, runner.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
  const ended = once(runner, 'exit');
  const hasStarted = (): boolean => startedBrokers().length > 0 || runner.exitCode !== null;
  await expect.poll(hasStarted, { timeout: 30_000 }).toBe(true);
  expect(runner.exitCode, Buffer.concat(said).toString()).toBe(null);
  for (let sent = 0; sent < count; sent += 1) runner.kill(signal);
  const [code] = (await ended) as [number | null];
  expect(code).toBe(signal === 'SIGKILL' ? null : 5);
  for (const pid of startedBrokers()) await untilGone(pid);
  const left = readdirSync(temporary).filter((name) => name.startsWith('truemq-conformance-'));
  if (signal !== 'SIGKILL') expect(left).toEqual([]);
}

it('leaves no broker behind when the runner throws', async () => {
  const module = fileURLToPath(new URL('process-group.ts', import.meta.url));
  const log = fileURLToPath(new URL('log-tail.ts', import.meta.url));
  const script = `
    import { ProcessGroup } from ${JSON.stringify(module)};
    import { LogTail } from ${JSON.stringify(log)};
    const group = new ProcessGroup({ program: 'sleep', args: ['600'], children: 'end' }, new LogTail());
    console.log(group.processId);
    setImmediate(() => { throw new Error('a fault of ours'); });`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', script];
  const thrower = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(createInterface({ input: thrower.stdout }), 'line')) as [string];
  await once(thrower, 'exit');
  await untilGone(Number(line));
});

it('leaves no broker behind when the runner exits while a hook stops it', async () => {
  const module = (name: string): string => JSON.stringify(fileURLToPath(new URL(name, import.meta.url)));
  const program = fileURLToPath(new URL('../testing/tiny-broker.mjs', import.meta.url));
  const stopping = join(folder, 'stopping');
  const lifecycle = {
    kind: 'hooks',
    start: `'${process.execPath}' '${program}' &`,
    stop: `[ -e '${stopping}' ] || { : > '${stopping}'; sleep 600; }; kill $(cat "$CONFORMANCE_DATA_DIRECTORY/pid")`,
    environment: { TINY_PID: join(folder, 'broker') },
  };
  const endpoints = { tcp: { host: '127.0.0.1', port: await freePort() } };
  const script = `
    import { existsSync, watch } from 'node:fs';
    import { hookedBroker } from ${module('hooked-broker.ts')};
    import { timingFor } from ${module('../timing.ts')};
    const setting = { request: {}, timing: timingFor(1) };
    const broker = await hookedBroker(${JSON.stringify(lifecycle)}, ${JSON.stringify(endpoints)}, setting);
    watch(${JSON.stringify(folder)}, () => existsSync(${JSON.stringify(stopping)}) && process.exit());
    void broker.dispose();`;
  const args = ['--import', 'tsx', '--input-type=module', '-e', script];
  await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit');
  expect(existsSync(stopping)).toBe(true);
  const pids = startedBrokers();
  expect(pids).not.toEqual([]);
  for (const pid of pids) await untilGone(pid);
});
