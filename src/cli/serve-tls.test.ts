// `truemq serve` and `truemq adapter` with TLS, in process: what they announce, how they fail to start, and what SIGHUP does.

import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as dialTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect } from '../client/index.ts';
import { loadConfiguration } from '../config/load.ts';
import { loadCertificates } from '../server/broker-certificates.ts';
import { type TestCommandContext, testCommandContext } from '../testing/command-context.ts';
import { FIXTURE_PASSWORD, tlsFixture } from '../testing/tls-fixture.ts';
import { adapter } from './adapter.ts';
import { type Command, ExitCode } from './command.ts';
import { config } from './config.ts';
import { serve } from './serve.ts';

const FREE_PORTS = ['--port', '0', '--health', 'off', '--dashboard', 'off', '--rate-limit', 'off'];
const serverFlags = certificateFlags('server');
const trust = { useTls: true, tlsCa: tlsFixture('ca.crt') };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'truemq-tls-'));
});

afterEach(() => vi.restoreAllMocks());

afterAll(() => rm(folder, { recursive: true }));

function certificateFlags(name: string): readonly string[] {
  return ['--tls-certificate-path', tlsFixture(`${name}.crt`), '--tls-key-path', tlsFixture(`${name}.key`)];
}

async function outputLine(context: TestCommandContext): Promise<string> {
  await vi.waitFor(() => expect(context.output()).toContain('\n'), { timeout: 10_000, interval: 5 });
  return context.output();
}

async function startServing(argv: readonly string[], context = testCommandContext()) {
  const exit = serve.run(['--print-ready', ...FREE_PORTS, ...argv], context);
  const ready = JSON.parse(await outputLine(context)) as { tcp: { port: number; tls: boolean } };
  const stop = async () => {
    context.signal('SIGTERM');
    expect(await exit).toBe(ExitCode.Done);
  };
  return { context, exit, stop, tls: ready.tcp.tls, port: ready.tcp.port };
}

/** Waits for a line of the log. */
function logged(context: TestCommandContext, text: string): Promise<void> {
  return vi.waitFor(() => expect(context.errors()).toContain(text), { timeout: 10_000, interval: 5 });
}

function presentedSerial(port: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = dialTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber);
      socket.destroy();
    });
  });
}

async function refusal(command: Command, argv: readonly string[]): Promise<string> {
  const context = testCommandContext();
  expect(await command.run(argv, context)).toBe(ExitCode.Failed);
  expect(context.output()).toBe('');
  return context.errors().replaceAll(tlsFixture(''), '');
}

describe('serve with a certificate', () => {
  it('says so, serves clients with TLS, and no others [TLS-001, TLS-004, TLS-012]', async () => {
    const { port, tls, stop } = await startServing(serverFlags);
    expect(tls).toBe(true);
    const client = await connect({ port, reconnect: false, ...trust });
    await client.publish('hello', 1);
    await client.close();
    await expect(connect({ port })).rejects.toMatchObject({ code: 'CONNECTION_ENDED' });
    await stop();
  });

  it('can leave TLS off [TLS-012]', async () => {
    const { port, tls, stop } = await startServing([...serverFlags, '--tls-enabled', 'false']);
    expect(tls).toBe(false);
    const client = await connect({ port, reconnect: false });
    await client.close();
    await stop();
  });

  it('opens PKCS#12 with the password, which it tells nobody [TLS-009]', async () => {
    const pfx = ['--tls-certificate-path', tlsFixture('server.pfx')];
    const { port, context, stop } = await startServing([
      ...pfx,
      ...['--tls-certificate-password', FIXTURE_PASSWORD, '--log-level', 'debug'],
    ]);
    const client = await connect({ port, reconnect: false, ...trust });
    await client.close();
    await stop();
    expect(context.output() + context.errors()).not.toContain(FIXTURE_PASSWORD);
  });

  it('tells people how to connect', async () => {
    const context = testCommandContext();
    const exit = serve.run([...FREE_PORTS, ...serverFlags], context);
    expect(await outputLine(context)).toMatch(/with TLS\n[\s\S]*truemq pub .* --tls --tls-ca FILE\n/);
    context.signal('SIGTERM');
    await exit;
  });

  it('logs a failed handshake at level debug', async () => {
    const { port, context, stop } = await startServing([...serverFlags, '--log-level', 'debug']);
    await expect(connect({ port })).rejects.toThrow();
    await logged(context, 'a TLS handshake failed');
    await stop();
  });

  it('warns beyond this machine only without it', async () => {
    const warning = 'without TLS: messages and passwords can be read on the way';
    const open = await startServing(['--host', '0.0.0.0']);
    await open.stop();
    expect(open.context.errors()).toContain(warning);
    const secured = await startServing(['--host', '0.0.0.0', ...serverFlags]);
    await secured.stop();
    expect(secured.context.errors()).not.toContain(warning);
  });
});

