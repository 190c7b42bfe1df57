// A broker whose memory is measured: in virtual time, with clients on virtual lines that keep nothing.

import { BrokerService } from '../../backend/local/broker-service.ts';
import type { EngineOptions } from '../../backend/local/engine-options.ts';
import type { Logger } from '../../model/logger.ts';
import type { OpenStore } from '../../storage/storage-provider.ts';
import { openMemoryStore } from '../../storage/memory/memory-store.ts';
import { noCompressor, testOptions } from '../tested-engine.ts';
import { VirtualEnvironment } from '../virtual-environment.ts';
import { openVirtualConnection } from '../virtual-network.ts';
import { ForgetfulClient } from './forgetful-client.ts';
import type { SentFrame } from './frame-batch.ts';

const silent: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};

export type RetainedBrokerOptions = {
  readonly engine?: Partial<EngineOptions>;
  readonly broker?: Partial<EngineOptions['broker']>;
  readonly openStore?: OpenStore;
};

export class RetainedBroker {
  readonly environment = new VirtualEnvironment();
  readonly #service: BrokerService;

  private constructor({ engine = {}, broker = {}, openStore = async () => openMemoryStore() }: RetainedBrokerOptions) {
    const options = { ...testOptions, ...engine, broker: { ...testOptions.broker, ...broker } };
    this.#service = new BrokerService(options, {
      environment: this.environment,
      openStore,
      compressor: noCompressor,
      logger: silent,
    });
  }

  static async started(options: RetainedBrokerOptions = {}): Promise<RetainedBroker> {
    const broker = new RetainedBroker(options);
    await broker.#service.start();
    return broker;
  }

  /** Bytes that the broker says it holds. */
  accountedBytes(): number {
    return this.#service.stats().queuedBytes;
  }

  async connect(): Promise<ForgetfulClient> {
    const { client: socket, server } = openVirtualConnection(this.environment.scheduler);
    this.#service.attach(server, '192.0.2.1');
    const client = new ForgetfulClient(socket);
    client.send([{ command: 0, id: 'connect' }]);
    await this.settle();
    if (client.count(1) !== 1) throw new Error('The handshake failed.');
    return client;
  }

  /** Sends one command and throws when the answer is an Error. */
  async ask(client: ForgetfulClient, frame: SentFrame): Promise<void> {
    const errorCount = client.count(99);
    client.send([frame]);
    await this.settle();
    if (client.count(99) !== errorCount) throw new Error(`${frame.command} ${frame.queue}: ${client.lastError}`);
  }

  settle(): Promise<void> {
    return this.environment.settle();
  }

  advance(durationMs: number): Promise<void> {
    return this.environment.advance(durationMs);
  }
}
