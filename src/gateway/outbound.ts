// What is to be sent on one connection: frames gathered while a batch is worked on, and written with one write when it is
// done. Frames leave in the order in which they came, also while one of them is still being compressed.
// Implements COMPRESS (sending) and FRAME (nothing larger than the limit leaves).

import type { Duplex } from 'node:stream';
import type { Algorithm } from '../protocol/compression.ts';
import { flagsOf } from '../protocol/compression.ts';
import {
  encodeBody,
  encodedBodyLength,
  frameHeaderBytes,
  writeBody,
  writeFrameHeader,
} from '../protocol/encode.ts';
import type { MessageFields } from '../protocol/message.ts';
import { KeptContent } from './kept-content.ts';

/** A frame to send: the fields of a small one, or a body that is encoded already and must not change any more. */
export type OutboundFrame = MessageFields | EncodedBody;

export type EncodedBody = KeptContent | Buffer;

/** Bodies from this size on are handed to the socket as they are; smaller ones are copied into one buffer. */
const BY_REFERENCE_BYTES = 16_384;

/** What a write takes besides its bytes until the stream has passed it on. */
const WRITE_OVERHEAD_BYTES = 350;

export type OutboundOptions = {
  /** How a body of this length is to be compressed on this connection, if at all. */
  readonly algorithmFor: (bodyLength: number) => Algorithm | undefined;
  readonly compress: (algorithm: Algorithm, body: EncodedBody) => Buffer | Promise<Buffer>;
  /** The stream has passed on everything that was written to it up to a moment ago. */
  readonly onProgress: () => void;
  /** A frame could not be compressed: our own fault, the connection cannot go on. */
  readonly onFailure: (error: unknown) => void;
};

/** A body as it leaves, with its flags. */
type Ready = { readonly frame: OutboundFrame; readonly bodyLength: number; readonly flags: number };

/** A body that is still being compressed, and the length that it has before. */
type Awaited = { readonly ready: Promise<Ready>; readonly bodyLength: number };

export class Outbound {
  readonly #stream: Duplex;
  readonly #options: OutboundOptions;
  #frames: OutboundFrame[] = [];
  /** Flushed and not written: a frame that is being compressed, which is waited for, and those behind it. */
  #queue: (Ready | Awaited)[] = [];
  #queuedBytes = 0;
  /** Handed to the stream and not passed on: their bytes, and what each write takes besides. */
  #writtenBytes = 0;
  #isEnding = false;

