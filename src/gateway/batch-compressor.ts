// Compresses each body once per algorithm and batch, however many subscribers it goes to.

import type { Algorithm, Compressor } from '../protocol/compression.ts';

export class BatchCompressor {
  readonly #compressor: Compressor;
  readonly #done = new Map<Buffer, Map<Algorithm, Buffer | Promise<Buffer>>>();

  constructor(compressor: Compressor) {
    this.#compressor = compressor;
  }

  compress(algorithm: Algorithm, body: Buffer): Buffer | Promise<Buffer> {
    let ofBody = this.#done.get(body);
    if (ofBody === undefined) {
      ofBody = new Map();
      this.#done.set(body, ofBody);
    }
    let compressed = ofBody.get(algorithm);
    if (compressed === undefined) {
      compressed = this.#compress(algorithm, body);
      ofBody.set(algorithm, compressed);
    }
    return compressed;
  }

  /** Where the library fails at once it counts as failing later: that is the affair of those who wait for the result. */
  #compress(algorithm: Algorithm, body: Buffer): Buffer | Promise<Buffer> {
    try {
      return this.#compressor.compress(algorithm, body);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Forgets the results: a batch has ended. */
  clear(): void {
    if (this.#done.size > 0) this.#done.clear();
  }
}
