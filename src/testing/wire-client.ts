// A client for tests of the broker: it sends what the test says, keeps what comes, and does nothing on its own account. It reads
// with the naive decoder and writes with the tests' own writer, so that it shares nothing with the code under test.

import type { Duplex } from 'node:stream';
import { commandName } from '../protocol/command.ts';
import { decodeNaively, type NaiveMessage } from './naive-decoder.ts';
import { type BodyParts, bodyBytes, frameBytes } from './wire-bytes.ts';

export type ReceivedFrame = NaiveMessage & { readonly flags: number; readonly bodyLength: number };

/** Decompresses a body according to the frame's flags byte. */
export type Inflate = (flags: number, body: Buffer) => Buffer;

export class WireClient {
  readonly stream: Duplex;
  /** What was read, in the pieces in which it came: the broker's writes, unless they are large. */
  readonly chunks: Buffer[] = [];
  readonly #inflate: Inflate;
  #received: ReceivedFrame[] = [];
  #bytes: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  #isClosed = false;

  constructor(stream: Duplex, inflate: Inflate = (_flags, body) => body) {
    this.stream = stream;
    this.#inflate = inflate;
    stream.on('data', (chunk: Buffer) => this.#handleBytes(chunk));
    stream.on('end', () => {
      this.#hasEnded = true;
    });
    stream.on('close', () => {
      this.#isClosed = true;
    });
    stream.on('error', () => undefined);
  }

  /** Whether the broker has ended its side, or the connection is lost. */
  get isOver(): boolean {
    return this.#hasEnded || this.#isClosed;
  }

  /** All frames in one write. */
  send(...frames: readonly BodyParts[]): void {
    this.sendRaw(framesOf(...frames));
  }

  sendRaw(bytes: Buffer): void {
    this.stream.write(bytes);
  }

  /** Frames received since the last call. */
  take(): readonly ReceivedFrame[] {
    const received = this.#received;
    this.#received = [];
    return received;
  }

  /** Frames received since the last call, one line each: see `describeFrame`. */
  lines(): readonly string[] {
    return this.take().map(describeFrame);
  }

  #handleBytes(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    while (this.#bytes.length >= 5 && this.#bytes.length >= 5 + this.#bytes.readUInt32BE(0)) {
      const end = 5 + this.#bytes.readUInt32BE(0);
      this.#handleFrame(this.#bytes[4] ?? 0, this.#bytes.subarray(5, end));
      this.#bytes = this.#bytes.subarray(end);
    }
  }

  #handleFrame(flags: number, body: Buffer): void {
    const message = decodeNaively(this.#inflate(flags, body));
    if (message === 'broken') throw new Error('The broker sent a body that the naive decoder cannot read.');
    this.#received.push({ ...message, flags, bodyLength: body.length });
  }
}

/** The frames as bytes, one behind the other. */
export function framesOf(...frames: readonly BodyParts[]): Buffer {
  return Buffer.concat(frames.map((parts) => frameBytes(bodyBytes(parts))));
}

/** Command, id, queue and error code: what most tests look at. */
export function describeFrame({ command, id, queue, errorCode }: ReceivedFrame): string {
  return [commandName(command) ?? command, id, queue, errorCode].filter((part) => part !== '').join(' ');
}

export function payloadOf(frame: ReceivedFrame | undefined): string {
  return Buffer.from(frame?.payload ?? []).toString();
}

export function headersOf(frame: ReceivedFrame | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(frame?.headers ?? []);
}
