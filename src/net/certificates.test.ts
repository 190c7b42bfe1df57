// Certificates, keys and authorities as files: what can be used, and the message about everything else.

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateFiles, FIXTURE_PASSWORD, tlsFixture } from '../testing/tls-fixture.ts';
import { type CertificateFiles, daysUntilExpiry, loadIdentity } from './certificates.ts';

const now = Date.parse('2026-06-01T00:00:00Z');
const none: CertificateFiles = {
  certificatePath: '',
  certificatePassword: '',
  keyPath: '',
  clientCaPath: '',
};
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'truemq-tls-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function messageOf(files: CertificateFiles, wallNow = now): Promise<string> {
  const error: unknown = await loadIdentity(files, wallNow).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'CertificateError' });
  return (error as Error).message.replaceAll(tlsFixture(''), '').replaceAll(join(folder, '/'), '');
}

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

describe('a certificate is used', () => {
  it.each<[string, Partial<CertificateFiles>]>([
    ['a key in its own file', certificateFiles('server')],
    ['the key in the same file', { certificatePath: tlsFixture('server-with-key.pem') }],
    [
      'an encrypted key',
      certificateFiles('server', {
        keyPath: tlsFixture('server-encrypted.key'),
        certificatePassword: FIXTURE_PASSWORD,
      }),
    ],
    [
      'PKCS#12 with a password',
      { certificatePath: tlsFixture('server.pfx'), certificatePassword: FIXTURE_PASSWORD },
    ],
    ['PKCS#12 without a password', { certificatePath: tlsFixture('server-without-password.pfx') }],
    ['its chain behind it', certificateFiles('chained')],
  ])('with %s [TLS-009]', async (_form, files) => {
    const { certificate } = await loadIdentity({ ...none, ...files }, now);
    expect(certificate.subject).toBe('CN=localhost');
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  });

  it('with a password that it does not need', async () => {
    const files = certificateFiles('server', { certificatePassword: 'needless' });
    expect((await loadIdentity(files, now)).certificate.subject).toBe('CN=localhost');
  });

  it('and clients need one when there are authorities of clients', async () => {
    const clientCaPath = tlsFixture('client-ca.crt');
    const identity = await loadIdentity(certificateFiles('server', { clientCaPath }), now);
    expect(identity.requiresClientCertificate).toBe(true);
    expect(identity.secrets.ca).toHaveLength(1);
    expect((await loadIdentity(certificateFiles('server'), now)).requiresClientCertificate).toBe(false);
  });
});

