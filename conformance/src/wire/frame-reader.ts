// Splits the broker's byte stream into frames and decompresses their bodies. A length outside the limits, unknown flags, or a body that
// cannot be decompressed is a WireFault. Areas: FRAME, COMPRESS.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { WireFault } from './decode.ts';

export type RawFrame = {
  readonly flags: number;
  /** The length field: the size of the body as sent. */
  readonly bodyLengthBytes: number;
  /** The body after decompression. */
  readonly body: Buffer;
  /** The frame as it was on the wire. */
  readonly wireBytes: Buffer;
};

/** The size of the length field and the flags byte. */
export const frameHeadBytes = 5;
const maxInflatedBytes = 64 * 1024 * 1024;

/** No broker may be configured to send a longer body. */
const longestBodyBytes = 64 * 1024 * 1024;

export class FrameReader {
  readonly #maxBodyBytes: number;
  #chunks: Buffer[] = [];
  #byteCount = 0;

  /** `maxBodyBytes`: the maximum body size that the broker may send, which is the MaxMessageSize in force. */
  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** The received bytes of a frame that is not complete yet. */
  get partial(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#byteCount += chunk.length;
  }

  /** The next complete frame; undefined if more bytes are needed. Throws a WireFault. */
  next(): RawFrame | undefined {
    if (this.#byteCount < frameHeadBytes) return undefined;
    const head = this.#peek(frameHeadBytes);
    const bodyLengthBytes = head.readUInt32BE(0);
    const flags = head.readUInt8(4);
    this.#checkHead(bodyLengthBytes, flags);
    if (this.#byteCount < frameHeadBytes + bodyLengthBytes) return undefined;
    const wireBytes = this.#take(frameHeadBytes + bodyLengthBytes);
    return { flags, bodyLengthBytes, body: inflate(wireBytes.subarray(frameHeadBytes), flags), wireBytes };
  }

  #checkHead(bodyLengthBytes: number, flags: number): void {
    if (bodyLengthBytes < 2 || bodyLengthBytes > this.#maxBodyBytes) {
      const text = `body length ${bodyLengthBytes} is not in the range 2 to ${this.#maxBodyBytes}`;
      throw new WireFault(text, this.#isLongFrame(bodyLengthBytes) ? 'FRAME-018' : undefined);
    }
    if (flags > 2) throw new WireFault(`unknown compression flags 0x${flags.toString(16)}`);
  }

  /** A larger number is no length: it comes from bytes that are no frame at all. */
  #isLongFrame(bodyLengthBytes: number): boolean {
    return bodyLengthBytes > this.#maxBodyBytes && bodyLengthBytes <= longestBodyBytes;
  }

  /** Joins the chunks only if the first one is too short, so that reading takes linear time. */
  #peek(byteCount: number): Buffer {
    const [first] = this.#chunks;
    if (first !== undefined && first.length >= byteCount) return first;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }

  #take(byteCount: number): Buffer {
    const joined = this.#peek(byteCount);
    const rest = joined.subarray(byteCount);
    this.#chunks = [...(rest.length > 0 ? [rest] : []), ...this.#chunks.slice(1)];
    this.#byteCount -= byteCount;
    return joined.subarray(0, byteCount);
  }
}

function inflate(body: Buffer, flags: number): Buffer {
  if (flags === 0) return body;
  try {
    const options = { maxOutputLength: maxInflatedBytes };
    return flags === 1 ? gunzipSync(body, options) : brotliDecompressSync(body, options);
  } catch (error) {
    throw new WireFault(`a body with flags ${flags} cannot be decompressed: ${String(error)}`);
  }
}
