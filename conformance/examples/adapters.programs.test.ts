// Compiles the adapters of this folder and runs each with a small program in place of a broker. Those that stranger.programs.test.ts does
// not run also run with the reference broker. If this machine does not have the compiler of an adapter, its tests count as not shown.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestContext } from 'vitest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTarget } from '../src/target/target-file.ts';
import { builtRunner, referenceBroker } from '../src/testing/built-programs.ts';

type Example = {
  readonly language: string;
  /** Succeeds if the compiler or interpreter is installed. */
  readonly probe: readonly string[];
  /** Compiles the adapter into a folder. */
  readonly build?: (out: string) => readonly string[];
  readonly command: (out: string) => readonly string[];
};

const here = fileURLToPath(new URL('.', import.meta.url));
const python: Example = {
  language: 'Python',
  probe: ['python3', '--version'],
  command: () => ['python3', join(here, 'python/adapter.py')],
};
const compiled: readonly Example[] = [
  {
    language: 'Go',
    probe: ['go', 'version'],
    build: (out) => ['go', 'build', '-o', join(out, 'go-adapter'), join(here, 'go/adapter.go')],
    command: (out) => [join(out, 'go-adapter')],
  },
  {
    language: 'Java',
    probe: ['javac', '-version'],
    build: (out) => ['javac', '-d', out, join(here, 'java/adapter.java')],
    command: (out) => ['java', '-cp', out, 'Adapter'],
  },
  {
    language: 'Rust',
    probe: ['rustc', '--version'],
    build: (out) => [
      ...['rustc', '--edition', '2021'],
      ...['-o', join(out, 'rust-adapter'), join(here, 'rust/adapter.rs')],
    ],
    command: (out) => [join(out, 'rust-adapter')],
  },
];

/** Answers its arguments as the query of a health URL. Ends with 7 on SIGTERM, with 9 on SIGHUP. With `--fail` it ends before it listens. */
const fakeBroker = `
if (process.argv.includes('--fail')) process.exit(3);
process.once('SIGTERM', () => process.exit(7));
process.once('SIGHUP', () => process.exit(9));
const url = 'http://127.0.0.1:1/?' + process.argv.slice(2).join(' ').replaceAll(/ (?!--)/g, '=');
console.log(JSON.stringify({ tcp: { host: '127.0.0.1', port: 4321 }, health: { url } }));
for (let line = 0; line < 20_000; line += 1) console.log('a line that nobody asked for');
setInterval(() => {}, 1000);
`;
const request = {
  protocol: 1,
  tcp: { host: '127.0.0.1', port: 0 },
  health: { host: '127.0.0.1', port: 0 },
  dashboard: { host: '127.0.0.1', port: 0 },
  dataDirectory: 'a "folder" \\ \u0001',
  storage: 'durable',
  authentication: { superuser: { username: 'u', password: 'p' } },
  tls: null,
  rateLimit: null,
  limits: { maxQueues: 3, memoryLimitBytes: 9_007_199_254_740_991 },
  queueDefaults: { deliveryMode: 'FanOutWithAck', enableAutoCreate: false },
  timing: { ackTimeoutMs: 250 },
  laterVersion: [1, { deep: ['x'] }, []],
};

let folder: string;
/** By adapter: why it cannot be tried here; undefined when it can. */
const prepared = new Map<Example, Promise<string | undefined>>();

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'truemq-adapters-'));
  writeFileSync(join(folder, 'fake-broker.mjs'), fakeBroker);
});

afterAll(() => rmSync(folder, { recursive: true }));

async function run(command: readonly string[]): Promise<string> {
  const [program = '', ...args] = command;
  const { stdout, stderr } = await promisify(execFile)(program, args, { cwd: folder });
  return stdout + stderr;
}

async function prepare({ probe, build }: Example): Promise<string | undefined> {
  try {
    await run(probe);
  } catch (error) {
    return `\`${probe.join(' ')}\` fails: ${String(error).trim()}`;
  }
  if (build !== undefined) await run(build(folder));
  return undefined;
}

/** Compiles the adapter. Ends the test as not shown if its compiler is missing; rejects if it does not compile. */
async function compile(example: Example, { task, skip }: TestContext): Promise<void> {
  const ready = prepared.get(example) ?? prepare(example);
  prepared.set(example, ready);
  const missing = await ready;
  if (missing === undefined) return;
  Object.assign(task.meta, { notShown: missing });
  skip(`not shown on this machine: ${missing}`);
}

