// A whole broker in this process: authentication, store, backend, gateway, TCP listener and HTTP servers. Starts them from a configuration, and ends them
// in the order of SHUTDOWN-011. `truemq serve`, `truemq adapter` and `createBroker` start this and nothing else.

import { brokerSettings } from '../backend/local/broker-settings.ts';
import { LocalBackend } from '../backend/local/local-backend.ts';
import { InflationThread } from '../compression/inflation-thread.ts';
import { ZlibCompressor } from '../compression/zlib-compressor.ts';
import type { Configuration } from '../config/configuration.ts';
import { ContentPacking } from '../gateway/content-packing.ts';
import { Gateway } from '../gateway/gateway.ts';
import { gatewayOptions } from '../gateway/gateway-options.ts';
import { KeptContent } from '../gateway/kept-content.ts';
import { systemEnvironment } from '../gateway/system-environment.ts';
import { throttledLogger } from '../gateway/throttled-logger.ts';
import type { BrokerView } from '../http/broker-view.ts';
import { ListenError, listenFailureReason } from '../http/listen-error.ts';
import type { Logger } from '../model/logger.ts';
import type { ServerIdentity } from '../net/certificates.ts';
import { listenTcp, type TcpServer } from '../net/tcp-listener.ts';
import { openMemoryStore } from '../storage/memory/memory-store.ts';
import type { OpenStore } from '../storage/storage-provider.ts';
import { type Authentication, createAuthentication, type TellOperator } from './authentication.ts';
import { certificateReloader, loadCertificates } from './broker-certificates.ts';
import { endAll } from './end-all.ts';
import { closeHttpServers, startHttpServers } from './http-servers.ts';
import { VERSION } from './version.ts';

export type RunningBroker = {
  readonly tcp: { readonly host: string; readonly port: number; readonly tls: boolean };
  /** Absent when health is off. */
  readonly health: { readonly url: string } | undefined;
  /** Absent when the dashboard is off. The URL ends with the path prefix. */
  readonly dashboard: { readonly url: string } | undefined;
  readonly view: BrokerView;
  /** Reads the certificates again, for new connections; keeps the old ones if that fails. Never rejects for a file. */
  reloadCertificates(): Promise<void>;
  /** Ends the broker in good order: see {@link Gateway.drain}. Must be called once. Rejects as {@link endAll}: everything else is closed then. */
  stop(): Promise<void>;
};

/**
 * Starts a broker; resolves when all servers listen. The health server listens from the beginning, clients connect after the recovery. When
 * `cancellation` is aborted before that, the start is rolled back: the recovery ends, the store is closed, nothing listens.
 * @throws CertificateError when a certificate or key cannot be used, ListenError when a port or address cannot, StoreError when the store
 * cannot, UserStoreError when the file of users cannot, the reason of `cancellation` when it is aborted; nothing listens then and both stores
 * are closed
 */
export async function startBroker(
  configuration: Configuration,
  logger: Logger,
  cancellation: AbortSignal = new AbortController().signal,
  tellOperator: TellOperator = (text) => void process.stderr.write(text),
): Promise<RunningBroker> {
  const identity = await loadCertificates(configuration, logger);
  warnAboutOpenAddresses(configuration, logger);
  const { wallNow } = systemEnvironment.clock;
  const authentication = await createAuthentication(configuration, { logger, tellOperator, wallNow });
  const inflationThread = new InflationThread();
  const broker = createBroker({ configuration, logger, authentication, inflationThread });
  let tcp: TcpServer | undefined;
  const starting = startHttpServers({ configuration, logger, broker, authentication, tcp: () => tcp });
  const stop = async () => {
    tcp?.close();
    await endAll([
      () => broker.drain(),
      () => authentication.close(),
      () => inflationThread.close(),
      () => starting.then(closeHttpServers, () => undefined),
      () => tcp?.closed,
    ]);
  };
  try {
    await Promise.race([broker.start(), failureOf(starting), abortOf(cancellation)]);
    tcp = await listenStrictly({ broker, identity, configuration, logger });
    const { health, dashboard } = await starting;
    cancellation.throwIfAborted();
    const reloadCertificates = certificateReloader(tcp, configuration, logger);
    const urls = {
      health: health && { url: health.url },
      dashboard: dashboard && { url: `${dashboard.url}${configuration.pathPrefix}` },
    };
    return { tcp, ...urls, view: broker, reloadCertificates, stop };
  } catch (error) {
    await stop().catch((failure: unknown) => {
      logger.error('after a start that failed, not everything could be closed', { error: String(failure) });
    });
    throw error;
  }
}

