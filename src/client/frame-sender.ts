// Sends a client's frames: compresses as agreed, and keeps the order of the commands during a compression. frame-gatherer.ts writes.
// Implements CLIENT-002, CLIENT-004.

import type { Duplex } from 'node:stream';
import { type Algorithm, type Compressor, flagsOf } from '../protocol/compression.ts';
import { encodeFrame, frameHeaderBytes, writeFrameHeader } from '../protocol/encode.ts';
import type { MessageFields } from '../protocol/message.ts';
import type { ClientSession } from '../session/client-session.ts';
import { FrameGatherer } from './frame-gatherer.ts';

export class FrameSender {
  readonly #stream: Duplex;
  readonly #gatherer: FrameGatherer;
  readonly #session: ClientSession;
  readonly #compressor: Compressor;
  /** Resolves when all frames before have been written; undefined when they have. */
  #tail: Promise<void> | undefined;

  constructor(stream: Duplex, session: ClientSession, compressor: Compressor) {
    this.#stream = stream;
    this.#gatherer = new FrameGatherer(stream);
    this.#session = session;
    this.#compressor = compressor;
  }

  /** @throws RangeError when the message is over the limit of its size */
  send(fields: MessageFields): void {
    const bodyBytes = this.#session.bodyBytesOf(fields);
    const algorithm = this.#session.outboundAlgorithm(bodyBytes);
    if (algorithm !== undefined) this.#sendInOrder(this.#compress(encodeFrame(fields), algorithm));
    else if (this.#tail === undefined) this.#gatherer.add(fields, bodyBytes);
    else this.#sendInOrder(encodeFrame(fields));
  }

  /** Sends a frame as it is: the Connect, which is never compressed. */
  sendFrame(frame: Buffer): void {
    this.#sendInOrder(frame);
  }

  /** Ends the stream after everything that was sent. */
  end(): void {
    if (this.#tail === undefined) this.#gatherer.end();
    else void this.#tail.then(() => this.#gatherer.end());
  }

  #compress(frame: Buffer, algorithm: Algorithm): Buffer | Promise<Buffer> {
    const body = this.#compressor.compress(algorithm, frame.subarray(frameHeaderBytes));
    const wrap = (compressed: Buffer) => smaller(frame, compressed, flagsOf(algorithm));
    return body instanceof Promise ? body.then(wrap) : wrap(body);
  }

  #sendInOrder(frame: Buffer | Promise<Buffer>): void {
    if (this.#tail === undefined && !(frame instanceof Promise)) {
      this.#gatherer.addFrame(frame);
      return;
    }
    const tail = Promise.all([frame, this.#tail])
      .then(([ready]) => this.#gatherer.addFrame(ready))
      .catch((error: Error) => void this.#stream.destroy(error))
      .finally(() => {
        if (this.#tail === tail) this.#tail = undefined;
      });
    this.#tail = tail;
  }
}

/** Sends the original body if compression made it longer. */
function smaller(frame: Buffer, compressed: Buffer, flags: number): Buffer {
  if (frameHeaderBytes + compressed.length >= frame.length) return frame;
  const result = Buffer.allocUnsafe(frameHeaderBytes + compressed.length);
  compressed.copy(result, writeFrameHeader(result, 0, compressed.length, flags));
  return result;
}
