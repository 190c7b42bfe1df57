// The broker as a side of the gate: gateway and core as `truemq serve` composes them, with the default settings except for the rate limit.
// With the argument `planted` it is a fifth slower. Runs as a process of its own.
import { ZlibCompressor } from '../../src/compression/zlib-compressor.ts';
import { loadConfiguration } from '../../src/config/load.ts';
import { ContentPacking } from '../../src/gateway/content-packing.ts';
import { systemEnvironment } from '../../src/gateway/system-environment.ts';
import type { Logger } from '../../src/model/logger.ts';
import { thisMachine } from '../../src/server/this-machine.ts';
import { openMemoryStore } from '../../src/storage/memory/memory-store.ts';
import { brokerOptions, composeBroker } from '../../src/testing/composed-broker.ts';
import type { Service } from './load.ts';
import { SlowService } from './planted-slowdown.ts';
import { serveOrders } from './side.ts';

const loopback = '127.0.0.1';
/** The system under test writes to stderr what an operator must see, and nothing else. */
const logger: Logger = {
  error: (sentence) => void process.stderr.write(`${sentence}\n`),
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  writesDebug: false,
};

const broker = await startedBroker();
serveOrders(process.argv.includes('planted') ? new SlowService(broker) : broker);

async function startedBroker(): Promise<Service> {
  const { configuration } = loadConfiguration({
    options: new Map([['rateLimit', false]]),
    flags: new Map(),
    environment: {},
    machine: thisMachine(false),
  });
  const gateway = composeBroker(brokerOptions(configuration), {
    environment: systemEnvironment,
    openStore: async () => openMemoryStore(),
    compressor: new ZlibCompressor(),
    logger,
    packing: new ContentPacking(),
  });
  await gateway.start();
  return { attach: (stream) => gateway.attach(stream, loopback) };
}