/** Rejects when the signal is aborted; otherwise never settles. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Rejects when the promise does; otherwise never settles. */
async function failureOf(promise: Promise<unknown>): Promise<never> {
  await promise;
  return new Promise(() => undefined);
}

type CreateBroker = {
  readonly configuration: Configuration;
  readonly logger: Logger;
  readonly authentication: Authentication;
  readonly inflationThread: InflationThread;
};

function createBroker({ configuration, logger, authentication, inflationThread }: CreateBroker): Gateway {
  const { authenticator, administration } = authentication;
  const environment = systemEnvironment;
  const openStore = storeOpener(configuration);
  const settings = { ...brokerSettings(configuration), packing: new ContentPacking() };
  const backend = new LocalBackend(settings, {
    environment,
    openStore,
    logger,
    keepContent: (bytes) => KeptContent.copyOf(bytes),
  });
  const compressor = new ZlibCompressor({ thread: inflationThread });
  return new Gateway(gatewayOptions(configuration, VERSION), {
    environment,
    backend,
    compressor,
    logger,
    ...(authenticator === undefined ? {} : { authenticator }),
    ...(administration === undefined ? {} : { administration }),
  });
}

function storeOpener({ storage, storageModule, storagePath, synchronous }: Configuration): OpenStore {
  if (storage === 'memory') return async () => openMemoryStore();
  if (storage === 'module') {
    const options = { module: storageModule, directory: process.cwd(), storagePath };
    return async () => {
      const { openModuleStore } = await import('../storage/module/module-store.ts');
      return openModuleStore(options);
    };
  }
  return async () => {
    // Loaded on demand: a broker without a durable store does not need it.
    const { openSqliteStore } = await import('../storage/sqlite/sqlite-store.ts');
    return openSqliteStore({ path: storagePath, synchronous });
  };
}

type ListenParts = {
  readonly broker: Gateway;
  /** Present: clients must use TLS. */
  readonly identity: ServerIdentity | undefined;
  readonly configuration: Configuration;
  readonly logger: Logger;
};

async function listenStrictly({ broker, identity, configuration, logger }: ListenParts): Promise<TcpServer> {
  const { host, port } = configuration;
  const onHandshakeFailure = (reason: string, address: string | undefined) =>
    logger.debug('a TLS handshake failed', { reason, address });
  const throttled = throttledLogger(logger, systemEnvironment.clock);
  const onFault = (fault: Error) =>
    throttled.warn('a connection could not be accepted', { error: fault.message });
  try {
    const tls = identity === undefined ? {} : { identity, onHandshakeFailure };
    return await listenTcp(broker, { host, port, onFault, ...tls });
  } catch (error) {
    const reason = listenFailureReason(error) ?? String(error);
    throw new ListenError({ host, port }, reason).setBy('--host and --port');
  }
}

/**
 * Warns about an address beyond this machine: of credentials and messages that others can read on the way, of clients without credentials, and
 * of HTTP, which asks for none. Implements HTTP-005 and HTTP-006.
 */
function warnAboutOpenAddresses(configuration: Configuration, logger: Logger): void {
  const { host, health, healthHost, enableAuthentication, tlsEnabled } = configuration;
  const { dashboard, dashboardHost, dashboardAuthentication } = configuration;
  if (!isLoopback(host) && !tlsEnabled) {
    logger.warn('listening beyond this machine without TLS: messages and passwords can be read on the way', {
      host,
    });
  }
  if (!isLoopback(host) && !enableAuthentication) {
    logger.warn(
      'listening beyond this machine without authentication: anyone who reaches it may do everything',
      { host },
    );
  }
  if (health && !isLoopback(healthHost)) {
    logger.warn('health and metrics can be read from beyond this machine', { healthHost });
  }
  if (dashboard && !isLoopback(dashboardHost)) {
    const risk = dashboardAuthentication
      ? 'passwords can be read on the way'
      : 'it asks for no credentials, so anyone who reaches it can read and delete messages';
    logger.warn(`the dashboard listens beyond this machine: ${risk}`, { dashboardHost });
  }
  if (dashboard && enableAuthentication && !dashboardAuthentication) {
    logger.warn(
      'the dashboard asks for no credentials, although clients need them: it is for trusted networks',
    );
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
