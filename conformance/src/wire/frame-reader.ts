// Cuts the broker's byte stream into frames and undoes compression. It trusts nothing: a length outside the limit, an
// unknown flag or a body that does not inflate is a WireFault. Areas: FRAME, COMPRESS.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { WireFault } from './decode.ts';

export type RawFrame = {
  readonly flags: number;
  /** The length field: bytes of the body as sent. */
  readonly bodyLengthBytes: number;
  /** The body after decompression. */
  readonly body: Buffer;
  /** The frame as it stood on the wire. */
  readonly wireBytes: Buffer;
};

/** Of the length field and the flags byte. */
export const frameHeadBytes = 5;
const maxInflatedBytes = 64 * 1024 * 1024;

export class FrameReader {
  readonly #maxBodyBytes: number;
  #chunks: Buffer[] = [];
  #byteCount = 0;

  /** `maxBodyBytes`: the largest body the broker may send, the MaxMessageSize that is in force. */
  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** The bytes that have arrived and make no whole frame yet. */
  get partial(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#byteCount += chunk.length;
  }

  /** The next whole frame, or `undefined` until more bytes come. Throws a WireFault. */
  next(): RawFrame | undefined {
    if (this.#byteCount < frameHeadBytes) return undefined;
    const head = this.#peek(frameHeadBytes);
    const bodyLengthBytes = head.readUInt32BE(0);
    const flags = head.readUInt8(4);
    this.#refuseBadHead(bodyLengthBytes, flags);
    if (this.#byteCount < frameHeadBytes + bodyLengthBytes) return undefined;
    const wireBytes = this.#take(frameHeadBytes + bodyLengthBytes);
    return { flags, bodyLengthBytes, body: inflate(wireBytes.subarray(frameHeadBytes), flags), wireBytes };
  }

  #refuseBadHead(bodyLengthBytes: number, flags: number): void {
    if (bodyLengthBytes < 2 || bodyLengthBytes > this.#maxBodyBytes) {
      throw new WireFault(`body length ${bodyLengthBytes} is outside 2 .. ${this.#maxBodyBytes}`);
    }
    if (flags > 2) throw new WireFault(`compression flags 0x${flags.toString(16)} mean nothing`);
  }

  /** Joins chunks only until the wanted bytes lie in the first one, so that reading stays linear. */
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
    throw new WireFault(`a body with flags ${flags} does not decompress: ${String(error)}`);
  }
}
