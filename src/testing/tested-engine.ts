// An engine as its tests use it: in virtual time, with clients on virtual lines.

import { Engine, type EngineParts } from '../backend/local/engine.ts';
import type { EngineOptions } from '../backend/local/engine-options.ts';
import type { Compressor } from '../protocol/compression.ts';
import { defaultLimits } from '../protocol/limits.ts';
import { openMemoryStore } from '../storage/memory/memory-store.ts';
import { testSettings } from './broker-harness.ts';
import { TestedClients } from './tested-clients.ts';

export { ack, ping, publish, subscribe } from './tested-clients.ts';

export const testOptions: EngineOptions = {
  broker: testSettings,
  limits: defaultLimits,
  timeouts: { handshakeTimeoutMs: 10_000, frameTimeoutMs: 30_000, idleTimeoutMs: 300_000 },
  supportedCompressions: ['brotli', 'gzip'],
  compressionThresholdBytes: 1024,
  validatePayload: true,
  maxConnections: 1000,
  maxOutboundBytes: 4_194_304,
  maxPendingInputBytes: 4_194_304,
  shutdownTimeoutMs: 30_000,
  serverVersion: 'test',
};

/** A broker that never compresses, for tests that are not about it. */
export const noCompressor: Compressor = {
  compress: () => {
    throw new Error('Nothing is to be compressed in this test.');
  },
  decompress: () => {
    throw new Error('Nothing is to be decompressed in this test.');
  },
};

export class TestedEngine extends TestedClients {
  readonly engine: Engine;
  readonly storageFailures: unknown[] = [];

  constructor(options: Partial<EngineOptions> = {}, parts: Partial<EngineParts> = {}) {
    super();
    this.engine = new Engine(
      { ...testOptions, ...options },
      {
        environment: this.environment,
        store: openMemoryStore(),
        compressor: noCompressor,
        logger: this.logger(),
        onStorageFailure: (error) => void this.storageFailures.push(error),
        ...parts,
      },
    );
  }

  protected get attendant(): Engine {
    return this.engine;
  }
}