describe('a file that is missing or unreadable', () => {
  it.each<[string, CertificateFiles, string]>([
    [
      'certificate',
      certificateFiles('server', { certificatePath: tlsFixture('absent.crt') }),
      'cannot use absent.crt for TLS: there is no such file (set by --tls-certificate-path)',
    ],
    [
      'key',
      certificateFiles('server', { keyPath: tlsFixture('absent.key') }),
      'cannot use absent.key for TLS: there is no such file (set by --tls-key-path)',
    ],
    [
      'authority',
      certificateFiles('server', { clientCaPath: tlsFixture('absent-ca.crt') }),
      'cannot use absent-ca.crt for TLS: there is no such file (set by --tls-client-ca-path)',
    ],
  ])('is named with the reason: %s [TLS-005]', async (_what, files, message) => {
    expect(await messageOf(files)).toBe(message);
  });

  it('may be a folder [TLS-005]', async () => {
    expect(await messageOf(certificateFiles('server', { certificatePath: folder }))).toContain(
      'for TLS: it is a folder (set by --tls-certificate-path)',
    );
  });

  it.each(['', '-----BEG'])('may be written up to %j only [TLS-005]', async (content) => {
    const certificatePath = await file('half.crt', content);
    expect(await messageOf(certificateFiles('server', { certificatePath }))).toMatch(
      /^cannot use half.crt for TLS: .* \(set by --tls-certificate-path\)$/,
    );
  });

  it('may belong to another user [TLS-005]', async () => {
    const path = await file('private.key', '');
    await chmod(path, 0);
    // The superuser of a container may read everything; then the file is empty.
    expect(await messageOf(certificateFiles('server', { keyPath: path }))).toMatch(
      /^cannot use private.key for TLS: (this user may not read it|it has no private key in PEM) \(/,
    );
  });

  it.each<[string, Partial<CertificateFiles>, string]>([
    [
      'neither PEM nor PKCS#12',
      { certificatePath: tlsFixture('server.der') },
      'it is neither PEM nor PKCS#12 (',
    ],
    ['only a key', { certificatePath: tlsFixture('server.key') }, 'it has no certificate in PEM ('],
    [
      'no key',
      { certificatePath: tlsFixture('server.crt') },
      'it has no private key in PEM; --tls-key-path names the file that does (',
    ],
    [
      'a certificate for a key',
      certificateFiles('server', { keyPath: tlsFixture('ca.crt') }),
      'it has no private key in PEM (',
    ],
    [
      'no authority',
      certificateFiles('server', { clientCaPath: tlsFixture('server.key') }),
      'it has no certificate in PEM (set by --tls-client-ca-path)',
    ],
    [
      'PKCS#12 and a key',
      { certificatePath: tlsFixture('server.pfx'), keyPath: tlsFixture('server.key') },
      'is no PEM file, and a PKCS#12 file has its own key (set by --tls-key-path)',
    ],
    [
      'half a certificate beside a key',
      certificateFiles('server', { certificatePath: tlsFixture('server.der') }),
      'cannot use server.der for TLS: it is neither PEM nor PKCS#12 (',
    ],
    [
      'half a certificate beside authorities of clients',
      { certificatePath: tlsFixture('server.der'), clientCaPath: tlsFixture('client-ca.crt') },
      'cannot use server.der for TLS: it is neither PEM nor PKCS#12 (',
    ],
    [
      'PKCS#12 that needs a password, and a key',
      certificateFiles('server', { certificatePath: tlsFixture('server.pfx') }),
      'cannot use server.key for TLS: the certificate server.pfx is no PEM file, and a PKCS#12 file has its own key',
    ],
    [
      'PKCS#12, whose authorities Node trusts, and authorities of clients',
      { certificatePath: tlsFixture('server.pfx'), clientCaPath: tlsFixture('client-ca.crt') },
      'cannot use client-ca.crt for TLS: clients of the authorities in server.pfx would be accepted too; give certificate and key in PEM instead of PKCS#12 (set by --tls-client-ca-path)',
    ],
    [
      'an encryption of the past',
      {
        certificatePath: tlsFixture('server-old-encryption.pfx'),
        certificatePassword: FIXTURE_PASSWORD,
      },
      'its encryption is too old for OpenSSL 3; export it again with a current tool (',
    ],
  ])('may hold %s [TLS-005]', async (_what, files, reason) => {
    expect(await messageOf({ ...none, ...files })).toContain(reason);
  });

  it('may be damaged [TLS-005]', async () => {
    const broken = (kind: string) => `-----BEGIN ${kind}-----\nAAAA\n-----END ${kind}-----\n`;
    const certificate = await file('broken.crt', broken('CERTIFICATE'));
    expect(await messageOf(certificateFiles('server', { certificatePath: certificate }))).toMatch(
      /^cannot use broken.crt for TLS: a certificate in it cannot be read \(.+\) \(set by/,
    );
    expect(await messageOf(certificateFiles('server', { clientCaPath: certificate }))).toMatch(
      /^cannot use broken.crt for TLS: a certificate in it cannot be read \(.+\) \(set by --tls-client-ca-path/,
    );
    const key = await file('broken.key', broken('PRIVATE KEY'));
    expect(await messageOf(certificateFiles('server', { keyPath: key }))).toMatch(
      /^cannot use broken.key for TLS: its key cannot be read \(.+\) \(set by --tls-key-path/,
    );
  });
});

describe('a certificate is refused', () => {
  it('with a key that does not belong to it [TLS-006]', async () => {
    expect(await messageOf(certificateFiles('server', { keyPath: tlsFixture('renewed.key') }))).toBe(
      "cannot use server.crt for TLS: the key renewed.key does not belong to its first certificate, which must be the broker's own (set by --tls-certificate-path)",
    );
  });

  it.each<[string, Partial<CertificateFiles>, string]>([
    [
      'no password for PKCS#12',
      { certificatePath: tlsFixture('server.pfx') },
      'cannot use server.pfx for TLS: it needs a password; --tls-certificate-password gives it',
    ],
    [
      'another password for PKCS#12',
      { certificatePath: tlsFixture('server.pfx'), certificatePassword: 'sesame' },
      'cannot use server.pfx for TLS: the password of --tls-certificate-password does not open it',
    ],
    [
      'no password for its key',
      certificateFiles('server', { keyPath: tlsFixture('server-encrypted.key') }),
      'cannot use server-encrypted.key for TLS: its key needs a password; --tls-certificate-password gives it',
    ],
    [
      'another password for its key',
      certificateFiles('server', {
        keyPath: tlsFixture('server-encrypted.key'),
        certificatePassword: 'sesame',
      }),
      'cannot use server-encrypted.key for TLS: the password of --tls-certificate-password does not open its key',
    ],
  ])('with %s, which is not repeated [TLS-007]', async (_what, files, start) => {
    const message = await messageOf({ ...none, ...files });
    expect(message.slice(0, start.length)).toBe(start);
    expect(message).not.toContain('sesame');
  });

  it.each<[string, CertificateFiles]>([
    ['PEM', certificateFiles('expired')],
    [
      'PKCS#12',
      { ...none, certificatePath: tlsFixture('expired.pfx'), certificatePassword: FIXTURE_PASSWORD },
    ],
  ])('when it has expired, in %s', async (_form, files) => {
    expect(await messageOf(files)).toMatch(/^cannot use expired\.\w+ for TLS: it expired on 2021-01-01 \(/);
  });

  it('when it is not valid yet', async () => {
    expect(await messageOf(certificateFiles('not-yet-valid'))).toContain(
      'for TLS: it is not valid before 2119-01-01 (',
    );
  });
});

describe('the end of a certificate', () => {
  it.each([
    ['2020-12-01T12:00:00Z', undefined],
    ['2020-12-02T12:00:00Z', 29],
    ['2020-12-31T12:00:00Z', 0],
  ])('is worth a warning in its last 30 days: %s', async (day, expected) => {
    const wallNow = Date.parse(day);
    const identity = await loadIdentity(certificateFiles('expired'), wallNow);
    expect(daysUntilExpiry(identity, wallNow)).toBe(expected);
  });

  it('counts to the moment', async () => {
    const end = Date.parse('2021-01-01T00:00:00Z');
    expect((await loadIdentity(certificateFiles('expired'), end - 1)).certificate.subject).toBe(
      'CN=localhost',
    );
    expect(await messageOf(certificateFiles('expired'), end)).toContain('it expired on');
  });
});
