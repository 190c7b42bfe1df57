// The settings of TLS: when it is on, which do not go together, and that the password is never shown.

import { describe, expect, it } from 'vitest';
import { loadGiven, problemsOf } from '../testing/tested-configuration.ts';

describe('TLS', () => {
  it('is on when a certificate is configured, and off when that is said [TLS-012]', () => {
    const flags = { 'tls-certificate-path': 'broker.pfx' };
    expect(loadGiven({ flags }).configuration.tlsEnabled).toBe(true);
    expect(loadGiven({ flags: { ...flags, 'tls-enabled': 'false' } }).configuration.tlsEnabled).toBe(false);
    expect(loadGiven({}).configuration.tlsEnabled).toBe(false);
  });

  it('needs a certificate [TLS-013]', () => {
    expect(problemsOf({ file: 'tlsEnabled: true' })).toEqual([
      'tlsCertificatePath none (default) and tlsEnabled true (file truemq.yaml) do not go together; allowed is a tlsCertificatePath with tlsEnabled true',
    ]);
  });

  it('that is off because a variable was forgotten causes a warning, and so does a client that needs no certificate', () => {
    const flags = { 'tls-certificate-path': '', 'tls-client-ca-path': '' };
    expect(loadGiven({ flags }).warnings).toEqual([
      'tlsCertificatePath (flag --tls-certificate-path) is empty, so there is none',
      'tlsClientCaPath (flag --tls-client-ca-path) is empty, so there is none',
    ]);
    expect(loadGiven({ file: 'tlsCertificatePath: ""' }).warnings).toEqual([]);
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
    const { configuration, settings } = loadGiven({ flags });
    expect(configuration.tlsCertificatePassword).toBe('sesame');
    expect(settings.find(({ key }) => key === 'tlsCertificatePassword')?.text).toBe('(hidden)');
    expect(JSON.stringify(settings)).not.toContain('sesame');
  });

  it('may be in a file of its own [CONFIG-015]', () => {
    const inFile = { ...flags, 'tls-certificate-password-file': '/run/password' };
    const readSecretFile = () => ({ ok: true, text: 'sesame' }) as const;
    expect(problemsOf({ flags: inFile, readSecretFile })).toEqual([
      'tlsCertificatePassword (flag --tls-certificate-password) and tlsCertificatePasswordFile (flag --tls-certificate-password-file) do not go together; allowed is one of the two',
    ]);
    const { 'tls-certificate-password': _, ...only } = inFile;
    const { configuration, settings } = loadGiven({ flags: only, readSecretFile });
    expect(configuration.tlsCertificatePassword).toBe('sesame');
    expect(JSON.stringify(settings)).not.toContain('sesame');
  });

  it('is not shown when it is refused', () => {
    expect(problemsOf({ file: 'tlsCertificatePassword: 12345' })).toEqual([
      'tlsCertificatePassword (file truemq.yaml): came (hidden); allowed is a text; the empty one means none. ' +
        'This is a number: put it in quotes to make it a text',
    ]);
  });
});
