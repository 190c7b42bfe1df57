// `truemq pub` and `truemq sub` with TLS, against a broker in this process that asks for certificates of clients.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningBroker, startBroker } from '../server/start-broker.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { tlsFixture } from '../testing/tls-fixture.ts';
import { UsageError } from './arguments.ts';
import { ExitCode } from './command.ts';
import { loadAdapterConfiguration } from './configuration-flags.ts';
import { createLogger } from './logger.ts';
import { pub } from './pub.ts';
import { sub } from './sub.ts';

const own = ['--tls-certificate', tlsFixture('client.crt'), '--tls-key', tlsFixture('client.key')];
const trusting = ['--tls', '--tls-ca', tlsFixture('ca.crt')];
let broker: RunningBroker;
let address: string[];

beforeAll(async () => {
  const entries = new Map<string, unknown>([
    ['port', 0],
    ['health', false],
    ['dashboard', false],
    ['rateLimit', false],
    ['tlsCertificatePath', tlsFixture('server.crt')],
    ['tlsKeyPath', tlsFixture('server.key')],
    ['tlsClientCaPath', tlsFixture('client-ca.crt')],
  ]);
  const { configuration } = loadAdapterConfiguration(entries, testCommandContext());
  const logger = createLogger({ level: 'error', format: 'json', write: () => undefined, wallNow: Date.now });
  broker = await startBroker(configuration, logger);
  address = ['--port', String(broker.tcp.port)];
});

afterAll(() => broker.stop());

async function publish(...flags: readonly string[]) {
  const context = testCommandContext();
  const exitCode = await pub.run(['q', '1', ...address, ...flags], context);
  return { exitCode, errors: context.errors() };
}

describe('the command line', () => {
  it('publishes and subscribes over TLS [TLS-001]', async () => {
    expect((await publish(...trusting, ...own)).exitCode).toBe(ExitCode.Done);
    const context = testCommandContext();
    const flags = [...address, '--tls', '--tls-skip-validation', ...own];
    expect(await sub.run(['q', '--count', '1', ...flags], context)).toBe(ExitCode.Done);
    expect(context.output()).toBe('1\n');
  });

  it('says how to trust a broker [TLS-010]', async () => {
    const { exitCode, errors } = await publish('--tls', ...own);
    expect(exitCode).toBe(ExitCode.Failed);
    expect(errors).toMatch(/signed by no authority that the client trusts[^\n]*\n.*--tls-ca FILE names/);
  });

  it('names the flag of a file that cannot be read', async () => {
    const { exitCode, errors } = await publish('--tls', '--tls-ca', 'no/such/file');
    expect([exitCode, errors]).toEqual([
      ExitCode.Failed,
      expect.stringContaining('truemq: --tls-ca: cannot read no/such/file: '),
    ]);
  });

  it('suggests TLS to whoever connects without it, and a certificate to whoever has none', async () => {
    expect((await publish()).errors).toContain('with --tls the connection uses TLS');
    expect((await publish(...trusting)).errors).toContain('--tls-certificate and --tls-key give it');
  });

  it.each([
    ['--tls-certificate', 'client.crt', '--tls-key'],
    ['--tls-key', 'client.key', '--tls-certificate'],
  ])('takes %s alone for a mistake', async (flag, file, other) => {
    await expect(publish('--tls', flag, tlsFixture(file))).rejects.toThrow(
      new UsageError(`${flag}: needs ${other} too`),
    );
  });

  it.each([['--tls-ca', tlsFixture('ca.crt')], ['--tls-skip-validation']])(
    'takes %s for a mistake without --tls',
    async (...flags) => {
      await expect(publish(...flags)).rejects.toThrow(
        new UsageError(`${flags[0]}: without --tls the connection does not use TLS; add --tls`),
      );
    },
  );
});
