// The steps of a new user: write a target file with flags, run the doctor, get the verdict. Uses the adapters of this folder with the
// reference broker, each in a process of its own. adapters.programs.test.ts tests the adapters that need a compiler, except the one in
// C#, which no test runs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProbeClient } from '../src/observation/probe-client.ts';
import { readTarget } from '../src/target/target-file.ts';
import { builtRunner, referenceBroker } from '../src/testing/built-programs.ts';
import { freePort } from '../src/testing/free-port.ts';
import { timingFor } from '../src/timing.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'truemq-stranger-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

async function cli(...args: readonly string[]): Promise<{ exitCode: number | null; text: string }> {
  const child = spawn(process.execPath, [builtRunner, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, text: Buffer.concat(said).toString() };
}

async function expectDone(...args: readonly string[]): Promise<string> {
  const { exitCode, text } = await cli(...args);
  expect(exitCode, text).toBe(0);
  return text;
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' ');
}

describe('a new user gets a verdict', () => {
  it.each([
    ['a shell script', ['sh', join(here, 'shell/adapter.sh')]],
    ['a Python script', ['python3', join(here, 'python/adapter.py')]],
  ])('by init, doctor and run, with %s as adapter', async (name, adapter) => {
    const out = `${name.replaceAll(' ', '-')}.yaml`;
    const line = quoted([...adapter, ...referenceBroker]);
    await expectDone('init', '--name', name, '--command', line, '--profile', 'core', '--out', out);
    expect(await expectDone('doctor', '--target', out)).toContain(`${name}: no mistakes found.`);
    const verdict = await expectDone('run', '--target', out, '--profile', 'core', '--trace', 'off');
    expect(verdict).toContain(`${name} is CONFORMANT to profile core.`);
  });

  it('with hooks at fixed ports, and no process remains', async () => {
    const [tcp, health] = [await freePort(), await freePort()];
    const text = readFileSync(join(here, 'hooks/target.yaml'), 'utf8')
      .replace('node ../../../dist/cli/main.js serve', quoted(referenceBroker).replaceAll('"', "'"))
      .replace('../../schemas', join(here, '../schemas'))
      .replaceAll('22925', String(tcp))
      .replaceAll('22926', String(health));
    writeFileSync(join(folder, 'hooks.yaml'), text);
    expect(await expectDone('doctor', '--target', 'hooks.yaml')).toContain('no mistakes found');
    await expectDone('run', '--target', 'hooks.yaml', '--profile', 'core', '--trace', 'off');
  });

  it('with probe, for a broker with default limits, and no queue remains', async () => {
    const [command = '', ...args] = [
      ...referenceBroker,
      '--port',
      '0',
      '--health-port',
      '0',
      '--dashboard',
      'off',
      '--print-ready',
    ];
    const running = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = (await once(createInterface({ input: running.stdout }), 'line')) as [string];
    const { tcp, health } = JSON.parse(line) as {
      tcp: { host: string; port: number };
      health: { url: string };
    };
    const args2 = [`${tcp.host}:${tcp.port}`, '--health', health.url, '--out', 'probed.yaml'];
    const seen = await expectDone('probe', ...args2);
    const { host, port } = tcp;
    const client = new ProbeClient({ tcp: { host, port }, timing: timingFor(1), name: 'after' });
    const queues = await (await client.connect()).listQueues();
    await client.cleanUp();
    running.kill();
    await once(running, 'exit');
    expect(queues).toEqual([]);
    expect(seen).toMatch(/modes +accepts RoundRobin, FanOutWithAck, FanOutWithoutAck, PriorityBased/);
    expect(seen).toMatch(/window +sends 8 of 64/);
    expect(seen).toMatch(/size +accepts a body of 1048576 bytes; one byte more gets MESSAGE_TOO_LARGE/);
    expect(seen).not.toMatch(/not observed|could not be deleted/);
    expect(readTarget(join(folder, 'probed.yaml'))).toMatchObject({
      endpoints: { tcp: { host: tcp.host, port: tcp.port }, health: { url: health.url } },
      capabilities: ['nack', 'maxInFlight', 'brotli', 'gzip', 'prometheus'],
      limits: { subscriberWindow: 8, maxConnectionsPerIpPerWindow: 20 },
    });
  });
});

it.each(['shell', 'python', 'hooks'])('the target file beside the %s example is valid', (name) => {
  const { lifecycle } = readTarget(join(here, name, 'target.yaml'));
  expect(lifecycle).toMatchObject({ cwd: join(here, name) });
});
