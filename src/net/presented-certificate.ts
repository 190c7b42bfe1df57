// The certificate that a TLS server with these secrets presents, found by a handshake with itself. So it is the same for PEM and PKCS#12,
// which Node cannot read otherwise, and the handshake is known to work.

import type { X509Certificate } from 'node:crypto';
import { duplexPair } from 'node:stream';
import { connect, createServer, type SecureContextOptions } from 'node:tls';
import { tlsVersions } from './tls-versions.ts';

/** Rejects with the error of OpenSSL when the handshake fails. */
export function presentedCertificate(secrets: SecureContextOptions): Promise<X509Certificate> {
  const [near, far] = duplexPair();
  return new Promise<X509Certificate>((resolve, reject) => {
    const server = createServer({ ...secrets, ...tlsVersions });
    server.on('tlsClientError', reject);
    server.emit('connection', far);
    // Whoever signed it: this is no client that trusts.
    const client = connect({ socket: near, rejectUnauthorized: false, ...tlsVersions });
    client.on('error', reject);
    client.on('secureConnect', () => {
      const certificate = client.getPeerX509Certificate();
      if (certificate === undefined) reject(new Error('no certificate was presented'));
      else resolve(certificate);
    });
  }).finally(() => {
    near.destroy();
    far.destroy();
  });
}
