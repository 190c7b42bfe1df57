// One client of a scenario. Its connection may end and be replaced by another one. It keeps what a client knows: its subscriptions, the
// deliveries that it holds, the deliveries that it has acknowledged.
import type { Connection } from '../connection.ts';
import type { ReceivedFrame } from '../wire/frame.ts';

export type HeldDelivery = { readonly id: string; readonly queue: string };

export class ScenarioClient {
  connection: Connection;
  /** The number of the connection, unique in the scenario. */
  number: number;
  held: HeldDelivery[] = [];
  acknowledged: HeldDelivery[] = [];
  readonly subscriptions = new Set<string>();
  #readCount: number;

  constructor(connection: Connection, number: number) {
    this.connection = connection;
    this.number = number;
    this.#readCount = connection.received.length;
  }

  /** Continues with a new connection, which holds nothing and has no subscription. */
  reconnect(connection: Connection, number: number): void {
    this.connection = connection;
    this.number = number;
    this.held = [];
    this.acknowledged = [];
    this.subscriptions.clear();
    this.#readCount = connection.received.length;
  }

  /** The frames received since the last call. */
  takeFrames(): readonly ReceivedFrame[] {
    const frames = this.connection.received.slice(this.#readCount);
    this.#readCount += frames.length;
    return frames;
  }

  /** One of the deliveries that it holds: `pick` modulo their number. */
  heldAt(pick: number): HeldDelivery | undefined {
    return this.held[pick % Math.max(1, this.held.length)];
  }

  acknowledgedAt(pick: number): HeldDelivery | undefined {
    return this.acknowledged[pick % Math.max(1, this.acknowledged.length)];
  }

  /** Removes a delivery that the client has acknowledged or refused. */
  release({ id, queue }: HeldDelivery): void {
    const at = this.held.findIndex((one) => one.id === id && one.queue === queue);
    if (at >= 0) this.held.splice(at, 1);
  }
}
