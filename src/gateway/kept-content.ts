// The content of a message in memory. A small content is a string with one byte per character: it is in the JavaScript heap and shares its
// memory with no other content, so it never keeps more memory alive than its own. Node's small buffers are slices of 8 KiB blocks, and one
// slice keeps the whole block alive. A large content is a buffer with its own memory.

import type { MessageContent } from '../broker/interface/message-content.ts';

/** From this size on Node gives a buffer memory of its own (half of Buffer.poolSize). */
const OWN_MEMORY_BYTES = 4096;

export class KeptContent implements MessageContent {
  readonly byteLength: number;
  readonly #held: string | Buffer;

  private constructor(held: string | Buffer) {
    this.byteLength = held.length;
    this.#held = held;
  }

  /** Copies the bytes from `start` to before `end`: a view would keep alive what they arrived in. */
  static copyOf(bytes: Buffer, start = 0, end = bytes.length): KeptContent {
    if (end - start < OWN_MEMORY_BYTES) return new KeptContent(bytes.toString('latin1', start, end));
    const copy = Buffer.allocUnsafeSlow(end - start);
    bytes.copy(copy, 0, start, end);
    return new KeptContent(copy);
  }

  /** Whether this is a small content, and the ASCII text stands in it at `at`, behind its length in two bytes. */
  hasShortText(text: string, at: number): boolean {
    const held = this.#held;
    if (typeof held !== 'string') return false;
    const length = held.charCodeAt(at - 2) * 256 + held.charCodeAt(at - 1);
    return length === text.length && held.startsWith(text, at);
  }

  /** The bytes, which must not be changed: the stored ones or a copy. */
  toBytes(): Buffer {
    return typeof this.#held === 'string' ? Buffer.from(this.#held, 'latin1') : this.#held;
  }

  /** Writes the bytes into `target` from `at` on, and returns where they end. */
  writeTo(target: Buffer, at: number): number {
    return typeof this.#held === 'string'
      ? at + target.write(this.#held, at, 'latin1')
      : at + this.#held.copy(target, at);
  }
}
