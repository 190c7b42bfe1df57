// The TLS versions that the broker speaks. Implements TLS-002 and TLS-003.

import type { SecureVersion } from 'node:tls';

/** Named here, because flags and variables of Node.js can lower its own defaults. */
export const tlsVersions: { readonly minVersion: SecureVersion; readonly maxVersion: SecureVersion } = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
};
