// The test certificates as files for a broker under test.
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testTrust, withCertificatePaths } from './test-certificates.ts';

describe('the test certificates', () => {
  it('become paths of files in a request with TLS', () => {
    const { tls } = withCertificatePaths({ tls: { certificatePath: 'server.crt', keyPath: 'server.key' } });
    const certificate = new X509Certificate(readFileSync(tls?.certificatePath ?? ''));
    const authority = new X509Certificate(testTrust().ca ?? '');
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(readFileSync(tls?.keyPath ?? '', 'utf8')).toContain('PRIVATE KEY');
  });

  it('are valid for longer than a suite is used', () => {
    const authority = new X509Certificate(testTrust().ca ?? '');
    expect(new Date(authority.validTo).getFullYear()).toBeGreaterThan(2100);
  });

  it('keep a name without a file, as the path of a missing one', () => {
    const { tls } = withCertificatePaths({
      tls: { certificatePath: 'missing.crt', certificatePassword: 'p' },
    });
    expect(basename(tls?.certificatePath ?? '')).toBe('missing.crt');
    expect([existsSync(tls?.certificatePath ?? ''), tls?.certificatePassword]).toEqual([false, 'p']);
  });

  it('do not concern a request without TLS', () => {
    const request = { storage: 'memory' } as const;
    expect(withCertificatePaths(request)).toBe(request);
    expect(withCertificatePaths({ tls: null })).toEqual({ tls: null });
  });
});
