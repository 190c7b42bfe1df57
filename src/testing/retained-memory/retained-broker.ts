// A broker whose memory is measured: in virtual time, with clients on virtual lines that keep nothing. The only file of the retained-memory
// judge that creates a broker and reads its account.

import { ContentPacking } from '../../gateway/content-packing.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import type { Logger } from '../../model/logger.ts';
import type { Compressor } from '../../protocol/compression.ts';
import { openMemoryStore } from '../../storage/memory/memory-store.ts';
import type { OpenStore } from '../../storage/storage-provider.ts';
import { type BrokerOptions, composeBroker } from '../composed-broker.ts';
import { testOptions } from '../tested-broker.ts';
import { VirtualEnvironment } from '../virtual-environment.ts';
import { openVirtualConnection } from '../virtual-network.ts';
import { ForgetfulClient } from './forgetful-client.ts';
import type { SentFrame } from './frame-batch.ts';

export type RetainedBrokerOptions = {
  readonly gateway?: Partial<BrokerOptions>;
  readonly broker?: Partial<BrokerOptions['broker']>;
  readonly openStore?: OpenStore;
  /** The time of the wall clock at the start. Default: that of a fresh environment. */
  readonly wallNow?: number;
};

export type ConnectionParameters = { readonly address?: string; readonly compression?: 'gzip' };

export class RetainedBroker {
  readonly environment: VirtualEnvironment;
  readonly #service: Gateway;

  private constructor(options: RetainedBrokerOptions) {
    this.environment = new VirtualEnvironment(options);
    this.#service = makeBroker(options, this.environment);
  }

  static async started(options: RetainedBrokerOptions = {}): Promise<RetainedBroker> {
    const broker = new RetainedBroker(options);
    let isServing = false;
    const starting = broker.#service.start().finally(() => {
      isServing = true;
    });
    // A recovery goes on in slices, which are tasks of the environment.
    while (!isServing) await broker.settle();
    await starting;
    return broker;
  }

  /** Bytes that the broker says it holds. */
  accountedBytes(): number {
    const { queuedBytes, structureBytes, bufferedBytes } = this.#service.stats();
    return queuedBytes + structureBytes + bufferedBytes;
  }

  async connect({ address = '192.0.2.1', compression }: ConnectionParameters = {}): Promise<ForgetfulClient> {
    const { client: socket, server } = openVirtualConnection(this.environment.scheduler);
    this.#service.attach(server, address);
    const client = new ForgetfulClient(socket);
    const headers = compression === undefined ? [] : ([['supported-compression', compression]] as const);
    client.send([{ command: 0, id: 'connect', headers }]);
    await this.settle();
    if (client.count(1) !== 1) throw new Error('The handshake failed.');
    return client;
  }

  /** Sends one command and throws when the answer is an Error. */
  async ask(client: ForgetfulClient, frame: SentFrame): Promise<void> {
    const { frameCount } = client;
    const errorCount = client.count(99);
    client.send([frame]);
    await this.settle();
    if (client.count(99) !== errorCount)
      throw new Error(`${frame.command} ${frame.queue}: ${client.lastError}`);
    if (client.frameCount === frameCount) throw new Error(`${frame.command} ${frame.queue}: no answer came`);
  }

  async purge(queue: string): Promise<void> {
    const purging = this.#service.operator.purgeQueue(queue);
    await this.settle();
    await this.advance(1);
    await purging;
  }

  /** Ends the broker; its connections and its store are closed. */
  async stop(): Promise<void> {
    const draining = this.#service.drain();
    await this.advance(120_000);
    await draining;
  }

  settle(): Promise<void> {
    return this.environment.settle();
  }

  advance(durationMs: number): Promise<void> {
    return this.environment.advance(durationMs);
  }
}

function makeBroker(
  { gateway = {}, broker = {}, openStore = async () => openMemoryStore() }: RetainedBrokerOptions,
  environment: VirtualEnvironment,
): Gateway {
  const options = { ...testOptions, ...gateway, broker: { ...testOptions.broker, ...broker } };
  return composeBroker(options, {
    environment,
    openStore,
    compressor: truncating,
    logger: silent,
    packing: new ContentPacking(),
  });
}

/**
 * Stands in for compression: the beginning of a body, with the id, which is all that the clients read. It takes no time, and none of the
 * memory that zlib takes outside of what is measured.
 */
const truncating: Compressor = {
  compress: (_algorithm, body) => Buffer.from(new Uint8Array(body.subarray(0, 600))),
  decompress: () => {
    throw new Error('The clients of the judge compress nothing.');
  },
};

const silent: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};
