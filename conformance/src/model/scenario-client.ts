// One place of a scenario, and who sits there: a connection that may leave and be followed by another. It remembers what a client would
// remember: its subscriptions, what it holds, what it has acknowledged.
import type { Connection } from '../connection.ts';
import type { ReceivedFrame } from '../wire/frame.ts';

export type HeldDelivery = { readonly id: string; readonly queue: string };

export class ScenarioClient {
  connection: Connection;
  /** The number of the connection over all of the scenario. */
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

  /** Another connection takes the place. */
  reconnect(connection: Connection, number: number): void {
    this.connection = connection;
    this.number = number;
    this.held = [];
    this.acknowledged = [];
    this.subscriptions.clear();
    this.#readCount = connection.received.length;
  }

  /** The frames that have come since the last call. */
  takeFrames(): readonly ReceivedFrame[] {
    const frames = this.connection.received.slice(this.#readCount);
    this.#readCount += frames.length;
    return frames;
  }

  /** One of those it holds, counted round. */
  heldAt(pick: number): HeldDelivery | undefined {
    return this.held[pick % Math.max(1, this.held.length)];
  }

  acknowledgedAt(pick: number): HeldDelivery | undefined {
    return this.acknowledged[pick % Math.max(1, this.acknowledged.length)];
  }

  /** The client is done with a delivery. */
  release({ id, queue }: HeldDelivery): void {
    const at = this.held.findIndex((one) => one.id === id && one.queue === queue);
    if (at >= 0) this.held.splice(at, 1);
  }
}
