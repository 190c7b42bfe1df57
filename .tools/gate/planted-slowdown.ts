// A fixture: a service that is a fifth slower. While its streams carry something, it burns in every turn of the event loop a fifth of what the
// turn took, so each message costs a fifth more. Not part of any product.
import type { Service } from './load.ts';
import type { Peer } from './peer.ts';

const share = 0.2;
/** How many turns after the last bytes still belong to them. */
const turnCountAfter = 3;

export class SlowService implements Service {
  readonly #service: Service;
  #turnsLeft = 0;
  #sinceMs = 0;

  constructor(service: Service) {
    this.#service = service;
  }

  attach(peer: Peer): void {
    peer.onBytes = () => this.#wake();
    this.#service.attach(peer);
  }

  #wake(): void {
    const isAwake = this.#turnsLeft > 0;
    this.#turnsLeft = turnCountAfter;
    if (isAwake) return;
    this.#sinceMs = performance.now();
    setImmediate(() => this.#endTurn());
  }

  #endTurn(): void {
    const untilMs = performance.now() + (performance.now() - this.#sinceMs) * share;
    while (performance.now() < untilMs);
    this.#sinceMs = performance.now();
    this.#turnsLeft -= 1;
    if (this.#turnsLeft > 0) setImmediate(() => this.#endTurn());
  }
}
