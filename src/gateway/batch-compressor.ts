// Compresses each body once per algorithm and batch, however many subscribers receive it.

import type { Algorithm, Compressor } from '../protocol/compression.ts';
import type { EncodedBody } from './outbound-frame.ts';

export class BatchCompressor {
  readonly #compressor: Compressor;
  readonly #done = new Map<EncodedBody, Map<Algorithm, Buffer | Promise<Buffer>>>();

  constructor(compressor: Compressor) {
    this.#compressor = compressor;
  }

  compress(algorithm: Algorithm, body: EncodedBody): Buffer | Promise<Buffer> {
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

  /** Synchronous failures become rejections, so that callers handle one path. */
  #compress(algorithm: Algorithm, body: EncodedBody): Buffer | Promise<Buffer> {
    try {
      return this.#compressor.compress(algorithm, Buffer.isBuffer(body) ? body : body.toBytes());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Forgets the results. To be called at the end of a batch. */
  clear(): void {
    if (this.#done.size > 0) this.#done.clear();
  }
}
