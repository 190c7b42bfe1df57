// The copies that one member of a fan-out is still owed, first in, first out. Copies that were taken away meanwhile
// (pushed out, expired) stay until their turn and are then passed over: nothing is searched for.

import type { QueuedMessage } from './message.ts';

/** Taken entries are cut off when they are at least this many and half of all. */
const CUT_AT = 1024;

export class CopyBacklog {
  #messages: QueuedMessage[] = [];
  #taken = 0;

  get isEmpty(): boolean {
    return this.#taken === this.#messages.length;
  }

  push(message: QueuedMessage): void {
    this.#messages.push(message);
  }

  /** The message whose copy is due next. */
  first(): QueuedMessage | undefined {
    return this.#messages[this.#taken];
  }

  /** Takes out the message whose copy is due next. */
  take(): QueuedMessage | undefined {
    const message = this.#messages[this.#taken];
    if (message === undefined) return undefined;
    this.#taken += 1;
    if (this.isEmpty) {
      this.#messages = [];
      this.#taken = 0;
    } else if (this.#taken >= CUT_AT && this.#taken * 2 >= this.#messages.length) {
      this.#messages = this.#messages.slice(this.#taken);
      this.#taken = 0;
    }
    return message;
  }

  clear(): void {
    this.#messages = [];
    this.#taken = 0;
  }
}
