// New connections that arrive together: they share the time of a turn with the input of the others, so that a thousand connections at a time
// do not hold up the event loop. Keeps their order. Serves CONN-021.

import type { Duplex } from 'node:stream';
import type { ReadTurns } from './read-turns.ts';

export type Arrival = {
  readonly stream: Duplex;
  readonly address: string;
  /** Whether nobody reads the bytes of a write any more when the stream has called back. */
  readonly releasesWrites: boolean;
};

export class Arrivals {
  readonly #turns: Pick<ReadTurns, 'isSpent' | 'await'>;
  readonly #attach: (arrival: Arrival) => void;
  #waiting: (() => void)[] = [];

  constructor(turns: Pick<ReadTurns, 'isSpent' | 'await'>, attach: (arrival: Arrival) => void) {
    this.#turns = turns;
    this.#attach = attach;
  }

  /** Attaches the stream now, or in a later turn unless it has ended before. */
  add(arrival: Arrival): void {
    if (this.#waiting.length === 0 && !this.#turns.isSpent) return this.#attach(arrival);
    const { stream } = arrival;
    stream.on('error', () => undefined);
    this.#waiting.push(() => {
      if (!stream.destroyed) this.#attach(arrival);
    });
    if (this.#waiting.length === 1) this.#turns.await(() => this.#goOn());
  }

  #goOn(): void {
    let count = 0;
    for (const attach of this.#waiting) {
      attach();
      count += 1;
      if (this.#turns.isSpent) break;
    }
    this.#waiting = this.#waiting.slice(count);
    if (this.#waiting.length > 0) this.#turns.await(() => this.#goOn());
  }
}
