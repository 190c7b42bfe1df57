// The client's end of a connection without a socket. Counts the bytes that come back, and reads frames only when asked to: reading every
// delivery would cost more than the skeleton does.
import { Duplex } from 'node:stream';
import { decodeBody } from '../../conformance/src/wire/decode.ts';
import type { DecodedBody } from '../../conformance/src/wire/frame.ts';
import { frameHeadBytes } from '../../conformance/src/wire/frame-reader.ts';
import { FrameSplitter } from '../../conformance/src/wire/frame-splitter.ts';

/** As much as Node reads from a socket in one turn. */
const chunkBytes = 64 * 1024;

export type ReadFrame = DecodedBody & { readonly frameBytes: number };

export class Peer extends Duplex {
  receivedBytes = 0;
  /** Called before bytes go either way. */
  onBytes: () => void = () => undefined;
  #splitter: FrameSplitter | undefined;

  constructor() {
    // Nothing is held back on this end: the service decides when it reads.
    super({ highWaterMark: 2 ** 30 });
  }

  /** The frames that come back from now on, until `stopReading`. */
  readFrames(): ReadFrame[] {
    const frames: ReadFrame[] = [];
    this.#splitter = new FrameSplitter((view) => {
      const body = view.body();
      frames.push({ ...decodeBody(body), frameBytes: frameHeadBytes + body.length });
    });
    return frames;
  }

  stopReading(): void {
    this.#splitter = undefined;
  }

  /** Sends the bytes as a socket does, in chunks. */
  send(bytes: Buffer): void {
    this.onBytes();
    for (let at = 0; at < bytes.length; at += chunkBytes) this.push(bytes.subarray(at, at + chunkBytes));
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#receive(bytes);
    done();
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    for (const { chunk } of chunks) this.#receive(chunk);
    done();
  }

  #receive(bytes: Buffer): void {
    this.onBytes();
    this.receivedBytes += bytes.length;
    this.#splitter?.push(bytes);
  }
}
