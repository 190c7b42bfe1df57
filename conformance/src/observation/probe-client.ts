// A client that observes a broker without judging it. It does no harm: its queues have unique names and are deleted at the end. It opens
// few connections, because a broker with default limits accepts 20 a minute from one address. It knows no checks.
import { openConnection } from '../engine/open-connection.ts';
import type { Pacer } from '../engine/pacer.ts';
import { noPacer } from '../engine/pacer.ts';
import { Evidence } from '../evidence.ts';
import { randomFor } from '../random.ts';
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import { Trace } from '../trace.ts';
import type { BrokerConnection } from '../wire/broker-connection.ts';
import { Command } from '../wire/command.ts';
import type { Credentials } from '../wire/credentials.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';

export type ProbeClientSetting = {
  readonly tcp: Endpoints['tcp'];
  readonly timing: Timing;
  /** The unique prefix of all its names. */
  readonly name: string;
  /** Headers of every Connect: credentials. */
  readonly credentials?: Credentials;
  /** Limits the connection rate. */
  readonly pacer?: Pacer;
};

export type ConnectFields = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly version?: number;
};

/** Large enough for all frames: their size is not judged here. */
const readLimitBytes = 64 * 1024 * 1024;

export class ProbeClient {
  readonly #setting: ProbeClientSetting;
  readonly #connections: BrokerConnection[] = [];
  readonly #queues = new Set<string>();
  readonly #startedAt = performance.now();
  #idCount = 0;

  constructor(setting: ProbeClientSetting) {
    this.#setting = setting;
  }

  get timing(): Timing {
    return this.#setting.timing;
  }

  readonly id = (): string => {
    this.#idCount += 1;
    return `${this.#setting.name}.${this.#idCount}`;
  };

  /** A queue name with the prefix; the queue and its dead letter queue are deleted at the end. */
  queue(name: string): string {
    const own = `${this.#setting.name}.${name}`;
    this.#queues.add(own);
    return own;
  }

  /** A TCP connection on which nothing has been sent. Throws an ExpectationFailure. */
  async open(): Promise<BrokerConnection> {
    const { tcp, pacer = noPacer } = this.#setting;
    const setting = {
      name: `V${this.#connections.length + 1}`,
      mode: 'whole',
      random: randomFor(1, this.#setting.name),
      timing: this.timing,
      maxMessageSizeBytes: readLimitBytes,
      evidence: new Evidence(),
      trace: new Trace(),
      now: () => performance.now() - this.#startedAt,
      nextId: this.id,
    } as const;
    const connection = await openConnection(tcp, setting, pacer);
    this.#connections.push(connection);
    return connection;
  }

  /** A connection after its handshake. Throws an ExpectationFailure. */
  async connect(): Promise<BrokerConnection> {
    const connection = await this.open();
    await connection.handshake({ ...this.#setting.credentials });
    return connection;
  }

  /** Sends Connect with these headers and the credentials, and returns the next frame. */
  async sendConnect(connection: BrokerConnection, fields: ConnectFields = {}): Promise<ReceivedFrame> {
    const headers = { ...this.#setting.credentials, ...fields.headers };
    await connection.send({ ...fields, command: Command.Connect, id: this.id(), headers });
    return connection.next({ what: 'the answer to Connect' });
  }

  /** Deletes its queues and closes its connections; returns the queues that could not be deleted. */
  async cleanUp(): Promise<readonly string[]> {
    const left = this.#queues.size === 0 ? [] : await this.#deleteQueues();
    this.close();
    return left;
  }

  /** Closes all connections. */
  close(): void {
    for (const connection of this.#connections) connection.destroy();
  }

  async #deleteQueues(): Promise<readonly string[]> {
    const names = [...this.#queues].flatMap((queue) => [queue, `${queue}.dlq`]);
    try {
      const connection = await this.connect();
      for (const name of names) await connection.request(deletionOf(name, this.id()));
      await connection.disconnect();
      return [];
    } catch {
      return [...this.#queues];
    }
  }
}

function deletionOf(queue: string, id: string): FrameFields {
  return { command: Command.DeleteQueue, id, queue };
}
