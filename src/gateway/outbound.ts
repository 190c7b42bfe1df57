// Unsent output of one connection: frames that are queued while a batch is processed, and written with one write when it is done. Keeps the
// order of the frames, also while one of them is being compressed. Implements COMPRESS-004 to COMPRESS-008 and FRAME-018 on the sending
// side.

import type { Duplex } from 'node:stream';
import type { Algorithm } from '../protocol/compression.ts';
import { flagsOf } from '../protocol/compression.ts';
import { encodeBody, encodedBodyLength } from '../protocol/encode.ts';
import { type EncodedBody, isEncoded, type OutboundFrame, type ReadyFrame } from './outbound-frame.ts';
import { type Write, WriteBatch } from './write-batch.ts';
import type { WriteBuffer, WriteBuffers } from './write-buffers.ts';

/** Memory that a write takes in addition to its bytes, until the stream has flushed it. */
const WRITE_OVERHEAD_BYTES = 350;

export type OutboundOptions = {
  /** Whether nobody reads the bytes of a write any more when the stream has called back: then their memory is used again. */
  readonly releasesWrites: boolean;
  readonly buffers: WriteBuffers;
  /** Returns the algorithm for a body of this length on this connection; undefined: no compression. */
  readonly algorithmFor: (bodyLength: number) => Algorithm | undefined;
  readonly compress: (algorithm: Algorithm, body: EncodedBody) => Buffer | Promise<Buffer>;
  /** Called when the stream has flushed a write. */
  readonly onProgress: () => void;
  /** Called when a frame could not be compressed: an internal error, after which the connection cannot continue. */
  readonly onFailure: (error: unknown) => void;
};

/** A body that is being compressed, with its uncompressed length. */
type Awaited = { readonly ready: Promise<ReadyFrame>; readonly bodyLength: number };

export class Outbound {
  readonly #stream: Duplex;
  readonly #options: OutboundOptions;
  #frames: OutboundFrame[] = [];
  /** Flushed but not written: a frame that is being compressed, and the frames behind it. */
  #queue: (ReadyFrame | Awaited)[] = [];
  #queuedBytes = 0;
  /** Memory of the writes that the stream has not flushed, with their overhead. */
  #writtenBytes = 0;
  #isEnding = false;

  constructor(stream: Duplex, options: OutboundOptions) {
    this.#stream = stream;
    this.#options = options;
  }

  /** Bytes of flushed frames that the stream has not sent. */
  get unsentBytes(): number {
    return this.#stream.writableLength + this.#queuedBytes;
  }

  /** Memory that unsent frames take: small writes take more than their bytes. */
  get heldBytes(): number {
    return this.#writtenBytes + this.#queuedBytes;
  }

  push(frame: OutboundFrame): void {
    this.#frames.push(frame);
  }

  /** Ends the stream after the queued frames were written. No frame may be pushed after this call. */
  end(): void {
    this.#isEnding = true;
  }

  /**
   * Writes the queued frames, with one write unless compressing takes time. All compressing starts here, so that connections that are
   * flushed together can share its results. They share their bytes if they share `writes`.
   */
  flush(writes?: WriteBatch): void {
    if (this.#stream.destroyed) return;
    const frames = this.#frames;
    this.#frames = [];
    const ready: ReadyFrame[] = [];
    for (const frame of frames) this.#enqueue(this.#prepare(frame), ready);
    this.#write(ready, writes);
  }

  /** Adds a frame to `ready`, unless it is being compressed or is behind a frame that is. */
  #enqueue(frame: ReadyFrame | Awaited, ready: ReadyFrame[]): void {
    if (this.#queue.length === 0 && !isAwaited(frame)) {
      ready.push(frame);
      return;
    }
    this.#queue.push(frame);
    this.#queuedBytes += frame.bodyLength;
    if (this.#queue.length === 1 && isAwaited(frame)) this.#waitFor(frame);
  }

  #waitFor(first: Awaited): void {
    const writeRest = (compressed: ReadyFrame): void => {
      if (this.#stream.destroyed) return;
      const behind = this.#queue.slice(1);
      this.#queue = [];
      this.#queuedBytes = 0;
      const ready = [compressed];
      for (const frame of behind) this.#enqueue(frame, ready);
      this.#write(ready);
    };
    // The failure was reported when it happened, which may be long before the frame's turn.
    first.ready.then(writeRest, () => undefined);
  }

  #prepare(frame: OutboundFrame): ReadyFrame | Awaited {
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

  #write(frames: readonly ReadyFrame[], shared?: WriteBatch): void {
    if (frames.length > 0) {
      const writes = shared ?? new WriteBatch(this.#options.buffers);
      this.#writePieces(writes.writeOf(frames));
      if (shared === undefined) writes.end();
    }
    if (this.#isEnding && this.#queue.length === 0) this.#stream.end();
  }

  #writePieces({ pieces, buffer }: Write): void {
    const last = pieces.length - 1;
    let heldBytes = buffer.spareBytes;
    for (const { length } of pieces) heldBytes += length + WRITE_OVERHEAD_BYTES;
    this.#writtenBytes += heldBytes;
    buffer.retain();
    if (last > 0) this.#stream.cork();
    for (const [index, piece] of pieces.entries()) {
      if (index < last) this.#stream.write(piece);
      else this.#stream.write(piece, (error) => this.#writeDone(heldBytes, error ? undefined : buffer));
    }
    if (last > 0) this.#stream.uncork();
  }

  /** `buffer`: undefined if the write has failed. Then, or when the stream is destroyed, it is not known whether somebody still reads it. */
  #writeDone(heldBytes: number, buffer: WriteBuffer | undefined): void {
    this.#writtenBytes -= heldBytes;
    if (this.#options.releasesWrites && !this.#stream.destroyed) buffer?.release();
    this.#options.onProgress();
  }
}

function isAwaited(frame: ReadyFrame | Awaited): frame is Awaited {
  return 'ready' in frame;
}

/** The compressed body, unless it is longer than the original. */
function smaller(body: EncodedBody, compressed: Buffer, algorithm: Algorithm): ReadyFrame {
  if (compressed.length >= body.byteLength) return { frame: body, bodyLength: body.byteLength, flags: 0 };
  return { frame: compressed, bodyLength: compressed.length, flags: flagsOf(algorithm) };
}
