// The content of a message in memory. A content is a string with one byte per character: it is in the JavaScript heap and shares its memory
// with no other content, so it never keeps more memory alive than its own. Node's small buffers are slices of 8 KiB blocks, and one slice
// keeps the whole block alive; larger ones have memory of their own, which V8 asks the system for and counts one by one. With strings from
// 4 KiB on instead of such buffers 1.2 times as many messages of 4 to 32 KiB pass. A large content is a buffer all the same: of pages of
// 256 KiB strings of such sizes would fill too little.

import type { MessageContent } from '../broker/interface/message-content.ts';

/** From this size on a content is a buffer. */
const LARGE_BYTES = 65_536;

export class KeptContent implements MessageContent {
  readonly byteLength: number;
  readonly #held: string | Buffer;

  private constructor(held: string | Buffer) {
    this.byteLength = held.length;
    this.#held = held;
  }

  /** Copies the bytes from `start` to before `end`: a view would keep alive what they arrived in. */
  static copyOf(bytes: Buffer, start = 0, end = bytes.length): KeptContent {
    if (end - start < LARGE_BYTES) return new KeptContent(bytes.toString('latin1', start, end));
    const copy = Buffer.allocUnsafeSlow(end - start);
    bytes.copy(copy, 0, start, end);
    return new KeptContent(copy);
  }

  /** Whether the ASCII text stands in this content at `at`, behind its length in two bytes. False for a large content. */
  hasShortText(text: string, at: number): boolean {
    const held = this.#held;
    if (typeof held !== 'string') return false;
    const length = held.charCodeAt(at - 2) * 256 + held.charCodeAt(at - 1);
    return length === text.length && held.startsWith(text, at);
  }

  /** Whether the bytes are kept as a buffer, so that they can be written without a copy. */
  get isBuffer(): boolean {
    return typeof this.#held !== 'string';
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
