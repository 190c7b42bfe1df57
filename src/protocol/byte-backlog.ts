// Bytes that have arrived and are not used yet. Takes over whole chunks, and copies only when a second chunk joins a first. Does not write
// to views that were returned. Takes at most twice the memory of what it held at most since it was empty. Serves FRAME-015: appending byte by byte
// costs a constant amount of work per byte.

const nothing = Buffer.alloc(0);

export class ByteBacklog {
  #buffer: Buffer = nothing;
  #start = 0;
  #end = 0;
  /** False while the buffer is a caller's chunk: nothing may be written behind its end. */
  #writable = false;

  get length(): number {
    return this.#end - this.#start;
  }

  /** What is held lies here, from `start` on. */
  get bytes(): Buffer {
    return this.#buffer;
  }

  get start(): number {
    return this.#start;
  }

  byteAt(index: number): number {
    return this.#buffer[this.#start + index] ?? 0;
  }

  readUInt32BE(index: number): number {
    return this.#buffer.readUInt32BE(this.#start + index);
  }

  /** Adds a chunk that the caller will not change any more. Reserves room for at most `expectedLength` bytes. */
  append(chunk: Buffer, expectedLength: number): void {
    if (this.length === 0) this.#replace(chunk, chunk.length, false);
    else this.appendCopy(chunk, expectedLength);
  }

  /** Like `append`, but the chunk's memory is not kept alive. */
  appendCopy(chunk: Buffer, expectedLength: number): void {
    if (!this.#writable || this.#end + chunk.length > this.#buffer.length)
      this.#grow(chunk.length, expectedLength);
    this.#end += chunk.copy(this.#buffer, this.#end);
  }

  /** Copies what is held of the caller's chunk, which the caller may change from now on. */
  releaseChunk(): void {
    if (this.#writable || this.length === 0) return;
    const copy = Buffer.allocUnsafe(this.length);
    const length = this.#buffer.copy(copy, 0, this.#start, this.#end);
    this.#replace(copy, length, true);
  }

  /** Removes the first `length` bytes, which must be there, and returns them as a view. */
  take(length: number): Buffer {
    const taken = this.#buffer.subarray(this.#start, this.#start + length);
    this.drop(length);
    return taken;
  }

  /** Removes the first `length` bytes, which must be there. */
  drop(length: number): void {
    this.#start += length;
    if (this.#start === this.#end) this.clear();
  }

  clear(): void {
    this.#replace(nothing, 0, false);
  }

  /** Doubling makes the copying linear over any number of appends. */
  #grow(addedLength: number, expectedLength: number): void {
    const needed = this.length + addedLength;
    const grown = Buffer.allocUnsafe(Math.max(needed, Math.min(2 * needed, expectedLength)));
    const length = this.#buffer.copy(grown, 0, this.#start, this.#end);
    this.#replace(grown, length, true);
  }

  #replace(buffer: Buffer, end: number, writable: boolean): void {
    this.#buffer = buffer;
    this.#start = 0;
    this.#end = end;
    this.#writable = writable;
  }
}
