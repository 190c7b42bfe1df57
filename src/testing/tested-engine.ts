// An engine as its tests use it: in virtual time, with clients on virtual lines, and short calls for what nearly every test does.

import { Engine, type EngineParts } from '../engine/engine.ts';
import type { EngineOptions } from '../engine/engine-options.ts';
import type { Logger } from '../engine/logger.ts';
import type { Compressor } from '../protocol/compression.ts';
import { defaultLimits } from '../protocol/limits.ts';
import { openMemoryStore } from '../storage/memory/memory-store.ts';
import { testSettings } from './broker-harness.ts';
import { VirtualEnvironment } from './virtual-environment.ts';
import { type LineOptions, openVirtualConnection, type VirtualSocket } from './virtual-network.ts';
import type { BodyParts } from './wire-bytes.ts';
import { type Inflate, WireClient } from './wire-client.ts';

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

export type AttachOptions = LineOptions & { readonly address?: string; readonly inflate?: Inflate };

export class TestedEngine {
  readonly environment = new VirtualEnvironment();
  readonly engine: Engine;
  readonly storageFailures: unknown[] = [];
  readonly logged: string[] = [];

  constructor(options: Partial<EngineOptions> = {}, parts: Partial<EngineParts> = {}) {
    this.engine = new Engine(
      { ...testOptions, ...options },
      {
        environment: this.environment,
        store: openMemoryStore(),
        compressor: noCompressor,
        logger: this.#logger(),
        onStorageFailure: (error) => void this.storageFailures.push(error),
        ...parts,
      },
    );
  }

  /** A client that has not said anything, and the broker's end of its line. */
  attachWithServer({ address = '192.0.2.1', inflate, ...line }: AttachOptions = {}): {
    readonly client: WireClient;
    readonly server: VirtualSocket;
  } {
    const { client, server } = openVirtualConnection(this.environment.scheduler, line);
    this.engine.attach(server, address);
    return { client: new WireClient(client, inflate), server };
  }

  attach(options?: AttachOptions): WireClient {
    return this.attachWithServer(options).client;
  }

  /** A client that has shaken hands. */
  async connect(options?: AttachOptions, headers: BodyParts['headers'] = []): Promise<WireClient> {
    const client = this.attach(options);
    client.send({ command: 0, id: 'connect', headers });
    await this.settle();
    const [answer] = client.take();
    if (answer?.command !== 1) throw new Error('The handshake failed.');
    client.chunks.length = 0;
    return client;
  }

  /** A client that has shaken hands and subscribed. */
  async subscriber(queue: string, options?: AttachOptions): Promise<WireClient> {
    const client = await this.connect(options);
    await this.exchange(client, subscribe(queue));
    client.chunks.length = 0;
    return client;
  }

  /** Sends frames in one write and tells, line by line, what comes back at this moment. */
  async exchange(client: WireClient, ...frames: readonly BodyParts[]): Promise<readonly string[]> {
    client.send(...frames);
    await this.settle();
    return client.lines();
  }

  settle(): Promise<void> {
    return this.environment.settle();
  }

  advance(durationMs: number): Promise<void> {
    return this.environment.advance(durationMs);
  }

  #logger(): Logger {
    const log = (sentence: string): void => void this.logged.push(sentence);
    return { error: log, warn: log, info: log, debug: log };
  }
}

export function publish(queue: string, id: string, extras: Partial<BodyParts> = {}): BodyParts {
  return { command: 20, id, queue, ...extras };
}

export function subscribe(queue: string, id = `subscribe-${queue}`): BodyParts {
  return { command: 22, id, queue };
}

export function ack(id: string): BodyParts {
  return { command: 30, id };
}

export function ping(id = 'ping'): BodyParts {
  return { command: 10, id };
}