describe('serve does not start', () => {
  it.each<[string, readonly string[], string]>([
    [
      'a missing certificate [TLS-005]',
      ['--tls-certificate-path', tlsFixture('absent.crt')],
      'truemq: cannot use absent.crt for TLS: there is no such file (set by --tls-certificate-path)\n',
    ],
    [
      'a key of another certificate [TLS-006]',
      ['--tls-certificate-path', tlsFixture('server.crt'), '--tls-key-path', tlsFixture('renewed.key')],
      "truemq: cannot use server.crt for TLS: the key renewed.key does not belong to its first certificate, which must be the broker's own (set by --tls-certificate-path)\n",
    ],
    [
      'another password [TLS-007]',
      ['--tls-certificate-path', tlsFixture('server.pfx'), '--tls-certificate-password', 'sesame'],
      'truemq: cannot use server.pfx for TLS: the password of --tls-certificate-password does not open it (set by --tls-certificate-path)\n',
    ],
    [
      'an expired certificate',
      certificateFlags('expired'),
      'truemq: cannot use expired.crt for TLS: it expired on 2021-01-01 (set by --tls-certificate-path)\n',
    ],
  ])('with %s', async (_title, flags, message) => {
    expect(await refusal(serve, [...FREE_PORTS, ...flags])).toBe(message);
  });

  it('with TLS and no certificate [TLS-013]', async () => {
    const starting = serve.run([...FREE_PORTS, '--tls-enabled', 'true'], testCommandContext());
    await expect(starting).rejects.toThrow(/^tlsCertificatePath none .* allowed is a tlsCertificatePath /);
  });
});

