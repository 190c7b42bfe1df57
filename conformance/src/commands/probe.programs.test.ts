// `probe` at brokers of all sorts: what it saw, what it suggests, that it leaves nothing behind. The reference broker is tried in
// examples/stranger.programs.test.ts.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../cli/main.ts';
import type { Broker } from '../target/broker.ts';
import { spawnBroker } from '../target/broker.ts';
import { readTarget } from '../target/target-file.ts';
import { freePort } from '../testing/free-port.ts';
import { tinyTarget } from '../testing/tiny-target.ts';
import { timingFor } from '../timing.ts';

let broker: Broker;
let folder: string;

beforeAll(async () => {
  const { lifecycle } = tinyTarget();
  if (lifecycle.kind !== 'spawn') throw new Error('the tiny broker is spawned');
  broker = await spawnBroker(lifecycle, {}, timingFor(1));
  folder = mkdtempSync(join(tmpdir(), 'truemq-probe-test-'));
});

afterAll(async () => {
  await broker.dispose();
  rmSync(folder, { recursive: true });
});

async function probe(...args: readonly string[]) {
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const terminal = { out: say, err: say, color: false };
  const exitCode = await main(['probe', ...args], terminal, new AbortController().signal);
  return { exitCode, text: lines.join('\n') };
}

describe('probe', () => {
  it('says of a small broker what it does and what it does not, and writes a target file for it', async () => {
    const { tcp, health } = broker.endpoints;
    const path = join(folder, 'target.yaml');
    const quick = ['--timeout-scale', '0.1', '--health', health?.url ?? ''];
    const { exitCode, text } = await probe(`${tcp.host}:${tcp.port}`, ...quick, '--out', path);
    expect(exitCode).toBe(0);
    expect(text).toMatch(/ping +answers Ping before Connect/);
    expect(text).toMatch(/compression +accepts no compression algorithm/);
    expect(text).toMatch(/modes +not observed/);
    expect(text).toMatch(/health .* answers 200, healthy/);
    expect(text).toMatch(/metrics +no metrics record/);
    expect(readTarget(path)).toMatchObject({
      lifecycle: { kind: 'attach' },
      endpoints: { tcp: { host: tcp.host, port: tcp.port } },
      profiles: ['core'],
      capabilities: [],
    });
    expect(readFileSync(path, 'utf8')).toContain('Suggested by `truemq-conformance probe`');
  });

  it('is exit code 1 for somebody who does not speak the protocol', async () => {
    const port = new URL(broker.endpoints.health?.url ?? '').port;
    const { exitCode, text } = await probe(`127.0.0.1:${port}`, '--timeout-scale', '0.1');
    expect({ exitCode, text }).toEqual({
      exitCode: 1,
      text: expect.stringContaining('does not speak the protocol'),
    });
  });

  it('is exit code 4 when nobody listens, and 2 for a wrong address', async () => {
    const nobody = await probe(`127.0.0.1:${await freePort()}`);
    expect(nobody).toEqual({ exitCode: 4, text: expect.stringContaining('cannot be reached') });
    expect((await probe('a:b')).exitCode).toBe(2);
    expect((await probe()).exitCode).toBe(2);
  });
});
