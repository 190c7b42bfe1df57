// The publishes and deliveries of one message that the runner saw, with the state of each delivery. They decide whether another delivery
// is allowed. Sums over all messages are in the accountant. Areas: PUBLISH, DELIVERY.
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
 * `held`: delivered and not acknowledged. `acked`: an ack was sent, and the broker may have read it. `settled`: the broker has read the
 * ack. `free`: the message may be delivered again. `passed on`: it was delivered again.
 */
export type DeliveryState = 'held' | 'acked' | 'settled' | 'free' | 'passed on';

export type DeliveryRecord = {
  readonly at: number;
  readonly atMs: number;
  readonly connection: string;
  state: DeliveryState;
  /** The operation that acknowledged it. */
  ackedAt?: number;
  /** It was released without an ack, so that the broker must deliver the message again. */
  awaitsRedelivery: boolean;
  /** A later delivery shows that a crash has undone its ack: no other delivery is allowed for it. */
  wasUndone?: true;
};

export class MessageRecord {
  readonly queue: string;
  readonly id: string;
  readonly publishes: PublishRecord[] = [];
  readonly deliveries: DeliveryRecord[] = [];
  /** First deliveries, in contrast to redeliveries. */
  #begunCount = 0;
  /** For a fan-out: the deliveries of earlier rounds. A round ends when the message may have waited again. */
  #earlierCount = 0;

  constructor(queue: string, id: string) {
    this.queue = queue;
    this.id = id;
  }

  /** Publishes that the broker may have accepted. */
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

  /** For a fan-out: the copies of the current round. */
  get round(): readonly DeliveryRecord[] {
    return this.deliveries.slice(this.#earlierCount);
  }

  /** Starts a new round, which may have other members. */
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
