// How the content of a message is kept in memory for as long as the message lives. A small one is a string of one byte a character: it lies
// in the JavaScript heap, shares its memory with no other content, and so never keeps more alive than itself. Node's buffers of that
// size are slices of blocks of 8 KiB, of which one survivor keeps all. A large one is a buffer with memory of its own.

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

  /** Copies the first `length` bytes: a view would keep alive what they arrived in. */
  static copyOf(bytes: Buffer, length = bytes.length): KeptContent {
    if (length < OWN_MEMORY_BYTES) return new KeptContent(bytes.toString('latin1', 0, length));
    const copy = Buffer.allocUnsafeSlow(length);
    bytes.copy(copy, 0, 0, length);
    return new KeptContent(copy);
  }

  /** The bytes, which must not be changed: those that are kept, or a copy. */
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
