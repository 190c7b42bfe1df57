// Connections without a network: two ends of a duplex stream, the bytes carried from one to the other by the tasks of an
// environment, so that they arrive in an order that can be repeated. A line can cut, stall and break what it carries, and
// pushes back like a socket with a full buffer when the other end does not read.

import { Duplex } from 'node:stream';
import type { Scheduler } from '../model/environment.ts';
import { ownCopy, passLent } from './lent-chunk.ts';

export type VirtualConnection = {
  readonly client: VirtualSocket;
  readonly server: VirtualSocket;
};

export type LineOptions = {
  /** How a piece of the stream is cut before it is carried; the pieces joined must be the same bytes. Default: not at all. */
  readonly cut?: (chunk: Buffer) => readonly Buffer[];
};

/** A connection between two ends that have done nothing yet. */
export function openVirtualConnection(scheduler: Scheduler, options: LineOptions = {}): VirtualConnection {
  const client = new VirtualSocket(scheduler, options);
  const server = new VirtualSocket(scheduler, options, { reusesChunks: true });
  client.attachTo(server);
  server.attachTo(client);
  return { client, server };
}

type Piece = { readonly bytes: Buffer; readonly done: () => void } | 'end';

/** What is read ahead and what a write may leave unsent. Node.js 20 has 16 KiB by default, and later versions 64. */
const HIGH_WATER_MARK_BYTES = 65_536;

/** One end. Half-open like the sockets of the broker: each side ends its own direction. */
export class VirtualSocket extends Duplex {
  readonly #scheduler: Scheduler;
  readonly #options: LineOptions;
  readonly #reusesChunks: boolean;
  #peer: VirtualSocket | undefined;
  /** On the way to the peer, in order. */
  #line: Piece[] = [];
  #isCarrying = false;
  #isStalled = false;
  /** The reader of this end has not taken what came; nothing more is carried to it before it does. */
  #isFull = false;

  /** `reusesChunks`: other bytes are read into a chunk when its listeners have returned, as into the buffer of a listener. */
  constructor(scheduler: Scheduler, options: LineOptions, { reusesChunks = false } = {}) {
    super({ allowHalfOpen: true, highWaterMark: HIGH_WATER_MARK_BYTES });
    this.#reusesChunks = reusesChunks;
    this.#scheduler = scheduler;
    this.#options = options;
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    const [chunk] = args;
    if (event !== 'data' || !this.#reusesChunks || !Buffer.isBuffer(chunk)) return super.emit(event, ...args);
    return passLent(chunk, (lent) => super.emit(event, lent));
  }

  /** Done once, by who makes the pair. */
  attachTo(peer: VirtualSocket): void {
    this.#peer = peer;
  }

  /** Nothing that this end sends arrives any more, until `resumeLine`. */
  stallLine(): void {
    this.#isStalled = true;
  }

  resumeLine(): void {
    this.#isStalled = false;
    this.#carryOn();
  }

  /** The connection is lost: both ends see an error, and bytes in transit are lost. */
  breakLine(): void {
    this.destroy(connectionReset());
    this.#peer?.destroy(connectionReset());
  }

  override _write(chunk: Buffer, _encoding: string, callback: () => void): void {
    const pieces = this.#options.cut?.(chunk) ?? [chunk];
    const last = pieces.length - 1;
    for (const [index, bytes] of pieces.entries()) {
      this.#line.push({ bytes: ownCopy(bytes), done: index === last ? callback : () => undefined });
    }
    this.#carryOn();
  }

  override _final(callback: () => void): void {
    this.#line.push('end');
    this.#carryOn();
    callback();
  }

  override _read(): void {
    this.#isFull = false;
    if (this.#peer !== undefined) this.#peer.#carryOn();
  }

  /** As with sockets, the other end reads what had arrived and then the end. */
  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#line = [];
    this.#isFull = false;
    const peer = this.#peer;
    if (peer !== undefined) {
      this.#scheduler.soon(() => peer.#receiveEnd());
      // Later bytes of the other end are dropped.
      peer.#carryOn();
    }
    callback(error);
  }

  #carryOn(): void {
    const peer = this.#peer;
    if (peer === undefined || peer.#isFull) return;
    if (this.#isCarrying || this.#isStalled || this.#line.length === 0) return;
    this.#isCarrying = true;
    this.#scheduler.soon(() => {
      this.#isCarrying = false;
      this.#carryOne();
      this.#carryOn();
    });
  }

  #carryOne(): void {
    const peer = this.#peer;
    if (this.#isStalled || peer === undefined) return;
    const piece = this.#line.shift();
    if (piece === undefined) return;
    if (piece === 'end') peer.#receiveEnd();
    else {
      if (!peer.destroyed) peer.#isFull = !peer.push(piece.bytes);
      piece.done();
    }
  }

  #receiveEnd(): void {
    if (!this.destroyed && !this.readableEnded) this.push(null);
  }
}

function connectionReset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}
