// The content of a message in memory. A small content is a string with one byte per character: it is in the JavaScript heap and shares its memory
// with no other content, so it never keeps more memory alive than its own. Node's small buffers are slices of 8 KiB blocks, and one slice
// keeps the whole block alive. A large content is a buffer with its own memory, which is the one that it arrived in if its frame came in
// pieces: that saves 12 percent of the processor time at 64 KiB. A content between them is a string, too, while there is much space in the heap:
// 1.2 times as many messages of 4 to 32 KiB pass, because V8 asks the system for the memory of each buffer.

// The global is an accessor, which takes time for each message (docs/internals/performance.md).
import { Buffer } from 'node:buffer';
import { getHeapStatistics } from 'node:v8';
import type { MessageContent } from '../broker/interface/message-content.ts';
import { heapLimitBytes } from './heap-limit.ts';

/** Below this size a content is a string. From this size on Node gives a buffer memory of its own (half of Buffer.poolSize). */
const SMALL_BYTES = 4096;
/** From this size on a content is a buffer: strings of its size would leave much of the heap's pages of 256 KiB unused. */
const LARGE_BYTES = 65_536;
/** Contents between them are buffers while more than this part of the heap is in use: a process whose heap is full ends. */
const MAX_HEAP_SHARE = 0.5;
/** What a view may keep alive beside its own bytes: less than each message counts for besides its content. */
const MAX_UNUSED_BYTES = 64;
/** After so many bytes of them it is looked again how much of the heap is in use. */
const LOOK_EVERY_BYTES = 4 * 1024 * 1024;

/** Whether there is space in the heap for contents that are neither small nor large. */
export class HeapSpace {
  readonly #limitBytes: number;
  readonly #heap: () => { readonly used_heap_size: number };
  #bytesToLook = 0;
  #isThere = true;

  constructor(limitBytes: number, heap: () => { readonly used_heap_size: number }) {
    this.#limitBytes = limitBytes;
    this.#heap = heap;
  }

  isThereFor(byteCount: number): boolean {
    this.#bytesToLook -= byteCount;
    if (this.#bytesToLook < 0) {
      this.#isThere = this.#heap().used_heap_size <= MAX_HEAP_SHARE * this.#limitBytes;
      this.#bytesToLook = LOOK_EVERY_BYTES;
    }
    return this.#isThere;
  }
}

const heapSpace = new HeapSpace(heapLimitBytes, getHeapStatistics);

function isString(byteCount: number, heap: HeapSpace): boolean {
  return byteCount < SMALL_BYTES || (byteCount < LARGE_BYTES && heap.isThereFor(byteCount));
}

export class KeptContent implements MessageContent {
  readonly byteLength: number;
  readonly #held: string | Buffer;

  private constructor(held: string | Buffer) {
    this.byteLength = held.length;
    this.#held = held;
  }

  /**
   * As `copyOf`; but if nothing else uses or changes the bytes from now on, a large content is a view of them, unless it would keep more memory
   * alive than is counted.
   */
  static of(bytes: Buffer, start: number, end: number, isAlone: boolean): KeptContent {
    const length = end - start;
    if (!isAlone || length < LARGE_BYTES) return KeptContent.copyOf(bytes, start, end);
    if (bytes.buffer.byteLength > length + MAX_UNUSED_BYTES) return KeptContent.copyOf(bytes, start, end);
    return new KeptContent(bytes.subarray(start, end));
  }

  /** Copies the bytes from `start` to before `end`: a view would keep alive what they arrived in. */
  static copyOf(bytes: Buffer, start = 0, end = bytes.length, heap = heapSpace): KeptContent {
    if (isString(end - start, heap)) return new KeptContent(bytes.toString('latin1', start, end));
    const copy = Buffer.allocUnsafeSlow(end - start);
    bytes.copy(copy, 0, start, end);
    return new KeptContent(copy);
  }

  /** Whether the ASCII text stands in this content at `at`, behind its length in two bytes. False for a content that is a buffer. */
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
