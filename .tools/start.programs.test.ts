// What `npm start` and the build do before and around the broker, tested with a stub for each program that they call: a copy of the tools in
// a folder of its own, an npm and a compiler that record their calls, and a broker that prints its arguments and signals.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const tools = fileURLToPath(new URL('.', import.meta.url));

const npm = `
const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
appendFileSync('calls', 'npm ' + process.argv[2] + '\\n');
if (process.env.FAILING?.includes(process.argv[2])) process.exit(1);
if (process.argv[2] !== 'rebuild') install();
else if (process.env.GATE) require('node:net').connect(Number(process.env.GATE)).once('data', compile);
else compile();

function install() {
  mkdirSync('node_modules', { recursive: true });
  writeFileSync('node_modules/.package-lock.json', '{}');
}

function compile() {
  mkdirSync('node_modules/better-sqlite3/build/Release', { recursive: true });
  writeFileSync('node_modules/better-sqlite3/build/Release/better_sqlite3.node', process.env.CFLAGS ?? '');
  process.exit();
}
`;

const compiler = `
const { appendFileSync, cpSync } = require('node:fs');
appendFileSync('calls', 'tsc\\n');
if (process.env.FAILING?.includes('tsc')) process.exit(2);
cpSync('src', process.argv[process.argv.indexOf('--outDir') + 1], { recursive: true });
if (process.env.MEETING) require('node:net').connect(Number(process.env.MEETING)).once('data', () => process.exit());
`;

