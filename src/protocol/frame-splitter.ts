// Splits a stream of bytes into frames. Reads the 5 bytes before a body, but not the body. Allocates memory only for bytes that have
// arrived, after it has checked the header, and touches each byte at most a constant number of times, however the stream is cut. Implements
// FRAME-004 to FRAME-006, FRAME-015 to FRAME-017.
//
//    0                       4        5
//   +-----------------------+--------+----------------- - - -
//   | body length N, 4 bytes | flags  | body, N bytes          2 <= N <= maxMessageSizeBytes; flags 0, 1, 2
//   +-----------------------+--------+----------------- - - -

import { ErrorCode } from '../model/error-code.ts';
import { ByteBacklog } from './byte-backlog.ts';
import { highestFrameFlags } from './compression.ts';
import { frameHeaderBytes } from './encode.ts';
import { framingFault, type ProtocolFault } from './fault.ts';
import { minMessageSizeBytes, type ProtocolLimits } from './limits.ts';

/**
 * A frame, with the place of its body in the bytes that it arrived in. Most bodies are decoded there: with a view of each, messages of 100 bytes
 * would cost 4 percent more, and those that 100 subscribers acknowledge 8 percent (docs/internals/performance.md).
 */
export class Frame {
  /** 0, 1 or 2: see `algorithmOf`. */
  readonly flags: number;
  readonly bytes: Buffer;
  /** Where the body begins in `bytes`, and where it ends. */
  readonly start: number;
  readonly end: number;
  /** Whether nothing else uses `bytes`: whoever keeps the body need not copy it. */
  readonly isAlone: boolean;

  constructor(flags: number, bytes: Buffer, start: number, end: number, isAlone: boolean) {
    this.flags = flags;
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.isAlone = isAlone;
  }

  /** As sent, still compressed if the flags say so. A view that keeps its chunk alive: copy it to keep it longer. */
  get body(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }
}

/** Where the body of a frame lies. */
export type FramePlace = Pick<Frame, 'bytes' | 'start' | 'end' | 'isAlone'>;

/** Bytes that are reserved for an incomplete header. */
const headerRoomBytes = 64;

/** Room for the id and the queue of every message. */
const MAX_SHOWN_BYTES = 1_024;

export class FrameSplitter {
  readonly #limits: ProtocolLimits;
  /** Bytes that were not read yet: more than one chunk only when chunks arrive faster than frames are taken. */
  readonly #input = new ByteBacklog();
  /** The received part of an incomplete frame from earlier chunks; empty between frames. */
  readonly #partial = new ByteBacklog();
  #frameCount = 0;
  #announcedBytes = 0;
  #stopped = false;

  constructor(limits: ProtocolLimits) {
    this.#limits = limits;
  }

  /** Takes over a chunk, which the caller must not change before `releaseChunk`. After a fault or `stop` nothing is taken. */
  push(chunk: Buffer): void {
    if (!this.#stopped) this.#input.append(chunk, Number.POSITIVE_INFINITY);
  }

  /** From now on the caller may change the chunks, and with them the bodies of the frames that it got. The rest is copied. */
  releaseChunk(): void {
    this.#input.releaseChunk();
  }

  /**
   * The next whole frame; undefined when it has not arrived in full; or, once, the fault that ends the stream
   * (MESSAGE_TOO_LARGE for a length over the limit, else INVALID_MESSAGE).
   */
  next(): Frame | ProtocolFault | undefined {
    if (this.#stopped) return undefined;
    if (this.hasPartialFrame) this.#complete(frameHeaderBytes);
    const source = this.hasPartialFrame ? this.#partial : this.#input;
    if (source.length < frameHeaderBytes) {
      this.#announcedBytes = 0;
      return this.#waitFor(headerRoomBytes);
    }
    const bodyLength = source.readUInt32BE(0);
    const flags = source.byteAt(4);
    const fault = this.#checkHeader(bodyLength, flags);
    if (fault !== undefined) {
      const isOversized = fault.code === ErrorCode.MessageTooLarge;
      const oversized = isOversized && { bodyBytes: bodyLength, flags, start: this.#copyStart(source) };
      this.stop();
      return oversized ? { ...fault, oversized } : fault;
    }
    const frameLength = frameHeaderBytes + bodyLength;
    if (source === this.#partial) this.#complete(frameLength);
    if (source.length < frameLength) {
      this.#announcedBytes = frameLength;
      return this.#waitFor(frameLength);
    }
    this.#frameCount += 1;
    const { bytes, start } = source;
    source.drop(frameLength);
    return new Frame(flags, bytes, start + frameHeaderBytes, start + frameLength, source === this.#partial);
  }

  /** True while a frame has arrived in part. Reliable after `next` returned undefined. */
  get hasPartialFrame(): boolean {
    return this.#partial.length > 0;
  }

  /** Whole frames returned so far: distinguishes a partial frame from an earlier one. */
  get frameCount(): number {
    return this.#frameCount;
  }

  /** Header and body of the frame that has arrived in part, as its header announces it; 0 before the header, and between frames. */
  get announcedBytes(): number {
    return this.hasPartialFrame ? this.#announcedBytes : 0;
  }

  /** Received bytes that are not yet part of a returned frame. */
  get pendingBytes(): number {
    return this.#input.length + this.#partial.length;
  }

  /** Discards the received bytes and all later ones. */
  stop(): void {
    this.#stopped = true;
    this.#input.clear();
    this.#partial.clear();
  }

  #checkHeader(bodyLength: number, flags: number): ProtocolFault | undefined {
    const limit = this.#limits.maxMessageSizeBytes;
    if (bodyLength < minMessageSizeBytes) {
      return framingFault(ErrorCode.InvalidMessage, `A frame of ${bodyLength} bytes holds no message.`);
    }
    if (bodyLength > limit) {
      return framingFault(
        ErrorCode.MessageTooLarge,
        `A frame of ${bodyLength} bytes is over the limit of ${limit}.`,
      );
    }
    if (flags <= highestFrameFlags) return undefined;
    return framingFault(ErrorCode.InvalidMessage, `The compression flags ${flags} are unknown.`);
  }

  /** The first bytes of a body, as far as they have arrived: its receiver may want to know whose it is. */
  #copyStart(source: ByteBacklog): Buffer {
    const end = frameHeaderBytes + MAX_SHOWN_BYTES;
    if (source === this.#partial) this.#complete(end);
    const { bytes, start, length } = source;
    return Buffer.from(bytes.subarray(start + frameHeaderBytes, start + Math.min(length, end)));
  }

  /** Moves bytes from the input to the partial frame until it has `length` of them or the input is empty. */
  #complete(length: number): void {
    const missing = Math.min(length - this.#partial.length, this.#input.length);
    if (missing > 0) this.#partial.append(this.#input.take(missing), length);
  }

  /** Copies the rest of the input as a partial frame, so that a few bytes do not keep a whole chunk alive. */
  #waitFor(expectedLength: number): undefined {
    const rest = this.#input.length;
    if (rest > 0) this.#partial.appendCopy(this.#input.take(rest), expectedLength);
    return undefined;
  }
}
