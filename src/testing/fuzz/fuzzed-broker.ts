// A whole broker that is fuzzed, in one of two ways: in virtual time on virtual connections, and in real time on sockets. A broker that says that something of its own is broken has failed.

import type { Duplex } from 'node:stream';
import { dial } from '../../client/dial.ts';
import { allInPlace, ZlibCompressor } from '../../compression/zlib-compressor.ts';
import type { BrokerStatistics, Gateway } from '../../gateway/gateway.ts';
import { systemEnvironment } from '../../gateway/system-environment.ts';
import type { Environment } from '../../model/environment.ts';
import type { Logger } from '../../model/logger.ts';
import { listenTcp, type TcpServer } from '../../net/tcp-listener.ts';
import type { ProtocolLimits } from '../../protocol/limits.ts';
import { openMemoryStore } from '../../storage/memory/memory-store.ts';
import { composeBroker } from '../composed-broker.ts';
import { testOptions } from '../tested-broker.ts';
import { VirtualEnvironment } from '../virtual-environment.ts';
import { openVirtualConnection } from '../virtual-network.ts';

export type FuzzedBroker = {
  /** The client's end of a new connection. */
  attach(): Promise<Duplex>;
  /** Whether it becomes true. */
  reaches(isTrue: () => boolean): Promise<boolean>;
  /** Complaints that the broker logged about itself, since the last call. */
  takeErrors(): readonly string[];
  stats(): BrokerStatistics;
  close(): Promise<void>;
};

/** The broker and what it logged. */
type Composed = { readonly gateway: Gateway; readonly errors: string[] };

export type SizeLimits = Pick<ProtocolLimits, 'maxMessageSizeBytes' | 'maxDecompressedSizeBytes'>;

/** Small, so that frames reach it. */
const smallLimits: SizeLimits = { maxMessageSizeBytes: 65_536, maxDecompressedSizeBytes: 65_536 };

function compose(environment: Environment, sizes: SizeLimits): Composed {
  const limits = { ...testOptions.limits, ...sizes };
  const errors: string[] = [];
  const ignore = () => undefined;
  const logger: Logger = {
    error: (sentence, fields) => void errors.push(`${sentence} ${JSON.stringify(fields)}`),
    ...{ warn: ignore, info: ignore, debug: ignore },
  };
  // Nothing is inflated in the pool of threads, whose turns virtual time does not wait for.
  const compressor = new ZlibCompressor(allInPlace);
  const openStore = async () => openMemoryStore();
  const broker = { ...testOptions.broker, maxContentBytes: limits.maxMessageSizeBytes };
  const gateway = composeBroker(
    { ...testOptions, limits, broker },
    { environment, openStore, compressor, logger },
  );
  return { gateway, errors };
}

export async function startVirtualBroker(sizes = smallLimits): Promise<FuzzedBroker> {
  const environment = new VirtualEnvironment();
  const { gateway, errors } = compose(environment, sizes);
  const starting = gateway.start();
  await environment.settle();
  await starting;
  return {
    attach: async () => {
      const { client, server } = openVirtualConnection(environment.scheduler);
      gateway.attach(server, '192.0.2.1');
      return client;
    },
    reaches: async (isTrue) => {
      await environment.settle();
      if (isTrue()) return true;
      // Larger changes are made in several steps.
      await environment.advance(VIRTUAL_PATIENCE_MS);
      return isTrue();
    },
    takeErrors: () => errors.splice(0),
    stats: () => gateway.stats(),
    close: async () => {
      const draining = gateway.drain();
      await environment.advance(2 * testOptions.shutdownTimeoutMs);
      await draining;
    },
  };
}

/** Less than any timeout: what only a timeout ends has failed. */
const VIRTUAL_PATIENCE_MS = 100;
/** On the wire; much longer than anything takes, because the machine may be busy. */
const PATIENCE_MS = 20_000;

export async function startSocketBroker(): Promise<FuzzedBroker> {
  const { gateway, errors } = compose(systemEnvironment, smallLimits);
  await gateway.start();
  const server: TcpServer = await listenTcp(gateway, { host: '127.0.0.1', port: 0 });
  return {
    attach: () => dial({ host: '127.0.0.1', port: server.port }, PATIENCE_MS),
    reaches: async (isTrue) => {
      const until = performance.now() + PATIENCE_MS;
      for (let looks = 0; !isTrue() && performance.now() < until; looks += 1) await nextLook(looks);
      return isTrue();
    },
    takeErrors: () => errors.splice(0),
    stats: () => gateway.stats(),
    close: async () => {
      server.close();
      await gateway.drain();
    },
  };
}

/** Most waits are over after some turns of the event loop; a long one must not take processor time. */
const EAGER_LOOKS = 500;

function nextLook(looks: number): Promise<void> {
  return new Promise((resolve) => {
    if (looks < EAGER_LOOKS) setImmediate(resolve);
    else setTimeout(resolve, 1);
  });
}
