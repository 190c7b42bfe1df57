// Sends a client's frames: compresses as agreed, keeps the order of the commands during a compression, and combines the frames of one turn
// into one write. Implements CLIENT-002, CLIENT-004.

import type { Duplex } from 'node:stream';
import { type Compressor, flagsOf } from '../protocol/compression.ts';
import { frameHeaderBytes, writeFrameHeader } from '../protocol/encode.ts';
import type { MessageFields } from '../protocol/message.ts';
import type { ClientSession } from '../session/client-session.ts';

export class FrameSender {
  readonly #stream: Duplex;
  readonly #session: ClientSession;
  readonly #compressor: Compressor | undefined;
  /** Resolves when all frames before have been written; undefined when they have. */
  #tail: Promise<void> | undefined;
  #isCorked = false;

  constructor(stream: Duplex, session: ClientSession, compressor: Compressor | undefined) {
    this.#stream = stream;
    this.#session = session;
    this.#compressor = compressor;
  }

  /** @throws RangeError when the message is over the limit of its size */
  send(fields: MessageFields): void {
    this.#sendInOrder(this.#compress(this.#session.encodeCommand(fields)));
  }

  /** Sends a frame as it is: the Connect, which is never compressed. */
  sendFrame(frame: Buffer): void {
    this.#sendInOrder(frame);
  }

  /** Ends the stream after everything that was sent. */
  end(): void {
    if (this.#tail === undefined) this.#stream.end();
    else void this.#tail.then(() => this.#stream.end());
  }

  #compress(frame: Buffer): Buffer | Promise<Buffer> {
    const algorithm = this.#session.outboundAlgorithm(frame.length - frameHeaderBytes);
    if (algorithm === undefined || this.#compressor === undefined) return frame;
    const body = this.#compressor.compress(algorithm, frame.subarray(frameHeaderBytes));
    const wrap = (compressed: Buffer) => smaller(frame, compressed, flagsOf(algorithm));
    return body instanceof Promise ? body.then(wrap) : wrap(body);
  }

  #sendInOrder(frame: Buffer | Promise<Buffer>): void {
    if (this.#tail === undefined && !(frame instanceof Promise)) {
      this.#write(frame);
      return;
    }
    const tail = Promise.all([frame, this.#tail])
      .then(([ready]) => this.#write(ready))
      .catch((error: Error) => void this.#stream.destroy(error))
      .finally(() => {
        if (this.#tail === tail) this.#tail = undefined;
      });
    this.#tail = tail;
  }

  #write(frame: Buffer): void {
    if (!this.#stream.writable) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#stream.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#stream.uncork();
      });
    }
    this.#stream.write(frame);
  }
}

/** Sends the original body if compression made it longer. */
function smaller(frame: Buffer, compressed: Buffer, flags: number): Buffer {
  if (frameHeaderBytes + compressed.length >= frame.length) return frame;
  const result = Buffer.allocUnsafe(frameHeaderBytes + compressed.length);
  compressed.copy(result, writeFrameHeader(result, 0, compressed.length, flags));
  return result;
}
