// A client of the retained-memory judge. It counts what comes and keeps none of it, so that all memory that grows is the broker's.

import type { VirtualSocket } from '../virtual-network.ts';
import { frameBatch, type SentFrame } from './frame-batch.ts';

export type DeliveryHandler = (id: string, client: ForgetfulClient) => void;

const FRAME_HEADER_BYTES = 5;
const nothing = Buffer.alloc(0);

export class ForgetfulClient {
  readonly #socket: VirtualSocket;
  /** Frames received, by command. */
  readonly counts = new Map<number, number>();
  /** What to do with each Deliver. */
  onDelivery: DeliveryHandler = () => undefined;
  /** The code of the last Error. */
  lastError = '';
  #rest: Buffer = nothing;

  constructor(socket: VirtualSocket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => undefined);
  }

  /** All frames in one write. */
  send(frames: readonly SentFrame[]): void {
    if (frames.length > 0 && !this.#socket.destroyed) this.#socket.write(frameBatch(frames));
  }

  /** Frames received. */
  get frameCount(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  count(command: number): number {
    return this.counts.get(command) ?? 0;
  }

  stopReading(): void {
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#socket.resume();
  }

  disconnect(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const end = at + FRAME_HEADER_BYTES + bytes.readUInt32BE(at);
      if (end > bytes.length) break;
      this.#handle(bytes.subarray(at + FRAME_HEADER_BYTES, end));
      at = end;
    }
    this.#rest = at === bytes.length ? nothing : ownCopy(bytes.subarray(at));
  }

  #handle(body: Buffer): void {
    const command = body[1] ?? 0;
    this.counts.set(command, this.count(command) + 1);
    if (command === ERROR) this.lastError = errorCodeOf(body);
    if (command === DELIVER) this.onDelivery(body.toString('latin1', 4, 4 + body.readUInt16BE(2)), this);
  }
}

const DELIVER = 26;
const ERROR = 99;

function ownCopy(bytes: Buffer): Buffer {
  const copy = Buffer.from(new ArrayBuffer(bytes.length));
  bytes.copy(copy);
  return copy;
}

/** Errors of the broker have no headers. */
function errorCodeOf(body: Buffer): string {
  let at = 4 + body.readUInt16BE(2);
  at += 2 + body.readUInt16BE(at);
  at += 4 + body.readUInt32BE(at) + 2;
  return body.toString('latin1', at + 2, at + 2 + body.readUInt16BE(at));
}
