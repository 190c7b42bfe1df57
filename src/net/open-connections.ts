// Counts the open connections of a listener whose server does not know them any more.

import type { Duplex } from 'node:stream';

export class OpenConnections {
  #count = 0;
  #onNone: () => void = () => undefined;

  get count(): number {
    return this.#count;
  }

  /** Counts the stream until it is closed; returns it. */
  counted(stream: Duplex): Duplex {
    this.#count += 1;
    stream.on('close', this.#closed);
    return stream;
  }

  /** Resolves when none is open. */
  noneOpen(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onNone = resolve;
    });
  }

  /** One for all streams, which are closed only once. */
  readonly #closed = (): void => {
    this.#count -= 1;
    if (this.#count === 0) this.#onNone();
  };
}
