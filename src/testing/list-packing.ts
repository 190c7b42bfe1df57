// Packing for tests of the core: it keeps ids and contents in lists, and packs after few messages, so that short scenarios see it.

import type { MessagePacking, PackableMessage, PackedContents } from '../broker/interface/message-packing.ts';

class ListedContents implements PackedContents {
  #messages: readonly PackableMessage[] | undefined;

  constructor(messages: readonly PackableMessage[]) {
    this.#messages = messages.map(({ id, content }) => ({ id, content }));
  }

  get count(): number {
    return this.#packed().length;
  }

  idAt(index: number): string {
    return this.#at(index).id;
  }

  contentAt(index: number): PackableMessage['content'] {
    return this.#at(index).content;
  }

  free(): void {
    this.#packed();
    this.#messages = undefined;
  }

  #at(index: number): PackableMessage {
    const message = this.#packed()[index];
    if (message === undefined) throw new Error(`There is no packed message ${index}.`);
    return message;
  }

  #packed(): readonly PackableMessage[] {
    if (this.#messages === undefined) throw new Error('The packed messages were freed.');
    return this.#messages;
  }
}

/** From three waiting messages on, at most three together; from `fitting` on they do not fit together. */
export function listPacking(fitting = 3): MessagePacking {
  return {
    minWaiting: 3,
    maxCount: 3,
    maxBytes: 1_000_000,
    pack: (messages) => new ListedContents(messages.slice(0, fitting)),
  };
}
