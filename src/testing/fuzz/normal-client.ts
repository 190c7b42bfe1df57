// The client that must not notice what hostile ones do: it publishes, receives its message, acknowledges it, and pings.

import { Command } from '../../protocol/command.ts';
import { payloadOf, type ReceivedFrame, WireClient } from '../wire-client.ts';
import type { FuzzedBroker } from './fuzzed-broker.ts';

/** No frame of the fuzzer names it. */
const QUEUE = 'normal.workload';

export class NormalClient {
  readonly #broker: FuzzedBroker;
  readonly #wire: WireClient;
  readonly #received: ReceivedFrame[] = [];
  #count = 0;

  private constructor(broker: FuzzedBroker, wire: WireClient) {
    this.#broker = broker;
    this.#wire = wire;
  }

  static async connected(broker: FuzzedBroker): Promise<NormalClient> {
    const client = new NormalClient(broker, new WireClient(await broker.attach()));
    client.#wire.send(
      { command: Command.Connect, id: 'c' },
      { command: Command.Subscribe, id: 's', queue: QUEUE },
    );
    if (!(await client.#gets(Command.SubscribeAck, 's')))
      throw new Error('The normal client could not subscribe.');
    return client;
  }

  /** One round of its work; what is missing, if anything is. */
  async works(): Promise<string | undefined> {
    this.#count += 1;
    const id = `normal-${this.#count}`;
    this.#received.length = 0;
    this.#wire.chunks.length = 0;
    this.#wire.send({ command: Command.Publish, id, queue: QUEUE, payload: '{"normal":true}' });
    if (!(await this.#gets(Command.PublishAck, id))) return 'the normal client gets no PublishAck';
    if (!(await this.#gets(Command.Deliver, id))) return 'the normal client gets no Deliver';
    this.#wire.send({ command: Command.Ack, id, queue: QUEUE }, { command: Command.Ping, id });
    return (await this.#gets(Command.Pong, id)) ? undefined : 'the normal client gets no Pong';
  }

  async deleteOtherQueues(): Promise<string | undefined> {
    // Deleting a queue does not delete its dead letter queue, and nothing makes new ones meanwhile.
    const names = await this.#queueNames();
    if (names === undefined) return 'the normal client gets no list of queues';
    const others = names.filter((name) => name !== QUEUE);
    this.#received.length = 0;
    this.#wire.send(
      ...others.map((queue, index) => ({ command: Command.DeleteQueue, id: `delete-${index}`, queue })),
    );
    const isDone = await this.#broker.reaches(
      () => this.#collect().filter(({ command }) => command === Command.DeleteQueue).length === others.length,
    );
    return isDone ? undefined : 'the normal client cannot delete the queues';
  }

  disconnect(): void {
    this.#wire.stream.destroy();
  }

  async #queueNames(): Promise<readonly string[] | undefined> {
    this.#received.length = 0;
    this.#wire.send({ command: Command.ListQueues, id: 'list' });
    if (!(await this.#gets(Command.ListQueues, 'list'))) return undefined;
    return JSON.parse(payloadOf(this.#received.find(({ id }) => id === 'list'))) as readonly string[];
  }

  #gets(command: number, id: string): Promise<boolean> {
    return this.#broker.reaches(() =>
      this.#collect().some((frame) => frame.command === command && frame.id === id),
    );
  }

  #collect(): readonly ReceivedFrame[] {
    this.#received.push(...this.#wire.take());
    return this.#received;
  }
}