describe('config', () => {
  it('does not show the password', async () => {
    const context = testCommandContext({ TRUEMQ_TLS_CERTIFICATE_PASSWORD: 'sesame' });
    expect(await config.run(serverFlags, context)).toBe(ExitCode.Done);
    expect(context.output()).not.toContain('sesame');
    expect(context.output()).toMatch(/tlsCertificatePassword: "\(hidden\)" +# environment TRUEMQ_TLS_/);
  });
});

describe('SIGHUP', () => {
  async function install(name: string): Promise<readonly string[]> {
    const [certificate, key] = [join(folder, 'broker.crt'), join(folder, 'broker.key')];
    await copyFile(tlsFixture(`${name}.crt`), certificate);
    await copyFile(tlsFixture(`${name}.key`), key);
    return ['--tls-certificate-path', certificate, '--tls-key-path', key];
  }

  it('replaces the certificate for new connections; open ones continue [TLS-008]', async () => {
    const { port, context, stop } = await startServing(await install('server'));
    const client = await connect({ port, reconnect: false, ...trust });
    const before = await presentedSerial(port);
    await install('renewed');
    context.hangUp();
    await logged(context, 'certificates reloaded');
    const after = await presentedSerial(port);
    expect(after).not.toBe(before);
    await client.ping();
    await client.close();
    await stop();
  });

  it('replaces it again at each signal [TLS-008]', async () => {
    const { port, context, stop } = await startServing(await install('server'));
    const shown = [await presentedSerial(port)];
    for (const name of ['renewed', 'chained']) {
      await install(name);
      context.hangUp();
      await vi.waitFor(async () => expect(shown).not.toContain(await presentedSerial(port)));
      shown.push(await presentedSerial(port));
    }
    expect(new Set(shown).size).toBe(3);
    await stop();
  });

  it('changes nothing when the new files cannot be used, and the log says why [TLS-008]', async () => {
    const { port, context, stop } = await startServing(await install('server'));
    const before = await presentedSerial(port);
    await copyFile(tlsFixture('renewed.crt'), join(folder, 'broker.crt'));
    context.hangUp();
    await logged(context, 'certificates not reloaded; the old ones stay in use');
    expect(context.errors()).toMatch(/broker\.crt for TLS: the key .*broker\.key does not belong/);
    expect(await presentedSerial(port)).toBe(before);
    await stop();
  });

  it('reads the files as often as it comes', async () => {
    const { port, context, stop } = await startServing(await install('server'));
    const before = await presentedSerial(port);
    await install('renewed');
    context.hangUp();
    context.hangUp();
    await vi.waitFor(() => expect(context.errors().match(/certificates reloaded/g)).toHaveLength(2));
    expect(await presentedSerial(port)).not.toBe(before);
    await stop();
  });

  it('is not lost while the broker starts', async () => {
    const onHangup = (handle: () => void) => {
      handle();
      return () => undefined;
    };
    const early = { ...testCommandContext(), onHangup };
    const { context, stop } = await startServing(await install('server'), early);
    await logged(context, 'certificates reloaded');
    await stop();
  });

  it('does not end a broker without TLS and without terminal', async () => {
    const { port, context, stop } = await startServing([]);
    context.hangUp();
    await logged(context, 'nothing to reload: TLS is off');
    const client = await connect({ port, reconnect: false });
    await client.close();
    await stop();
  });

  it('ends a broker without TLS whose terminal is closed, in good order, even if it comes twice', async () => {
    const terminal = { ...testCommandContext(), hasTerminal: true };
    const { exit, context } = await startServing([], terminal);
    context.hangUp();
    context.hangUp();
    expect(await exit).toBe(ExitCode.Done);
    expect(context.exits).toEqual([]);
    expect(context.errors()).toContain('stopped');
  });
});

describe('a certificate that ends soon', () => {
  it.each([
    ['2020-12-20T00:00:00Z', 12],
    ['2020-11-20T00:00:00Z', undefined],
  ])('is a warning in the log at the start: %s', async (today, days) => {
    vi.spyOn(Date, 'now').mockReturnValue(Date.parse(today));
    const flags = new Map([
      ['tls-certificate-path', tlsFixture('expired.crt')],
      ['tls-key-path', tlsFixture('expired.key')],
    ]);
    const machine = { memoryBytes: 2 ** 30, heapLimitBytes: 2 ** 30, isTerminal: false };
    const { configuration } = loadConfiguration({ flags, environment: {}, machine });
    const warnings: unknown[] = [];
    const ignore = () => undefined;
    const warn = (_sentence: string, fields?: Readonly<Record<string, unknown>>) =>
      void warnings.push(fields?.['days']);
    await loadCertificates(configuration, { error: ignore, warn, info: ignore, debug: ignore });
    expect(warnings).toEqual(days === undefined ? [] : [days]);
  });
});

describe('adapter', () => {
  const request = { protocol: 1, tcp: { host: '127.0.0.1', port: 0 }, rateLimit: null, storage: 'memory' };

  async function ask(tls: unknown) {
    const context = testCommandContext();
    const exit = adapter.run([], context);
    context.stdin.write(`${JSON.stringify({ ...request, health: { host: '127.0.0.1', port: 0 }, tls })}\n`);
    return { context, exit, answer: JSON.parse(await outputLine(context)) };
  }

  it('starts a broker with TLS', async () => {
    const { context, exit, answer } = await ask({
      certificatePath: tlsFixture('server.crt'),
      keyPath: tlsFixture('server-encrypted.key'),
      certificatePassword: FIXTURE_PASSWORD,
    });
    expect(answer).toMatchObject({ ready: true, tcp: { tls: true }, unsupported: [] });
    const client = await connect({ port: answer.tcp.port, reconnect: false, ...trust });
    await client.close();
    context.hangUp();
    await logged(context, 'certificates reloaded');
    context.stdin.end();
    expect(await exit).toBe(ExitCode.Done);
  });

  it('says which file it cannot use', async () => {
    const { exit, answer } = await ask({ certificatePath: tlsFixture('absent.crt') });
    expect(answer).toMatchObject({
      ready: false,
      error: expect.stringMatching(/absent\.crt for TLS: there is/),
    });
    expect(await exit).toBe(ExitCode.Failed);
  });
});
