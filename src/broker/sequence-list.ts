// Messages in the order of their sequence. New ones come at the end, which costs nothing; those that come back to an old
// place go to the front where they fit there, and else into a heap beside the list. Nothing is ever scanned.

import { Heap } from './heap.ts';
import type { QueuedMessage } from './message.ts';

export class SequenceList {
  readonly #returned = new Heap<QueuedMessage>();
  #head: QueuedMessage | undefined;
  #tail: QueuedMessage | undefined;
  #listed = 0;

  get size(): number {
    return this.#listed + this.#returned.size;
  }

  /** The message with the smallest sequence. */
  first(): QueuedMessage | undefined {
    const returned = this.#returned.first()?.item;
    if (returned === undefined) return this.#head;
    if (this.#head === undefined || returned.sequence < this.#head.sequence) return returned;
    return this.#head;
  }

  insert(message: QueuedMessage): void {
    if (this.#tail === undefined || message.sequence > this.#tail.sequence) this.#append(message);
    else if (this.#head !== undefined && message.sequence < this.#head.sequence) this.#prepend(message);
    else message.returned = this.#returned.insert(message.sequence, message);
  }

  /** Takes out a message that is in this list. */
  remove(message: QueuedMessage): void {
    if (message.returned !== undefined) {
      this.#returned.remove(message.returned);
      message.returned = undefined;
      return;
    }
    if (message.previous === undefined) this.#head = message.next;
    else message.previous.next = message.next;
    if (message.next === undefined) this.#tail = message.previous;
    else message.next.previous = message.previous;
    message.previous = undefined;
    message.next = undefined;
    this.#listed -= 1;
  }

  #append(message: QueuedMessage): void {
    message.previous = this.#tail;
    if (this.#tail === undefined) this.#head = message;
    else this.#tail.next = message;
    this.#tail = message;
    this.#listed += 1;
  }

  #prepend(message: QueuedMessage): void {
    message.next = this.#head;
    if (this.#head === undefined) this.#tail = message;
    else this.#head.previous = message;
    this.#head = message;
    this.#listed += 1;
  }
}
