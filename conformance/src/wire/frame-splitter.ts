// Cuts a stream of chunks into frames and shows each where it lies. Only a frame that is spread over chunks is copied, so that the
// load generator stays quicker than the brokers that it loads. A compressed frame or a length beyond reason is a WireFault:
// the generator asks for no compression. Areas: FRAME.
import { WireFault } from './decode.ts';
import { frameHeadBytes } from './frame-reader.ts';
import { FrameView } from './frame-view.ts';

const maxBodyBytes = 64 * 1024 * 1024;

export class FrameSplitter {
  readonly #onFrame: (frame: FrameView) => void;
  readonly #view = new FrameView();
  /** The beginning of a frame whose rest has not come. */
  #carry: Buffer = Buffer.allocUnsafeSlow(4096);
  #carryBytes = 0;

  /** `onFrame` gets the same view each time, moved on. */
  constructor(onFrame: (frame: FrameView) => void) {
    this.#onFrame = onFrame;
  }

  /** Shows every frame that this chunk completes. Throws a WireFault. */
  push(chunk: Buffer): void {
    let at = this.#carryBytes === 0 ? 0 : this.#finishCarried(chunk);
    while (chunk.length - at >= frameHeadBytes) {
      const frameBytes = wholeFrameBytes(chunk, at);
      if (chunk.length - at < frameBytes) break;
      this.#show(chunk, at);
      at += frameBytes;
    }
    if (at < chunk.length) this.#carryOn(chunk, at, chunk.length);
  }

  /** Takes from the chunk what the carried frame lacks, and returns where the next one begins. */
  #finishCarried(chunk: Buffer): number {
    let at = this.#carryOn(chunk, 0, frameHeadBytes - this.#carryBytes);
    if (this.#carryBytes < frameHeadBytes) return at;
    const frameBytes = wholeFrameBytes(this.#carry, 0);
    this.#makeRoom(frameBytes);
    at = this.#carryOn(chunk, at, at + frameBytes - this.#carryBytes);
    if (this.#carryBytes === frameBytes) {
      this.#carryBytes = 0;
      this.#show(this.#carry, 0);
    }
    return at;
  }

  /** Copies up to `endAt` what the chunk has, and returns where the copy ended. */
  #carryOn(chunk: Buffer, at: number, endAt: number): number {
    const end = Math.max(at, Math.min(endAt, chunk.length));
    this.#makeRoom(this.#carryBytes + end - at);
    chunk.copy(this.#carry, this.#carryBytes, at, end);
    this.#carryBytes += end - at;
    return end;
  }

  #makeRoom(byteCount: number): void {
    if (byteCount <= this.#carry.length) return;
    const larger = Buffer.allocUnsafeSlow(byteCount);
    this.#carry.copy(larger, 0, 0, this.#carryBytes);
    this.#carry = larger;
  }

  #show(bytes: Buffer, at: number): void {
    this.#view.moveTo(bytes, at);
    this.#onFrame(this.#view);
  }
}

function wholeFrameBytes(bytes: Buffer, at: number): number {
  const bodyBytes = bytes.readUInt32BE(at);
  if (bodyBytes > maxBodyBytes) throw new WireFault(`a frame of ${bodyBytes} bytes came`);
  if (bytes[at + 4] !== 0) throw new WireFault('a compressed frame came, and none was asked for');
  return frameHeadBytes + bodyBytes;
}
