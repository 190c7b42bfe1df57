// Turns the bytes of one connection into messages, for both roles: splits frames, passes compressed bodies out to be decompressed, and
// decodes. Reads nothing while a body is being decompressed, so the order of the frames is kept. Does not know the meaning of commands.
// Implements FRAME-003 to FRAME-008, COMPRESS-014 and COMPRESS-015.

import { ErrorCode } from '../model/error-code.ts';
import { type Algorithm, algorithmOf } from '../protocol/compression.ts';
import { type DecodedMessage, decodeBody, newLastQueueName } from '../protocol/decode.ts';
import { framingFault, isFault, type ProtocolFault } from '../protocol/fault.ts';
import { Frame, FrameSplitter } from '../protocol/frame-splitter.ts';
import type { ProtocolLimits } from '../protocol/limits.ts';

/** A request to decompress a body to at most `limitBytes`. Nothing more is read before the result was passed back. */
export type InflateEvent = {
  readonly kind: 'inflate';
  readonly algorithm: Algorithm;
  readonly body: Buffer;
  readonly limitBytes: number;
};

export class DecodedMessageEvent {
  readonly kind = 'message';
  readonly message: DecodedMessage;
  /** With the uncompressed body that the message was decoded from. */
  readonly frame: Frame;

  constructor(message: DecodedMessage, frame: Frame) {
    this.message = message;
    this.frame = frame;
  }

  /** See `Frame.body`. */
  get body(): Buffer {
    return this.frame.body;
  }
}

export type ReadEvent = DecodedMessageEvent | InflateEvent | ProtocolFault;

export class MessageReader {
  readonly #limits: ProtocolLimits;
  readonly #splitter: FrameSplitter;
  readonly #lastQueueName = newLastQueueName();
  #inflation: 'none' | 'awaited' | Buffer | ProtocolFault = 'none';
  #inflatedBytes = 0;

  constructor(limits: ProtocolLimits) {
    this.#limits = limits;
    this.#splitter = new FrameSplitter(limits);
  }

  /** Takes over a chunk, which the caller must not change before `releaseChunk`. */
  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  /** See `FrameSplitter.releaseChunk`. */
  releaseChunk(): void {
    this.#splitter.releaseChunk();
  }

  /** The result of the last request to decompress. Throws, for an internal error, when there was none. */
  handleInflated(result: Buffer | ProtocolFault): void {
    if (this.#inflation !== 'awaited') throw new Error('No inflated body was asked for.');
    this.#inflation = result;
  }

  /** The message, fault or request of the next frame; undefined when the frame is incomplete, or while a decompressed body is awaited. */
  next(options: { readonly compressionAllowed: boolean }): ReadEvent | undefined {
    if (this.#inflation !== 'none') return this.#takeInflated();
    const frame = this.#splitter.next();
    this.#inflatedBytes = 0;
    if (frame === undefined || isFault(frame)) return frame;
    const algorithm = algorithmOf(frame.flags);
    if (algorithm === undefined) return this.#read(frame);
    if (!options.compressionAllowed) return this.#refuseCompression();
    this.#inflation = 'awaited';
    return {
      kind: 'inflate',
      algorithm,
      body: frame.body,
      limitBytes: this.#limits.maxDecompressedSizeBytes,
    };
  }

  /** The decompressed length of the body that was read last, in bytes; 0 if it was not compressed. */
  get inflatedBytes(): number {
    return this.#inflatedBytes;
  }

  /** See `FrameSplitter.hasPartialFrame`. */
  get hasPartialFrame(): boolean {
    return this.#splitter.hasPartialFrame;
  }

  get frameCount(): number {
    return this.#splitter.frameCount;
  }

  /** See `FrameSplitter.announcedBytes`. */
  get announcedBytes(): number {
    return this.#splitter.announcedBytes;
  }

  get pendingBytes(): number {
    return this.#splitter.pendingBytes;
  }

  stop(): void {
    this.#splitter.stop();
  }

  #takeInflated(): ReadEvent | undefined {
    const result = this.#inflation;
    if (result === 'awaited' || result === 'none') return undefined;
    this.#inflation = 'none';
    if (isFault(result)) return result;
    this.#inflatedBytes = result.length;
    return this.#read(new Frame(0, result, 0, result.length, true));
  }

  #read(frame: Frame): DecodedMessageEvent | ProtocolFault {
    const message = decodeBody(frame, this.#lastQueueName);
    return isFault(message) ? message : new DecodedMessageEvent(message, frame);
  }

  #refuseCompression(): ProtocolFault {
    this.stop();
    return framingFault(ErrorCode.InvalidMessage, 'A frame was compressed before the handshake.');
  }
}
