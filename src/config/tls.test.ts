// The settings of TLS: when it is on, which do not go together, and that the password is never shown.

import { describe, expect, it } from 'vitest';
import { ConfigurationError } from './configuration.ts';
import { parseConfigurationFile } from './file.ts';
import { loadConfiguration } from './load.ts';

type Given = { readonly flags?: Readonly<Record<string, string>>; readonly file?: string };

function load({ flags = {}, file = '' }: Given) {
  const path = 'truemq.yaml';
  const machine = { memoryBytes: 2 ** 30, heapLimitBytes: 2 ** 30, isTerminal: false };
  const given = { flags: new Map(Object.entries(flags)), environment: {}, machine };
  return loadConfiguration({ ...given, file: { path, entries: parseConfigurationFile(path, file) } });
}

function problemsOf(given: Given): readonly string[] {
  try {
    load(given);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('TLS', () => {
  it('is on when a certificate is configured, and off when that is said [TLS-012]', () => {
    const flags = { 'tls-certificate-path': 'broker.pfx' };
    expect(load({ flags }).configuration.tlsEnabled).toBe(true);
    expect(load({ flags: { ...flags, 'tls-enabled': 'false' } }).configuration.tlsEnabled).toBe(false);
    expect(load({}).configuration.tlsEnabled).toBe(false);
  });

  it('needs a certificate [TLS-013]', () => {
    expect(problemsOf({ file: 'tlsEnabled: true' })).toEqual([
      'tlsCertificatePath none (default) and tlsEnabled true (file truemq.yaml) do not go together; allowed is a tlsCertificatePath with tlsEnabled true',
    ]);
  });

  it.each([
    [
      { 'tls-key-path': 'x.key' },
      'tlsCertificatePath none (default) and tlsKeyPath x.key (flag --tls-key-path) do not go together; allowed is a tlsCertificatePath with tlsKeyPath',
    ],
    [
      { 'tls-client-ca-path': 'ca.crt' },
      'tlsCertificatePath none (default) and tlsClientCaPath ca.crt (flag --tls-client-ca-path) do not go together; allowed is a tlsCertificatePath with tlsClientCaPath',
    ],
  ])('needs a certificate for its other files: %j', (flags, problem) => {
    expect(problemsOf({ flags })).toEqual([problem]);
  });
});

describe('the password', () => {
  const flags = { 'tls-certificate-path': 'broker.pfx', 'tls-certificate-password': 'sesame' };

  it('is used, and not shown [TLS-009]', () => {
    const { configuration, settings } = load({ flags });
    expect(configuration.tlsCertificatePassword).toBe('sesame');
    expect(settings.find(({ key }) => key === 'tlsCertificatePassword')?.text).toBe('(hidden)');
    expect(JSON.stringify(settings)).not.toContain('sesame');
  });

  it('is not shown when it is refused', () => {
    expect(problemsOf({ file: 'tlsCertificatePassword: 12345' })).toEqual([
      'tlsCertificatePassword (file truemq.yaml): came (hidden); allowed is a text; the empty one means none',
    ]);
  });
});
