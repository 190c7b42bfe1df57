// A fixture: a service that is a fifth slower. While its streams carry something, it burns in every turn of the event loop a fifth of what the
// turn took, so each message costs a fifth more. Not part of any product.
import type { Service } from './load.ts';
import type { Peer } from './peer.ts';

const share = 0.2;
/** How many turns after the last bytes still belong to them. */
const turnCountAfter = 3;

export class SlowService implements Service {
  readonly #service: Service;
  readonly #nowMs: () => number;
  #turnsLeft = 0;
  #sinceMs = 0;

  constructor(service: Service, nowMs: () => number = () => performance.now()) {
    this.#service = service;
    this.#nowMs = nowMs;
  }

  attach(peer: Peer): void {
    peer.onBytes = () => this.#wake();
    this.#service.attach(peer);
  }

  #wake(): void {
    const isAwake = this.#turnsLeft > 0;
    this.#turnsLeft = turnCountAfter;
    if (isAwake) return;
    this.#sinceMs = this.#nowMs();
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    const nowMs = this.#nowMs();
    const untilMs = nowMs + (nowMs - this.#sinceMs) * share;
    while (this.#nowMs() < untilMs);
    this.#sinceMs = untilMs;
    this.#turnsLeft -= 1;
    if (this.#turnsLeft > 0) setImmediate(() => this.#endTurn());
  }
}
