// The doctor at a broker that it does not start: the built reference broker with TLS and a user.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { main } from '../src/cli/main.ts';
import { examine } from '../src/doctor/examine.ts';
import type { Broker } from '../src/target/broker.ts';
import { spawnBroker } from '../src/target/broker.ts';
import { readTarget } from '../src/target/target-file.ts';
import { testTrust, withCertificatePaths } from '../src/target/test-certificates.ts';
import { timingFor } from '../src/timing.ts';
import type { Credentials } from '../src/wire/credentials.ts';
import { root } from './root.ts';

const superuser = { username: 'doctor', password: 'right' };
const tls = { certificatePath: 'server.crt', keyPath: 'server.key' };
let broker: Broker;

beforeAll(async () => {
  const { lifecycle } = readTarget(join(root, 'conformance/targets/truemq.json'));
  if (lifecycle.kind !== 'spawn') throw new Error('the reference broker is spawned');
  const request = withCertificatePaths({ tls, authentication: { superuser, passwordCost: 4 } });
  broker = await spawnBroker(lifecycle, request, timingFor(2));
});

afterAll(() => broker.dispose());

async function mistakesFoundWith(credentials: Credentials, secured = true): Promise<readonly string[]> {
  const { tcp, health } = broker.endpoints;
  const endpoints = {
    tcp: secured ? { ...tcp, tls: testTrust() } : tcp,
    ...(health === undefined ? {} : { health }),
  };
  const target = { schema: 1, name: 'attached', lifecycle: { kind: 'attach' }, endpoints } as const;
  const timeoutScale = secured ? 2 : 0.2;
  const signal = new AbortController().signal;
  const timing = timingFor(timeoutScale);
  const { findings } = await examine({ target, timing, timeoutScale, credentials, signal });
  return findings.map(({ mistake, seen }) => `${mistake}: ${seen}`);
}

it('finds nothing with TLS and the right credentials', async () => {
  expect(await mistakesFoundWith({ authUsername: 'doctor', authPassword: 'right' })).toEqual([]);
});

it('says that credentials are missing, or not the right ones', async () => {
  const [missing] = await mistakesFoundWith({});
  expect(missing).toMatch(/^credentials: Connect without credentials was answered by Error/);
  const [wrong] = await mistakesFoundWith({ authUsername: 'doctor', authPassword: 'wrong' });
  expect(wrong).toMatch(/^credentials: Connect with the given credentials was answered by Error/);
});

it('gets no answer without TLS', async () => {
  expect(await mistakesFoundWith({}, false)).toEqual([expect.stringMatching(/^no-answer: /)]);
});

it('names the run that comes next, with the credentials that it was given', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'truemq-doctor-test-'));
  try {
    const [target, password] = [join(folder, 'target.json'), join(folder, 'password')];
    const endpoints = { tcp: { ...broker.endpoints.tcp, tls: { verify: false } } };
    writeFileSync(target, JSON.stringify({ schema: 1, name: 'a', lifecycle: { kind: 'attach' }, endpoints }));
    writeFileSync(password, superuser.password);
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const reach = ['--target', target, '--username', superuser.username, '--password-file', password];
    const { signal } = new AbortController();
    const args = ['doctor', ...reach, '--timeout-scale', '2'];
    expect(await main(args, { out: say, err: say, color: false }, signal), lines.join('\n')).toBe(0);
    expect(lines.at(-1)).toBe(`next: truemq-conformance run ${reach.join(' ')} --timeout-scale 2`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
