// Whether a connection is read: paused while the broker can take no more of it, and yet read once more to see whether the client has sent
// something. Implements CONN-017 on the side of the stream.

import type { Duplex } from 'node:stream';

export class Reading {
  readonly #stream: Duplex;
  #isPaused = false;
  #isProbing = false;

  constructor(stream: Duplex) {
    this.#stream = stream;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Paused, and read until the next bytes come. */
  get isProbing(): boolean {
    return this.#isProbing;
  }

  pause(): void {
    this.#isPaused = true;
    this.#isProbing = false;
    this.#stream.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#isProbing = false;
    this.#stream.resume();
  }

  /** Reads until the next bytes come. To be called while it is paused. */
  probe(): void {
    this.#isProbing = true;
    this.#stream.resume();
  }

  /** To be called for all bytes that come. */
  received(): void {
    if (this.#isProbing) this.pause();
  }
}
