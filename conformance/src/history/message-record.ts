// The life of one message as far as the runner saw it: its publishes, and its deliveries with what became of each. From it follows
// whether another delivery is within the rules. It judges single messages; sums are the accountant's. Areas: PUBLISH, DELIVERY.
import type { Operation } from './operation.ts';

export type PublishState = 'open' | 'confirmed' | 'refused' | 'unknown';

export type PublishRecord = {
  readonly at: number;
  readonly atMs: number;
  readonly connection: string;
  readonly content: string;
  outcome: PublishState;
};

/**
 * `held`: sent and not answered. `acked`: the ack was sent, and may or may not have been read. `settled`: it was read. `free`: the
 * message may come again. `passed on`: it has come again.
 */
export type DeliveryState = 'held' | 'acked' | 'settled' | 'free' | 'passed on';

export type DeliveryRecord = {
  readonly at: number;
  readonly atMs: number;
  readonly connection: string;
  state: DeliveryState;
  /** The operation that acknowledged it. */
  ackedAt?: number;
  /** It was given back unacknowledged, so that it must come again. */
  awaitsRedelivery: boolean;
};

export class MessageRecord {
  readonly queue: string;
  readonly id: string;
  readonly publishes: PublishRecord[] = [];
  readonly deliveries: DeliveryRecord[] = [];
  /** Deliveries that began a life of the message, rather than going on with one. */
  #begunCount = 0;
  /** Of a fan-out: the deliveries before the message may have waited again, with other members afterwards. */
  #earlierCount = 0;

  constructor(queue: string, id: string) {
    this.queue = queue;
    this.id = id;
  }

  /** Publishes after which the message may be there. */
  get possibleCount(): number {
    return this.publishes.filter(({ outcome }) => outcome !== 'refused').length;
  }

  get isConfirmed(): boolean {
    return this.publishes.some(({ outcome }) => outcome === 'confirmed');
  }

  get isUnknown(): boolean {
    return !this.isConfirmed && this.publishes.some(({ outcome }) => outcome === 'unknown');
  }

  /** The latest publish that has no answer yet. */
  openPublish(connection: string): PublishRecord | undefined {
    return this.publishes.find((publish) => publish.outcome === 'open' && publish.connection === connection);
  }

  /** Deliveries of a copy: all of them, where a message has one copy. */
  copiesOf(connection: string | undefined): readonly DeliveryRecord[] {
    return connection === undefined
      ? this.deliveries
      : this.deliveries.filter((delivery) => delivery.connection === connection);
  }

  get begunCount(): number {
    return this.#begunCount;
  }

  /** Of a fan-out: the copies since the message last may have waited for subscribers. */
  get round(): readonly DeliveryRecord[] {
    return this.deliveries.slice(this.#earlierCount);
  }

  /** The message may have waited again: who is a member now is not who was. */
  beginRound(): void {
    this.#earlierCount = this.deliveries.length;
  }

  begin(delivery: DeliveryRecord): void {
    this.#begunCount += 1;
    this.deliveries.push(delivery);
  }

  continueFrom(from: DeliveryRecord, delivery: DeliveryRecord): void {
    from.state = 'passed on';
    from.awaitsRedelivery = false;
    this.deliveries.push(delivery);
  }

  add(delivery: DeliveryRecord): void {
    this.deliveries.push(delivery);
  }
}

export function deliveryRecord(operation: Operation, at: number): DeliveryRecord {
  return {
    at,
    atMs: operation.atMs,
    connection: operation.connection,
    state: 'held',
    awaitsRedelivery: false,
  };
}
