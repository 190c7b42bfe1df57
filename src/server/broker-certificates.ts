// The certificates of a broker process: read before anything else starts, and read again on request. Says in the log when a certificate
// ends soon. Implements TLS-005 to TLS-008 for the process.

import type { Configuration } from '../config/configuration.ts';
import type { Logger } from '../model/logger.ts';
import { CertificateError } from '../net/certificate-error.ts';
import { daysUntilExpiry, loadIdentity, type ServerIdentity } from '../net/certificates.ts';
import type { TcpServer } from '../net/tcp-listener.ts';

/**
 * Who the broker is for clients with TLS; undefined when TLS is off.
 * @throws CertificateError
 */
export async function loadCertificates(
  configuration: Configuration,
  logger: Logger,
): Promise<ServerIdentity | undefined> {
  if (!configuration.tlsEnabled) return undefined;
  const files = {
    certificatePath: configuration.tlsCertificatePath,
    certificatePassword: configuration.tlsCertificatePassword,
    keyPath: configuration.tlsKeyPath,
    clientCaPath: configuration.tlsClientCaPath,
  };
  const identity = await loadIdentity(files, Date.now());
  const days = daysUntilExpiry(identity, Date.now());
  if (days !== undefined) {
    logger.warn('the TLS certificate ends soon', { file: identity.path, days, ...describe(identity) });
  }
  return identity;
}

/**
 * A function that reads the certificates again, for connections from then on. If they cannot be used, the old ones stay and the log says
 * why. Calls wait for each other, so that the newest files win.
 */
export function certificateReloader(
  tcp: TcpServer,
  configuration: Configuration,
  logger: Logger,
): () => Promise<void> {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => reload(tcp, configuration, logger));
    return last;
  };
}

async function reload(tcp: TcpServer, configuration: Configuration, logger: Logger): Promise<void> {
  try {
    const identity = await loadCertificates(configuration, logger);
    if (identity === undefined) {
      logger.info('nothing to reload: TLS is off');
      return;
    }
    tcp.renewIdentity(identity);
    logger.info('certificates reloaded', { file: identity.path, ...describe(identity) });
  } catch (error) {
    if (!(error instanceof CertificateError)) throw error;
    logger.error('certificates not reloaded; the old ones stay in use', { error: error.message });
  }
}

function describe({ certificate }: ServerIdentity) {
  return { serial: certificate.serialNumber, validUntil: new Date(certificate.validTo).toISOString() };
}
