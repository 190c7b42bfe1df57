// The certificates and keys of fixtures/tls, for tests: their paths, and the identity of a broker with them.

import { fileURLToPath } from 'node:url';
import { type CertificateFiles, loadIdentity, type ServerIdentity } from '../net/certificates.ts';

/** Opens every protected file of the folder. */
export const FIXTURE_PASSWORD = 'not-a-secret';

/** The path of a file in fixtures/tls. */
export function tlsFixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
}

/** The settings of a broker with the certificate and key of this name; `more` overrides them. */
export function certificateFiles(name: string, more: Partial<CertificateFiles> = {}): CertificateFiles {
  return {
    certificatePath: tlsFixture(`${name}.crt`),
    certificatePassword: '',
    keyPath: tlsFixture(`${name}.key`),
    clientCaPath: '',
    ...more,
  };
}

export function identityOf(name: string, more: Partial<CertificateFiles> = {}): Promise<ServerIdentity> {
  return loadIdentity(certificateFiles(name, more), Date.now());
}
