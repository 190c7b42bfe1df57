// A whole broker over a given store, for tests: in virtual time, with clients on virtual connections. It serves after the first `settle`.

import type { Authenticator } from '../auth/authenticator.ts';
import type { UserAdministration } from '../auth/user-administration.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Environment } from '../model/environment.ts';
import type { Compressor } from '../protocol/compression.ts';
import { defaultLimits } from '../protocol/limits.ts';
import { openMemoryStore } from '../storage/memory/memory-store.ts';
import type { StorageProvider } from '../storage/storage-provider.ts';
import { testSettings } from './broker-harness.ts';
import { type BrokerOptions, composeBroker } from './composed-broker.ts';
import type { InstantHashing } from './instant-hashing.ts';
import { type TestedCredentials, testedAuthentication } from './tested-authentication.ts';
import { TestedClients } from './tested-clients.ts';

export { ack, ping, publish, subscribe } from './tested-clients.ts';

export const testOptions: BrokerOptions = {
  broker: testSettings,
  limits: defaultLimits,
  timeouts: { handshakeTimeoutMs: 10_000, frameTimeoutMs: 30_000, idleTimeoutMs: 300_000 },
  supportedCompressions: ['brotli', 'gzip'],
  compressionThresholdBytes: 1024,
  validatePayload: true,
  maxConnections: 1000,
  maxOutboundBytes: 4_194_304,
  maxPendingInputBytes: 4_194_304,
  maxBufferedBytes: 1_073_741_824,
  shutdownTimeoutMs: 30_000,
  serverVersion: 'test',
};

/** A compressor that must not be called, for tests that are not about compression. */
export const noCompressor: Compressor = {
  compress: () => {
    throw new Error('Nothing is to be compressed in this test.');
  },
  decompress: () => {
    throw new Error('Nothing is to be decompressed in this test.');
  },
};

export type TestedParts = {
  readonly store?: StorageProvider;
  readonly compressor?: Compressor;
  readonly environment?: Environment;
  /** Absent: clients need no credentials. */
  readonly credentials?: TestedCredentials | undefined;
  /** Checks the passwords of `credentials`. */
  readonly hashing?: InstantHashing;
  /** In place of an authentication for `credentials`. */
  readonly users?: Authenticator & UserAdministration;
};

export class TestedBroker extends TestedClients {
  readonly broker: Gateway;

  constructor(options: Partial<BrokerOptions> = {}, parts: TestedParts = {}) {
    super();
    const { store = openMemoryStore(), compressor = noCompressor, environment = this.environment } = parts;
    let isOpened = false;
    const openStore = async () => {
      if (isOpened) throw new Error('The store of this test is opened once.');
      isOpened = true;
      return store;
    };
    const logger = this.logger();
    this.broker = composeBroker(
      { ...testOptions, ...options },
      {
        environment,
        openStore,
        compressor,
        logger,
        ...this.#authentication(parts),
      },
    );
    this.broker.start().catch((error: unknown) => void this.logged.push(String(error)));
  }

  #authentication({ users, credentials, hashing, environment = this.environment }: TestedParts) {
    if (users !== undefined) return { authenticator: users, administration: users };
    if (credentials === undefined) return {};
    return testedAuthentication(credentials, { logger: this.logger(), clock: environment.clock, hashing });
  }

  protected get gateway(): Gateway {
    return this.broker;
  }
}