/** Starts the adapter around the fake broker, writes a request to it, and reads its answer. */
async function startAdapter(example: Example, line: object, ...brokerArgs: readonly string[]) {
  const [program = '', ...args] = example.command(folder);
  const broker = [process.execPath, join(folder, 'fake-broker.mjs'), ...brokerArgs];
  const child = spawn(program, [...args, ...broker], { stdio: ['pipe', 'pipe', 'ignore'] });
  const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
  child.stdin.write(`${JSON.stringify(line)}\n`);
  const [answer] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, ended, answer: JSON.parse(answer) as Record<string, unknown> };
}

/** The flags that the adapter gave to the fake broker, sorted. */
function flagsOf(answer: Record<string, unknown>): readonly string[] {
  const { url } = answer['health'] as { url: string };
  return (url.split('?')[1] ?? '').split(' ').sort();
}

describe.each([python, ...compiled])('the adapter in $language', (example) => {
  it('passes settings to the broker, names the others, and ends with the broker on SIGTERM', async (context) => {
    await compile(example, context);
    const { child, ended, answer } = await startAdapter(example, request);
    child.kill('SIGTERM');
    expect(await ended).toEqual([7, null]);
    expect(answer).toMatchObject({ protocol: 1, ready: true, tcp: { host: '127.0.0.1', port: 4321 } });
    expect(flagsOf(answer)).toEqual([
      '--ack-timeout=250ms',
      '--dashboard=off',
      '--default-delivery-mode=FanOutWithAck',
      '--enable-auto-create=false',
      '--health-port=0',
      '--max-queues=3',
      '--port=0',
      '--print-ready',
      '--rate-limit=off',
    ]);
    const unsupported = [...(answer['unsupported'] as readonly string[])].sort();
    expect(unsupported).toEqual(['authentication.superuser', 'limits.memoryLimitBytes', 'storage']);
  });

  it('asks for a rate limit when one is wanted, and ends with the broker when standard input ends', async (context) => {
    await compile(example, context);
    const limited = {
      ...request,
      storage: 'memory',
      authentication: null,
      limits: {},
      rateLimit: { connectionWindowMs: 1000 },
    };
    const { child, ended, answer } = await startAdapter(example, limited);
    child.stdin.end();
    expect(await ended).toEqual([7, null]);
    expect(answer['unsupported']).toEqual([]);
    expect(flagsOf(answer)).toContain('--connection-window=1000ms');
    expect(flagsOf(answer)).not.toContain('--rate-limit=off');
  });

  it('passes SIGHUP on, which asks the broker to read its certificates again', async (context) => {
    await compile(example, context);
    const { child, ended } = await startAdapter(example, request);
    child.kill('SIGHUP');
    expect(await ended).toEqual([9, null]);
  });

  it('says that the broker ended before it listened', async (context) => {
    await compile(example, context);
    const { ended, answer } = await startAdapter(example, request, '--fail');
    await ended;
    expect(answer).toEqual({
      protocol: 1,
      ready: false,
      error: expect.stringContaining('the broker ended with 3 before it listened') as string,
    });
  });
});

it('the shell script names the settings that it has no flags for, and passes SIGHUP on', async () => {
  const shell = { language: 'shell', probe: [], command: () => ['sh', join(here, 'shell/adapter.sh')] };
  const line = { ...request, dataDirectory: folder };
  const { child, ended, answer } = await startAdapter(shell, line);
  child.kill('SIGHUP');
  expect(await ended).toEqual([9, null]);
  const unsupported = [...(answer['unsupported'] as readonly string[])].sort();
  expect(unsupported).toEqual(['authentication', 'limits.memoryLimitBytes', 'storage']);
});

describe.each(compiled)('the adapter in $language, around the reference broker', (example) => {
  it('is accepted by the doctor, and its broker passes checks with its defaults and with other settings', async (context) => {
    await compile(example, context);
    const runner = [process.execPath, builtRunner];
    const target = join(folder, `${example.language}.json`);
    const lifecycle = { kind: 'spawn', command: [...example.command(folder), ...referenceBroker] };
    const claims = { profiles: ['core', 'limits'], capabilities: ['brotli', 'gzip', 'nack', 'maxInFlight'] };
    writeFileSync(target, JSON.stringify({ schema: 1, name: 'by an example', lifecycle, ...claims }));
    expect(await run([...runner, 'doctor', '--target', target])).toContain('no mistakes found');
    const only = ['--only', 'FRAME-00*', '--only', 'QUEUE-008*', '--trace', 'off'];
    const verdict = await run([...runner, 'run', '--target', target, ...only]);
    expect(verdict).toContain('pass QUEUE-008b');
    expect(verdict).toMatch(/^\d+ pass$/m);
  });
});

it.each(['go', 'java', 'rust'])('the target file beside the %s example is valid', (name) => {
  const { lifecycle } = readTarget(join(here, name, 'target.yaml'));
  expect(lifecycle).toMatchObject({ cwd: join(here, name) });
});
