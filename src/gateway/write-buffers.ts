// Memory of writes, which is used again when they are done. A buffer of its own for each write is 100 MB a second, and V8 collects the whole heap
// for it: at half of the highest rate the slowest percent of messages then takes twice as long (docs/internals/performance.md).

// The global is an accessor, which takes time for each write.
import { Buffer } from 'node:buffer';

/** Smaller writes share the pool of Node.js. */
const MIN_BYTES = 4096;
const MAX_BYTES = 1_048_576;
/** Of buffers that nobody uses; more than that is left to the garbage collector. With 8 MiB the process grew by more than it may. */
const MAX_FREE_BYTES = 2_097_152;

export class WriteBuffers {
  /** By length, which is a power of two. */
  readonly #free = new Map<number, Buffer[]>();
  #freeBytes = 0;

  /** Memory for a write of so many bytes. Nothing is known of what is in it. */
  take(byteLength: number): WriteBuffer {
    if (byteLength < MIN_BYTES || byteLength > MAX_BYTES) {
      return new WriteBuffer(Buffer.allocUnsafe(byteLength), byteLength);
    }
    const length = 2 ** Math.ceil(Math.log2(byteLength));
    const free = this.#free.get(length)?.pop();
    if (free === undefined)
      return new WriteBuffer(Buffer.allocUnsafeSlow(length), byteLength, this.#takeBack);
    this.#freeBytes -= length;
    return new WriteBuffer(free, byteLength, this.#takeBack);
  }

  readonly #takeBack = (buffer: Buffer): void => {
    if (this.#freeBytes + buffer.length > MAX_FREE_BYTES) return;
    this.#freeBytes += buffer.length;
    const sameLength = this.#free.get(buffer.length);
    if (sameLength === undefined) this.#free.set(buffer.length, [buffer]);
    else sameLength.push(buffer);
  };
}

/** The memory of a write, and who still needs it: whoever took it, and each stream that it is written to. */
export class WriteBuffer {
  readonly bytes: Buffer;
  /** Memory beyond the bytes of the write. */
  readonly spareBytes: number;
  readonly #takeBack: ((bytes: Buffer) => void) | undefined;
  #userCount = 1;

  constructor(bytes: Buffer, usedBytes: number, takeBack?: (bytes: Buffer) => void) {
    this.bytes = bytes;
    this.spareBytes = bytes.length - usedBytes;
    this.#takeBack = takeBack;
  }

  /** One more needs it. One that never releases it keeps it from being used again: then it is left to the garbage collector. */
  retain(): void {
    this.#userCount += 1;
  }

  /** One of those that need it needs it no more. Must be called once by each at most. */
  release(): void {
    this.#userCount -= 1;
    if (this.#userCount === 0) this.#takeBack?.(this.bytes);
  }
}
