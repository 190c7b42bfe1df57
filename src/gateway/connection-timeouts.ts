// Handshake, partial-frame and idle timeouts of a connection. One timer serves all three. It is not reset for every byte: when it fires, it
// compares the deadlines with what was received meanwhile. Implements CONN-014 to CONN-017.

import type { Environment } from '../model/environment.ts';

export type TimeoutSettings = {
  readonly handshakeTimeoutMs: number;
  readonly frameTimeoutMs: number;
  readonly idleTimeoutMs: number;
};

export type TimeoutKind = 'handshakeTimeout' | 'frameTimeout' | 'idleTimeout';

type Deadline = { readonly at: number; readonly kind: TimeoutKind };

export class ConnectionTimeouts {
  readonly #environment: Environment;
  readonly #settings: TimeoutSettings;
  readonly #onTimeout: (kind: TimeoutKind) => void;
  #handshakeUntil: number | undefined;
  #aliveAt: number;
  #partialSince: number | undefined;
  #partialFrameCount = -1;
  #armedUntil = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => undefined;

  constructor(environment: Environment, settings: TimeoutSettings, onTimeout: (kind: TimeoutKind) => void) {
    this.#environment = environment;
    this.#settings = settings;
    this.#onTimeout = onTimeout;
    this.#aliveAt = environment.clock.now();
    this.#handshakeUntil = this.#aliveAt + settings.handshakeTimeoutMs;
    this.#arm();
  }

  /** Bytes were received. */
  received(): void {
    this.#aliveAt = this.#environment.clock.now();
  }

  /** The received bytes were parsed. Starts the partial-frame timeout when they end within a new frame. */
  inputDrained(session: { readonly hasPartialFrame: boolean; readonly frameCount: number }): void {
    if (!session.hasPartialFrame) this.#partialSince = undefined;
    else if (this.#partialSince === undefined || session.frameCount !== this.#partialFrameCount) {
      this.#partialSince = this.#environment.clock.now();
      this.#partialFrameCount = session.frameCount;
      if (this.#partialSince + this.#settings.frameTimeoutMs < this.#armedUntil) this.#arm();
    }
  }

  /** Stops the partial-frame timeout: the broker itself does not read, so the client cannot complete its frame. */
  readingPaused(): void {
    this.#partialSince = undefined;
  }

  /** Stops the handshake timeout. */
  connectArrived(): void {
    this.#handshakeUntil = undefined;
  }

  /** The client counts as idle in so many milliseconds, unless bytes are received before. To be called at the idle timeout. */
  idleIn(durationMs: number): void {
    this.#aliveAt = this.#environment.clock.now() + durationMs - this.#settings.idleTimeoutMs;
    this.#arm();
  }

  /** Stops all timeouts. */
  stop(): void {
    this.#cancel();
  }

  #arm(): void {
    this.#cancel();
    this.#armedUntil = this.#nextDeadline().at;
    const delayMs = this.#armedUntil - this.#environment.clock.now();
    this.#cancel = this.#environment.scheduler.after(delayMs, () => this.#fire());
  }

  #fire(): void {
    const { at, kind } = this.#nextDeadline();
    if (at <= this.#environment.clock.now()) this.#onTimeout(kind);
    else this.#arm();
  }

  #nextDeadline(): Deadline {
    const { frameTimeoutMs, idleTimeoutMs } = this.#settings;
    const deadlines: Deadline[] = [{ at: this.#aliveAt + idleTimeoutMs, kind: 'idleTimeout' }];
    if (this.#handshakeUntil !== undefined)
      deadlines.push({ at: this.#handshakeUntil, kind: 'handshakeTimeout' });
    if (this.#partialSince !== undefined) {
      deadlines.push({ at: this.#partialSince + frameTimeoutMs, kind: 'frameTimeout' });
    }
    return deadlines.reduce((first, next) => (next.at < first.at ? next : first));
  }
}
