// The deliveries that wait for an ack, in the order in which they will time out. All wait equally long, so the order of
// sending is the order of the deadlines, and a list does what a heap would do with more work.

import type { Delivery } from './delivery.ts';

export class AckDeadlines {
  #head: Delivery | undefined;
  #tail: Delivery | undefined;

  first(): Delivery | undefined {
    return this.#head;
  }

  append(delivery: Delivery): void {
    delivery.previous = this.#tail;
    if (this.#tail === undefined) this.#head = delivery;
    else this.#tail.next = delivery;
    this.#tail = delivery;
  }

  /** Takes out a delivery that is in the list; one that is not stays as it is. */
  remove(delivery: Delivery): void {
    if (delivery.previous === undefined && this.#head !== delivery) return;
    if (delivery.previous === undefined) this.#head = delivery.next;
    else delivery.previous.next = delivery.next;
    if (delivery.next === undefined) this.#tail = delivery.previous;
    else delivery.next.previous = delivery.previous;
    delivery.previous = undefined;
    delivery.next = undefined;
  }
}
