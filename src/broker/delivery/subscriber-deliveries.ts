// The deliveries in flight to one subscriber: by message id, the oldest of an id first in a chain; and those that are overdue. Most subscribers
// acknowledge in order. So a delivery is looked for at the front of a queue first, and enters the map only when that fails: 5 percent of the cost
// of a message, 12 percent of that of a copy of a fan-out (docs/internals/performance.md). Implements DELIVERY-067 and DELIVERY-068.

import { Fifo } from '../collections/fifo.ts';
import type { Delivery, DeliverySet } from './delivery.ts';

export class SubscriberDeliveries implements DeliverySet {
  /** All older than those of `#inOrder`. */
  readonly #byId = new Map<string, Delivery>();
  /** Deliveries that are not in the map, the oldest first. */
  readonly #inOrder = new Fifo<Delivery>();
  readonly overdue = new Set<Delivery>();

  /** All of them, in the order in which the ids came; within an id the oldest first. */
  all(): Delivery[] {
    this.#fillMap();
    return [...this.#byId.values()].flatMap(chain);
  }

  /** The oldest delivery of that id, in the named queue if one is named. */
  find(id: string, queueName: string | undefined): Delivery | undefined {
    const known = this.#byId.size === 0 ? undefined : this.#findInMap(id, queueName);
    if (known !== undefined) return known;
    const first = this.#inOrder.first();
    if (first === undefined || (first.message.id === id && isMeant(first, queueName))) return first;
    this.#fillMap();
    return this.#findInMap(id, queueName);
  }

  add(delivery: Delivery): void {
    this.#inOrder.push(delivery);
  }

  delete(delivery: Delivery): void {
    if (this.overdue.size > 0) this.overdue.delete(delivery);
    if (this.#inOrder.first() === delivery) {
      this.#inOrder.shift();
      return;
    }
    this.#fillMap();
    this.#deleteFromMap(delivery);
  }

  #fillMap(): void {
    for (let next = this.#inOrder.shift(); next !== undefined; next = this.#inOrder.shift())
      this.#addToMap(next);
  }

  #findInMap(id: string, queueName: string | undefined): Delivery | undefined {
    let delivery = this.#byId.get(id);
    while (delivery !== undefined && !isMeant(delivery, queueName)) delivery = delivery.youngerOfSameId;
    return delivery;
  }

  #addToMap(delivery: Delivery): void {
    const oldest = this.#byId.get(delivery.message.id);
    if (oldest === undefined) {
      this.#byId.set(delivery.message.id, delivery);
      return;
    }
    let youngest = oldest;
    while (youngest.youngerOfSameId !== undefined) youngest = youngest.youngerOfSameId;
    youngest.youngerOfSameId = delivery;
  }

  #deleteFromMap(delivery: Delivery): void {
    const { id } = delivery.message;
    const oldest = this.#byId.get(id);
    if (oldest === delivery) {
      if (delivery.youngerOfSameId === undefined) this.#byId.delete(id);
      else this.#byId.set(id, delivery.youngerOfSameId);
    } else {
      let older = oldest;
      while (older !== undefined && older.youngerOfSameId !== delivery) older = older.youngerOfSameId;
      if (older !== undefined) older.youngerOfSameId = delivery.youngerOfSameId;
    }
    delivery.youngerOfSameId = undefined;
  }
}

function isMeant(delivery: Delivery, queueName: string | undefined): boolean {
  return !delivery.queue.deleted && (queueName === undefined || delivery.queue.name === queueName);
}

function chain(oldest: Delivery): Delivery[] {
  const all = [oldest];
  for (let next = oldest.youngerOfSameId; next !== undefined; next = next.youngerOfSameId) all.push(next);
  return all;
}
