// Rules between the keys of TLS, a part of those of rules.ts. Pure. Implements TLS-013.

import type { Configuration } from './configuration.ts';
import type { Conflict } from './rules.ts';

export const tlsRules = [tlsCertificate, tlsKey, tlsClientCa];

function tlsCertificate({ tlsEnabled, tlsCertificatePath }: Configuration): Conflict | undefined {
  if (!tlsEnabled || tlsCertificatePath !== '') return undefined;
  return { keys: ['tlsCertificatePath', 'tlsEnabled'], allowed: 'a tlsCertificatePath with tlsEnabled true' };
}

function tlsKey({ tlsCertificatePath, tlsKeyPath }: Configuration): Conflict | undefined {
  if (tlsKeyPath === '' || tlsCertificatePath !== '') return undefined;
  return { keys: ['tlsCertificatePath', 'tlsKeyPath'], allowed: 'a tlsCertificatePath with tlsKeyPath' };
}

/** Without the certificate there would be no TLS, and so every client would be accepted. */
function tlsClientCa({ tlsCertificatePath, tlsClientCaPath }: Configuration): Conflict | undefined {
  if (tlsClientCaPath === '' || tlsCertificatePath !== '') return undefined;
  return {
    keys: ['tlsCertificatePath', 'tlsClientCaPath'],
    allowed: 'a tlsCertificatePath with tlsClientCaPath',
  };
}
