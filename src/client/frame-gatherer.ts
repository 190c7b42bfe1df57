// Collects the frames of one turn of the event loop and writes them together. Small frames are encoded straight into a shared buffer, so that
// many of them are one write. Compresses nothing, and knows nothing of the order in which compressions finish.

import type { Duplex } from 'node:stream';
import { encodeFrame, frameHeaderBytes, writeBody, writeFrameHeader } from '../protocol/encode.ts';
import type { MessageFields } from '../protocol/message.ts';

const SLAB_BYTES = 65_536;
/** Longer frames have a buffer of their own: they would leave too much of a slab unused. */
const MAX_SHARED_FRAME_BYTES = 16_384;

export class FrameGatherer {
  readonly #stream: Duplex;
  /** The buffer that small frames share. From `#startAt` to `#endAt` it holds frames that are not yet written. */
  #slab = Buffer.alloc(0);
  #startAt = 0;
  #endAt = 0;
  /** What is to be written before the frames of the slab. */
  #chunks: Buffer[] = [];
  #isFlushPlanned = false;

  constructor(stream: Duplex) {
    this.#stream = stream;
  }

  /** Encodes an uncompressed frame; `bodyBytes` is the length of its body. */
  add(fields: MessageFields, bodyBytes: number): void {
    const frameBytes = frameHeaderBytes + bodyBytes;
    if (frameBytes > MAX_SHARED_FRAME_BYTES) {
      this.addFrame(encodeFrame(fields));
      return;
    }
    if (this.#endAt + frameBytes > this.#slab.length) this.#startSlab();
    this.#endAt = writeBody(fields, this.#slab, writeFrameHeader(this.#slab, this.#endAt, bodyBytes, 0));
    this.#planFlush();
  }

  /** Takes over an encoded frame. */
  addFrame(frame: Buffer): void {
    this.#closeSlabPart();
    this.#chunks.push(frame);
    this.#planFlush();
  }

  /** Ends the stream after everything that was added. */
  end(): void {
    this.#flush();
    this.#stream.end();
  }

  /** The stream owns what was written from the old slab, so that one is left to it. */
  #startSlab(): void {
    this.#closeSlabPart();
    this.#slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    this.#startAt = 0;
    this.#endAt = 0;
  }

  #closeSlabPart(): void {
    if (this.#endAt > this.#startAt) this.#chunks.push(this.#slab.subarray(this.#startAt, this.#endAt));
    this.#startAt = this.#endAt;
  }

  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    process.nextTick(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushPlanned = false;
    this.#closeSlabPart();
    const chunks = this.#chunks;
    this.#chunks = [];
    if (!this.#stream.writable) return;
    this.#stream.cork();
    for (const chunk of chunks) this.#stream.write(chunk);
    this.#stream.uncork();
  }
}
