// Splits a stream of chunks into frames without copying them; only a frame that spans several chunks is copied. So the load generator stays
// faster than the brokers that it loads. A compressed frame is a WireFault, because the load generator requests no compression; a length
// over the limit is a WireFault too. Areas: FRAME.
import { WireFault } from './decode.ts';
import { frameHeadBytes } from './frame-reader.ts';
import { FrameView } from './frame-view.ts';

const maxBodyBytes = 64 * 1024 * 1024;

export class FrameSplitter {
  readonly #onFrame: (frame: FrameView) => void;
  readonly #view = new FrameView();
  /** The received part of an incomplete frame. */
  #partial: Buffer = Buffer.allocUnsafeSlow(4096);
  #partialBytes = 0;

  /** `onFrame` gets the same view object for each frame. */
  constructor(onFrame: (frame: FrameView) => void) {
    this.#onFrame = onFrame;
  }

  /** Calls `onFrame` for every frame that this chunk completes. Throws a WireFault. */
  push(chunk: Buffer): void {
    let at = this.#partialBytes === 0 ? 0 : this.#completePartial(chunk);
    while (chunk.length - at >= frameHeadBytes) {
      const frameBytes = wholeFrameBytes(chunk, at);
      if (chunk.length - at < frameBytes) break;
      this.#show(chunk, at);
      at += frameBytes;
    }
    if (at < chunk.length) this.#copyToPartial(chunk, at, chunk.length);
  }

  /** Completes the partial frame with bytes of the chunk, and returns the offset of the next frame. */
  #completePartial(chunk: Buffer): number {
    let at = this.#copyToPartial(chunk, 0, frameHeadBytes - this.#partialBytes);
    if (this.#partialBytes < frameHeadBytes) return at;
    const frameBytes = wholeFrameBytes(this.#partial, 0);
    this.#growPartial(frameBytes);
    at = this.#copyToPartial(chunk, at, at + frameBytes - this.#partialBytes);
    if (this.#partialBytes === frameBytes) {
      this.#partialBytes = 0;
      this.#show(this.#partial, 0);
    }
    return at;
  }

  /** Copies the bytes from `at` to `endAt`, or to the end of the chunk, and returns the offset where the copy ended. */
  #copyToPartial(chunk: Buffer, at: number, endAt: number): number {
    const end = Math.max(at, Math.min(endAt, chunk.length));
    this.#growPartial(this.#partialBytes + end - at);
    chunk.copy(this.#partial, this.#partialBytes, at, end);
    this.#partialBytes += end - at;
    return end;
  }

  #growPartial(byteCount: number): void {
    if (byteCount <= this.#partial.length) return;
    const larger = Buffer.allocUnsafeSlow(byteCount);
    this.#partial.copy(larger, 0, 0, this.#partialBytes);
    this.#partial = larger;
  }

  #show(bytes: Buffer, at: number): void {
    this.#view.moveTo(bytes, at);
    this.#onFrame(this.#view);
  }
}

function wholeFrameBytes(bytes: Buffer, at: number): number {
  const bodyBytes = bytes.readUInt32BE(at);
  if (bodyBytes > maxBodyBytes)
    throw new WireFault(`the broker sent a frame of ${bodyBytes} bytes, over the limit of ${maxBodyBytes}`);
  if (bytes[at + 4] !== 0)
    throw new WireFault('the broker sent a compressed frame, although no compression was requested');
  return frameHeadBytes + bodyBytes;
}
