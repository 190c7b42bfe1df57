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

/** A frame to send: the fields of a small one, or a body that is encoded already and must not change any more. */
export type OutboundFrame = MessageFields | Buffer;

/** Bodies from this size on are handed to the socket as they are; smaller ones are copied into one buffer. */
const BY_REFERENCE_BYTES = 16_384;

export type OutboundOptions = {
  /** How a body of this length is to be compressed on this connection, if at all. */
  readonly algorithmFor: (bodyLength: number) => Algorithm | undefined;
  readonly compress: (algorithm: Algorithm, body: Buffer) => Buffer | Promise<Buffer>;
  /** A frame could not be compressed: our own fault, the connection cannot go on. */
  readonly onFailure: (error: unknown) => void;
};

/** A body as it leaves, with its flags. */
type Ready = { readonly frame: OutboundFrame; readonly bodyLength: number; readonly flags: number };

export class Outbound {
  readonly #stream: Duplex;
  readonly #options: OutboundOptions;
  #frames: OutboundFrame[] = [];
  #compressing = false;
  #ending = false;

  constructor(stream: Duplex, options: OutboundOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  /** Bytes that the stream has taken and not passed on. */
  get unsentBytes(): number {
    return this.#stream.writableLength;
  }

  push(frame: OutboundFrame): void {
    this.#frames.push(frame);
  }

  /** No frame comes any more: the stream is ended when those that are there are written. */
  end(): void {
    this.#ending = true;
  }

  /** Writes what has gathered, in one go unless compressing takes time. */
  flush(): void {
    if (this.#compressing || this.#stream.destroyed) return;
    if (this.#frames.length > 0) {
      const frames = this.#frames;
      this.#frames = [];
      this.#writeAll(frames);
    }
    if (this.#ending && !this.#compressing) this.#stream.end();
  }

  #writeAll(frames: readonly OutboundFrame[]): void {
    const ready: Ready[] = [];
    for (let index = 0; index < frames.length; index += 1) {
      const frame = frames[index];
      if (frame === undefined) continue;
      const prepared = this.#prepare(frame);
      if (prepared instanceof Promise) {
        this.#write(ready);
        this.#waitFor(prepared, frames.slice(index + 1));
        return;
      }
      ready.push(prepared);
    }
    this.#write(ready);
  }

  #prepare(frame: OutboundFrame): Ready | Promise<Ready> {
    const bodyLength = Buffer.isBuffer(frame) ? frame.length : encodedBodyLength(frame);
    const algorithm = this.#options.algorithmFor(bodyLength);
    if (algorithm === undefined) return { frame, bodyLength, flags: 0 };
    const body = Buffer.isBuffer(frame) ? frame : encodeBody(frame);
    const compressed = this.#options.compress(algorithm, body);
    if (compressed instanceof Promise) return compressed.then((result) => smaller(body, result, algorithm));
    return smaller(body, compressed, algorithm);
  }

  #waitFor(prepared: Promise<Ready>, rest: readonly OutboundFrame[]): void {
    this.#compressing = true;
    prepared.then((ready) => {
      this.#compressing = false;
      if (this.#stream.destroyed) return;
      this.#frames = [...rest, ...this.#frames];
      this.#write([ready]);
      this.flush();
    }, this.#options.onFailure);
  }

  #write(frames: readonly Ready[]): void {
    if (frames.length === 0) return;
    const pieces = piecesOf(frames);
    if (pieces.length === 1) {
      this.#stream.write(pieces[0]);
      return;
    }
    this.#stream.cork();
    for (const piece of pieces) this.#stream.write(piece);
    this.#stream.uncork();
  }
}

/** The compressed body, unless that would be the longer one. */
function smaller(body: Buffer, compressed: Buffer, algorithm: Algorithm): Ready {
  if (compressed.length >= body.length) return { frame: body, bodyLength: body.length, flags: 0 };
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
    if (!Buffer.isBuffer(frame)) at = writeBody(frame, buffer, at);
    else if (!isByReference(ready)) at += frame.copy(buffer, at);
    else {
      pieces.push(buffer.subarray(from, at), frame);
      from = at;
    }
  }
  if (from < at) pieces.push(buffer.subarray(from, at));
  return pieces;
}

function isByReference({ frame, bodyLength }: Ready): boolean {
  return bodyLength >= BY_REFERENCE_BYTES && Buffer.isBuffer(frame);
}
