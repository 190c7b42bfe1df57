// Where commands connect: flags override the connection string of --url, which replaces that of TRUEMQ_URL. And the credentials that follow from it.

import { describe, expect, it } from 'vitest';
import { testCommandContext } from '../testing/command-context.ts';
import { parseArguments, UsageError } from './arguments.ts';
import { connectionFlags, isDefaultAddress, parseAddress, readAddressCredentials } from './broker-address.ts';

type Variables = Readonly<Record<string, string>>;

function addressOf(argv: readonly string[], environment: Variables = {}) {
  const given = parseArguments(argv, { flags: connectionFlags, positionals: [] });
  const { given: _, ...address } = parseAddress(given, testCommandContext(environment));
  return address;
}

function credentialsOf(argv: readonly string[], environment: Variables = {}) {
  const context = testCommandContext(environment);
  const given = parseArguments(argv, { flags: connectionFlags, positionals: [] });
  return readAddressCredentials(parseAddress(given, context), context);
}

describe('the address', () => {
  it('is that of a broker on this machine by default', () => {
    expect(addressOf([])).toEqual({ host: '127.0.0.1', port: 2925, tuning: {}, inUrl: {} });
    expect(addressOf([], { TRUEMQ_URL: '' }).port).toBe(2925);
  });

  it('comes from --url, else from TRUEMQ_URL, and never from both', () => {
    const environment = { TRUEMQ_URL: 'Host=env;Port=1;Username=ann;Password=x' };
    expect(addressOf([], environment)).toMatchObject({ host: 'env', port: 1, inUrl: { username: 'ann' } });
    const fromFlag = addressOf(['--url', 'vibemq://flag'], environment);
    expect(fromFlag).toMatchObject({ host: 'flag', port: 2925, inUrl: {} });
  });

  it('has what single flags say in place of what the connection string says', () => {
    const argv = ['--url', 'vibemq://h:1?tls=false&keepAlive=5&compression=none', '--port', '2', '--tls'];
    expect(addressOf(argv)).toMatchObject({
      host: 'h',
      port: 2,
      useTls: true,
      tuning: { keepAliveIntervalMs: 5_000, compressions: [] },
    });
    expect(addressOf([...argv, '--host', 'other']).host).toBe('other');
  });

  it('uses TLS as the connection string says, and trusts an authority rather than everybody', () => {
    const url = 'vibemq://h?tls=true&skipCertValidation=true';
    expect(addressOf(['--url', url])).toMatchObject({ useTls: true, skipCertificateValidation: true });
    expect(addressOf(['--url', url, '--tls-ca', 'ca.pem'])).toMatchObject({
      skipCertificateValidation: false,
      tlsCa: 'ca.pem',
    });
    expect(addressOf(['--url', 'vibemq://h?tls=true', '--tls-skip-validation'])).toMatchObject({
      skipCertificateValidation: true,
    });
  });

  it.each([
    [['--url', 'amqp://h'], {}, '--url: connection string, character 1: the scheme must be vibemq://'],
    [['--url', ''], {}, '--url: connection string'],
    [[], { TRUEMQ_URL: 'vibemq://h?tsl=true' }, 'TRUEMQ_URL: connection string, character 12: the key "tsl"'],
    [['--url', 'vibemq://h?skipCertValidation=true'], {}, '--url: skipCertValidation contradicts'],
    [['--url', 'vibemq://h', '--tls-ca', 'x'], {}, '--tls-ca: without --tls'],
    [['--tls', '--tls-ca', 'x', '--tls-skip-validation'], {}, '--tls-ca: contradicts --tls-skip-validation'],
    [['--port', '65536'], {}, '--port: came "65536"'],
  ])('%j with %j is refused', (argv, environment, message) => {
    expect(() => addressOf(argv, environment)).toThrow(UsageError);
    expect(() => addressOf(argv, environment)).toThrow(message);
  });

  it('is the default one by any of its names, on its port only', () => {
    const isDefault = (argv: readonly string[]) => {
      const given = parseArguments(argv, { flags: connectionFlags, positionals: [] });
      return isDefaultAddress(parseAddress(given, testCommandContext()));
    };
    expect([[], ['--url', 'vibemq://localhost'], ['--host', '::1']].map(isDefault)).toEqual([
      true,
      true,
      true,
    ]);
    expect(
      [
        ['--port', '1'],
        ['--host', 'localhost.example'],
      ].map(isDefault),
    ).toEqual([false, false]);
  });
});

describe('the credentials', () => {
  const url = ['--url', 'vibemq://ann:secret@h'];

  it('are those of the connection string, before the environment', async () => {
    expect(await credentialsOf(url, { TRUEMQ_PASSWORD: 'other' })).toEqual({
      username: 'ann',
      password: 'secret',
    });
    expect(await credentialsOf(['--url', 'vibemq://ann@h'], { TRUEMQ_PASSWORD: 'p' })).toEqual({
      username: 'ann',
      password: 'p',
    });
  });

  it('do not lend the password of one name to another', async () => {
    expect(await credentialsOf([...url, '--username', 'bob'], { TRUEMQ_PASSWORD: 'b' })).toEqual({
      username: 'bob',
      password: 'b',
    });
    await expect(credentialsOf([...url, '--username', 'bob'])).rejects.toThrow('the password is missing');
    expect((await credentialsOf([...url, '--username', 'ann'])).password).toBe('secret');
  });
});