const runnerBuild = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
appendFileSync('calls', 'runner\\n');
const folder = process.argv[process.argv.indexOf('--out') + 1];
mkdirSync(folder, { recursive: true });
writeFileSync(folder + '/main.mjs', '');
if (process.env.MEETING) connect(Number(process.env.MEETING)).once('data', () => process.exit());
`;

const bundling = `
import { cpSync } from 'node:fs';
if (process.env.FAILING?.includes('bundle')) process.exit(1);
cpSync('src/cli', process.argv[process.argv.indexOf('--out') + 1], { recursive: true });
`;

const pageBuild = `
if (process.env.FAILING?.includes('page')) process.exit(1);
`;

const broker = `
import { existsSync } from 'node:fs';
const [command, ...args] = process.argv.slice(2);
if (command === 'config') {
  const values = { storage: 'memory', enableAuthentication: false };
  for (const arg of args) values[arg === 'sqlite' ? 'storage' : 'enableAuthentication'] = arg;
  for (const [key, value] of Object.entries(values)) console.log(key + ': ' + value + '  # default');
  process.exit();
}
console.log('args ' + process.argv.slice(2).join(' '));
let signals = 0;
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { signals += 1; console.log(signal); });
process.stdin.on('data', () => process.exit(signals)).on('end', () => process.exit());
setTimeout(() => process.exit(99), 15000);
const sqlite = new URL('../../node_modules/better-sqlite3/', import.meta.url);
const isMissing = existsSync(sqlite) && !existsSync(new URL('build/Release/better_sqlite3.node', sqlite));
console.log(isMissing ? 'ready without SQLite' : 'ready');
`;

let root = '';
const running: ChildProcessWithoutNullStreams[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'start-'));
  for (const name of ['node-version.mjs', 'install.mjs', 'compile.mjs', 'build.mjs', 'start.mjs']) {
    mkdirSync(join(root, '.tools'), { recursive: true });
    copyFileSync(join(tools, name), join(root, '.tools', name));
  }
  write('package.json', '{"type":"module"}');
  write('package-lock.json', '{}');
  write('tsconfig.json', '{}');
  write('.config/tsconfig.build.json', '{}');
  write('npm/package.json', '{"type":"commonjs"}');
  write('npm/npm-cli.js', npm);
  write('node_modules/typescript-native/package.json', '{"type":"commonjs"}');
  write('node_modules/typescript-native/bin/tsc', compiler);
  write('.tools/bundle.mjs', bundling);
  write('.tools/page.mjs', pageBuild);
  write('src/cli/main.js', broker);
});

afterEach(() => {
  for (const child of running.splice(0)) {
    child.stdin.end();
    child.kill('SIGKILL');
  }
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text: string, ageSeconds = 0): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  const time = new Date(Date.now() - ageSeconds * 1000);
  utimesSync(target, time, time);
}

type Started = { readonly child: ChildProcessWithoutNullStreams; readonly next: () => Promise<string> };

function run(
  script: string,
  args: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [join(root, script), ...args], {
    cwd: root,
    env: { ...process.env, npm_execpath: join(root, 'npm/npm-cli.js'), ...environment },
  });
  running.push(child);
  return child;
}

function start(args: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): Started {
  const child = run('.tools/start.mjs', args, environment);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, next: async () => String((await lines.next()).value) };
}

async function startAndFail(failing: string): Promise<{ readonly code: number; readonly said: string }> {
  const { child } = start([], { FAILING: failing });
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  const [code] = (await once(child, 'close')) as [number];
  return { code, said: Buffer.concat(said).toString() };
}

const calls = (): string =>
  existsSync(join(root, 'calls'))
    ? readFileSync(join(root, 'calls'), 'utf8').trim().replaceAll('\n', ', ')
    : 'none';

function pretendInstalledAndBuilt(ageSeconds: number): void {
  write('node_modules/.package-lock.json', '{}', ageSeconds);
  write('dist/cli/main.js', broker, ageSeconds);
}

it('installs, builds and starts a fresh clone, and hands on its arguments', async () => {
  const { next } = start(['--port', '4000']);
  expect(await next()).toBe('args serve --port 4000');
  expect(calls()).toBe('npm ci, tsc');
});

it('installs and builds nothing that is there already', async () => {
  pretendInstalledAndBuilt(-5);
  expect(await start().next()).toBe('args serve');
  expect(calls()).toBe('none');
});

it('installs and builds again what is older than its sources', async () => {
  pretendInstalledAndBuilt(60);
  expect(await start().next()).toBe('args serve');
  expect(calls()).toBe('npm ci, tsc');
});

/** Builds what is out of date, and returns the exit code. */
const prepare = (environment?: NodeJS.ProcessEnv): Promise<number> =>
  runScript('.tools/build.mjs --prepare', environment);

async function runScript(command: string, environment: NodeJS.ProcessEnv = {}): Promise<number> {
  const [script = '', ...args] = command.split(' ');
  const [code] = (await once(run(script, args, environment), 'close')) as [number];
  return code;
}

function writeRunnerSources(): void {
  write('conformance/build.mjs', runnerBuild);
  for (const folder of ['spec', 'fixtures']) mkdirSync(join(root, folder));
}

/** The folders in which programs were built, but for dist itself. */
const buildFolders = (): readonly string[] =>
  ['.', 'conformance'].flatMap((folder) =>
    readdirSync(join(root, folder)).filter((name) => name.startsWith('dist.')),
  );

it('prepares only what is out of date, since the first npx in a clone prepares it while the broker may run', async () => {
  writeRunnerSources();
  write('conformance/dist/main.mjs', '', -5);
  pretendInstalledAndBuilt(-5);
  expect([await prepare(), calls()]).toEqual([0, 'none']);
  write('dist/cli/main.js', broker, 60);
  expect([await prepare(), calls()]).toEqual([0, 'tsc']);
});

it('makes no package of a clone in which nothing is installed, since it would contain no program', async () => {
  rmSync(join(root, 'node_modules'), { recursive: true });
  const { scripts } = JSON.parse(readFileSync(join(tools, '../package.json'), 'utf8'));
  const command = /^node (.*)$/.exec(scripts.prepack)?.[1] ?? '';
  expect([await runScript(command), calls()]).toEqual([1, 'none']);
});

/** Lets two builds write their files before either of them ends. Returns the port at which they wait for each other. */
async function openMeeting(): Promise<string> {
  const waiting: Socket[] = [];
  const server = createServer((socket) => {
    waiting.push(socket.on('error', () => {}));
    if (waiting.length === 2) for (const one of waiting.splice(0)) one.end('go on');
  });
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  return String((server.address() as AddressInfo).port);
}

it.each([
  ['without an earlier build', undefined],
  ['over an earlier build', 60],
])('leaves a complete dist when two processes build at the same time, %s', async (_title, ageSeconds) => {
  writeRunnerSources();
  write('node_modules/.package-lock.json', '{}', -5);
  if (ageSeconds !== undefined) {
    write('dist/cli/main.js', 'throw new Error("an old build")', ageSeconds);
    write('conformance/dist/main.mjs', '', ageSeconds);
  }
  const environment = { MEETING: await openMeeting() };
  expect(await Promise.all([prepare(environment), prepare(environment)])).toEqual([0, 0]);
  expect(buildFolders()).toEqual([]);
  expect(existsSync(join(root, 'conformance/dist/main.mjs'))).toBe(true);
  expect(await start().next()).toBe('args serve');
  expect(calls()).toBe('tsc, tsc, runner, runner');
});

it('removes the build folders of processes that have ended, and keeps those of running ones', async () => {
  writeRunnerSources();
  const ended = spawn(process.execPath, ['-e', '']);
  await once(ended, 'close');
  const ofRunning = `dist.${process.pid}`;
  for (const name of [`dist.${ended.pid}`, `dist.${ended.pid}.old`, ofRunning, 'dist.d'])
    write(`${name}/cli/main.js`, '');
  expect(await prepare()).toBe(0);
  expect(buildFolders()).toEqual([ofRunning, 'dist.d']);
});

it('tries the less strict installation when the strict one fails', async () => {
  expect(await start([], { FAILING: 'ci' }).next()).toBe('args serve');
  expect(calls()).toBe('npm ci, npm install, tsc');
});

it('says what to look at when nothing can be installed', async () => {
  const { code, said } = await startAndFail('ci install');
  expect(code).toBe(1);
  expect(said).toContain('The packages could not be installed');
  expect(calls()).toBe('npm ci, npm install');
});

it('does not start a broker whose command line could not be bundled, and says so', async () => {
  const { code, said } = await startAndFail('bundle');
  expect(code).toBe(1);
  expect(said).toContain('The command line was not bundled');
});

it('does not start a broker whose page could not be bundled, and says so', async () => {
  const { code, said } = await startAndFail('page');
  expect(code).toBe(1);
  expect(said).toContain('The page of the dashboard was not bundled');
});

it('does not start what could not be built, and keeps the last build', async () => {
  pretendInstalledAndBuilt(60);
  const { code, said } = await startAndFail('tsc');
  expect(code).toBe(1);
  expect(said).toContain('the broker was not built');
  expect(existsSync(join(root, 'dist/cli/main.js'))).toBe(true);
});

it('passes a signal that comes twice at once on to the broker once, and ends with its exit code', async () => {
  pretendInstalledAndBuilt(-5);
  const { child, next } = start();
  expect(await next()).toBe('args serve');
  expect(await next()).toBe('ready');
  child.kill('SIGINT');
  child.kill('SIGINT');
  expect(await next()).toBe('SIGINT');
  child.stdin.write('end\n');
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(1);
});

it('stops with one clear line under a Node that is too old', async () => {
  const old =
    "data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '18.20.4' } })";
  const child = spawn(process.execPath, ['--import', old, join(root, '.tools/start.mjs')]);
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(1);
  expect(Buffer.concat(said).toString()).toContain('TrueMQ needs Node.js 20.19 or later; this is 18.20.4');
  expect(calls()).toBe('none');
});

function pretendUnpacked(): void {
  pretendInstalledAndBuilt(-5);
  write('node_modules/better-sqlite3/package.json', '{}');
}

type Gate = { readonly port: string; readonly reached: Promise<Socket> };

/** Lets what compiles wait until something is written to it. */
async function openGate(): Promise<Gate> {
  const server = createServer().listen(0, '127.0.0.1').unref();
  const reached = once(server, 'connection').then(([socket]) => (socket as Socket).on('error', () => {}));
  await once(server, 'listening');
  return { port: String((server.address() as AddressInfo).port), reached };
}

/** Resolves when the program has said so. */
async function saysIn(child: ChildProcessWithoutNullStreams, text: string): Promise<void> {
  let said = '';
  for await (const chunk of child.stderr) {
    said += String(chunk);
    if (said.includes(text)) return;
  }
  throw new Error(`it ended without saying "${text}", after: ${said}`);
}

it('starts a broker while SQLite, which it does not need, is compiled', async () => {
  pretendUnpacked();
  const gate = await openGate();
  const { child, next } = start(['--port', '4000'], { GATE: gate.port, CFLAGS: undefined });
  expect([await next(), await next()]).toEqual(['args serve --port 4000', 'ready without SQLite']);
  const isSaid = saysIn(child, 'SQLite is compiled.');
  (await gate.reached).end('go on');
  await isSaid;
  expect(calls()).toBe('npm rebuild');
  const compiled = join(root, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node');
  expect(readFileSync(compiled, 'utf8')).toBe('-O2');
});

it.each([
  ['a file of queues', ['--storage', 'sqlite']],
  ['users', ['--enable-authentication', 'true']],
])('compiles SQLite before it starts a broker with %s, once', async (_title, args) => {
  pretendUnpacked();
  for (let count = 0; count < 2; count += 1) {
    const { next } = start(args);
    expect([await next(), await next()]).toEqual([`args serve ${args.join(' ')}`, 'ready']);
  }
  expect(calls()).toBe('npm rebuild');
});

it('ends what compiles with the broker', async () => {
  pretendUnpacked();
  const gate = await openGate();
  const { child, next } = start([], { GATE: gate.port });
  expect([await next(), await next()]).toEqual(['args serve', 'ready without SQLite']);
  const compiling = await gate.reached;
  child.stdin.write('end\n');
  await once(compiling.resume(), 'close');
});

it('says why SQLite could not be compiled, beside the broker', async () => {
  pretendUnpacked();
  const { child, next } = start([], { FAILING: 'rebuild' });
  await saysIn(child, 'It needs Python 3 and a C++ compiler.');
  expect([await next(), await next()]).toEqual(['args serve', 'ready without SQLite']);
});

it('compiles once when two processes want to', async () => {
  pretendUnpacked();
  const gate = await openGate();
  const first = runScript('.tools/compile.mjs', { GATE: gate.port });
  const compiling = await gate.reached;
  const second = run('.tools/compile.mjs');
  await saysIn(second, 'Waiting for another process that compiles SQLite');
  const isOver = once(second, 'exit');
  compiling.end('go on');
  expect([await first, await isOver, calls()]).toEqual([0, [0, null], 'npm rebuild']);
});

it('does not wait for a process that has ended while it compiled', async () => {
  pretendUnpacked();
  const ended = spawn(process.execPath, ['-e', '']);
  await once(ended, 'close');
  write('node_modules/better-sqlite3/compiling', String(ended.pid));
  expect([await runScript('.tools/compile.mjs'), calls()]).toEqual([0, 'npm rebuild']);
  expect(existsSync(join(root, 'node_modules/better-sqlite3/compiling'))).toBe(false);
});