  constructor(stream: Duplex, options: OutboundOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  /** Bytes that were flushed and that the stream has not passed on. */
  get unsentBytes(): number {
    return this.#stream.writableLength + this.#queuedBytes;
  }

  /** The memory that unsent frames take: small writes take more than their bytes. */
  get heldBytes(): number {
    return this.#writtenBytes + this.#queuedBytes;
  }

  push(frame: OutboundFrame): void {
    this.#frames.push(frame);
  }

  /** No frame comes any more: the stream is ended when those that are there are written. */
  end(): void {
    this.#isEnding = true;
  }

  /**
   * Writes what has gathered, in one go unless compressing takes time. All compressing begins here, so that connections
   * that are flushed together can share its results.
   */
  flush(): void {
    if (this.#stream.destroyed) return;
    const frames = this.#frames;
    this.#frames = [];
    const ready: Ready[] = [];
    for (const frame of frames) this.#takeUp(this.#prepare(frame), ready);
    this.#write(ready);
  }

  /** Adds a frame to those that are written now, unless it has to wait or stands behind one that has to. */
  #takeUp(frame: Ready | Awaited, ready: Ready[]): void {
    if (this.#queue.length === 0 && !isAwaited(frame)) {
      ready.push(frame);
      return;
    }
    this.#queue.push(frame);
    this.#queuedBytes += frame.bodyLength;
    if (this.#queue.length === 1 && isAwaited(frame)) this.#waitFor(frame);
  }

  #waitFor(first: Awaited): void {
    const goOn = (compressed: Ready): void => {
      if (this.#stream.destroyed) return;
      const behind = this.#queue.slice(1);
      this.#queue = [];
      this.#queuedBytes = 0;
      const ready = [compressed];
      for (const frame of behind) this.#takeUp(frame, ready);
      this.#write(ready);
    };
    // A failure has been reported when it came, which may be long before the frame's turn.
    first.ready.then(goOn, () => undefined);
  }

  #prepare(frame: OutboundFrame): Ready | Awaited {
    const bodyLength = isEncoded(frame) ? frame.byteLength : encodedBodyLength(frame);
    const algorithm = this.#options.algorithmFor(bodyLength);
    if (algorithm === undefined) return { frame, bodyLength, flags: 0 };
    const body = isEncoded(frame) ? frame : encodeBody(frame);
    const compressed = this.#options.compress(algorithm, body);
    if (!(compressed instanceof Promise)) return smaller(body, compressed, algorithm);
    const ready = compressed.then((result) => smaller(body, result, algorithm));
    ready.catch(this.#options.onFailure);
    return { ready, bodyLength };
  }

  #write(frames: readonly Ready[]): void {
    if (frames.length > 0) this.#writePieces(piecesOf(frames));
    if (this.#isEnding && this.#queue.length === 0) this.#stream.end();
  }

  #writePieces(pieces: readonly Buffer[]): void {
    const last = pieces.length - 1;
    let heldBytes = 0;
    for (const { length } of pieces) heldBytes += length + WRITE_OVERHEAD_BYTES;
    this.#writtenBytes += heldBytes;
    if (last > 0) this.#stream.cork();
    for (const [index, piece] of pieces.entries()) {
      if (index < last) this.#stream.write(piece);
      else this.#stream.write(piece, () => this.#passedOn(heldBytes));
    }
    if (last > 0) this.#stream.uncork();
  }

  #passedOn(heldBytes: number): void {
    this.#writtenBytes -= heldBytes;
    this.#options.onProgress();
  }
}

export function isEncoded(frame: OutboundFrame): frame is EncodedBody {
  return frame instanceof KeptContent || Buffer.isBuffer(frame);
}

function isAwaited(frame: Ready | Awaited): frame is Awaited {
  return 'ready' in frame;
}

/** The compressed body, unless that would be the longer one. */
function smaller(body: EncodedBody, compressed: Buffer, algorithm: Algorithm): Ready {
  if (compressed.length >= body.byteLength) return { frame: body, bodyLength: body.byteLength, flags: 0 };
  return { frame: compressed, bodyLength: compressed.length, flags: flagsOf(algorithm) };
}

/** The bytes of the frames, in order: neighbours copied into one buffer, large bodies as they are. */
function piecesOf(frames: readonly Ready[]): Buffer[] {
  let copied = 0;
  for (const frame of frames) copied += frameHeaderBytes + (isByReference(frame) ? 0 : frame.bodyLength);
  const buffer = Buffer.allocUnsafe(copied);
  const pieces: Buffer[] = [];
  let from = 0;
  let at = 0;
  for (const ready of frames) {
    at = writeFrameHeader(buffer, at, ready.bodyLength, ready.flags);
    const { frame } = ready;
    if (!isEncoded(frame)) at = writeBody(frame, buffer, at);
    else if (isByReference(ready)) {
      pieces.push(buffer.subarray(from, at), Buffer.isBuffer(frame) ? frame : frame.toBytes());
      from = at;
    } else if (Buffer.isBuffer(frame)) at += frame.copy(buffer, at);
    else at = frame.writeTo(buffer, at);
  }
  if (from < at) pieces.push(buffer.subarray(from, at));
  return pieces;
}

function isByReference({ frame, bodyLength }: Ready): boolean {
  return bodyLength >= BY_REFERENCE_BYTES && isEncoded(frame);
}
