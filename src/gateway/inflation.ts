// The decompression of one connection's input: one body at a time, for which memory is reserved first. What follows it must wait anyway, so
// the connection reads nothing meanwhile. Implements COMPRESS-005 together with the compressor, and LIMIT-021.

import type { Compressor } from '../protocol/compression.ts';
import type { ServerSession, SessionEvent } from '../session/server-session.ts';
import type { ConnectionMemory } from './connection-memory.ts';

export type InflateEvent = Extract<SessionEvent, { readonly kind: 'inflate' }>;

export type InflationParts = {
  readonly compressor: Compressor;
  readonly memory: ConnectionMemory;
  readonly session: ServerSession;
  /** The session has the result of a worker. */
  readonly onInflated: () => void;
  readonly onFailure: (error: unknown) => void;
};

export class Inflation {
  readonly #parts: InflationParts;
  #waiting: InflateEvent | undefined;
  #isRunning = false;

  constructor(parts: InflationParts) {
    this.#parts = parts;
  }

  /** Whether a worker decompresses a body. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** A body that waits for memory, to be begun anew. */
  get waiting(): InflateEvent | undefined {
    return this.#waiting;
  }

  begin(event: InflateEvent): void {
    const { compressor, memory, session } = this.#parts;
    const isReserved = memory.reserve(event.limitBytes);
    // A copy: what the body arrived in is read into again before a worker begins.
    const body = Buffer.from(event.body);
    this.#waiting = isReserved ? undefined : { ...event, body };
    if (!isReserved) return;
    const result = compressor.decompress(event.algorithm, body, event.limitBytes);
    if (result instanceof Promise) this.#await(result);
    else {
      memory.release();
      session.handleInflated(result);
    }
  }

  #await(result: Promise<Parameters<ServerSession['handleInflated']>[0]>): void {
    const { memory, session, onInflated, onFailure } = this.#parts;
    this.#isRunning = true;
    result.then((inflated) => {
      this.#isRunning = false;
      memory.release();
      session.handleInflated(inflated);
      onInflated();
    }, onFailure);
  }
}
