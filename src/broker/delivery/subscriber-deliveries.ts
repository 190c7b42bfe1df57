// The deliveries in flight to one subscriber: by message id, the oldest of an id first in a chain; and those that are overdue.
// Implements DELIVERY-067 and DELIVERY-068.

import type { Delivery, DeliverySet } from './delivery.ts';

export class SubscriberDeliveries implements DeliverySet {
  readonly #byId = new Map<string, Delivery>();
  readonly overdue = new Set<Delivery>();

  /** All of them, in the order in which the ids came; within an id the oldest first. */
  all(): Delivery[] {
    return [...this.#byId.values()].flatMap(chain);
  }

  /** The oldest delivery of that id, in the named queue if one is named. */
  find(id: string, queueName: string | undefined): Delivery | undefined {
    let delivery = this.#byId.get(id);
    while (delivery !== undefined && !isMeant(delivery, queueName)) delivery = delivery.youngerOfSameId;
    return delivery;
  }

  add(delivery: Delivery): void {
    const oldest = this.#byId.get(delivery.message.id);
    if (oldest === undefined) {
      this.#byId.set(delivery.message.id, delivery);
      return;
    }
    let youngest = oldest;
    while (youngest.youngerOfSameId !== undefined) youngest = youngest.youngerOfSameId;
    youngest.youngerOfSameId = delivery;
  }

  delete(delivery: Delivery): void {
    this.overdue.delete(delivery);
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
