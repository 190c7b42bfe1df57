// The inputs that wait for the core, in rounds: a round takes in a few inputs of each connection, in the order of their arrival, so that a
// connection that sends much does not make the others wait for all of it. Inputs of one connection stay in their order.

import { type ConnectionId, type Input, OPERATOR } from '../../broker/interface/input.ts';

/** Inputs of one connection in a round. */
const MAX_PER_ROUND = 32;
/** Places of connections without inputs are forgotten with the next round when there are more of all. */
const MAX_IDLE_PLACES = 64;

/** Where the last input of a connection stands: the number of its round, and how many inputs the connection has in it. */
type Place = { round: number; count: number };

export class InputQueue {
  #length = 0;
  #round = 0;
  /** Of this round; those before `#head` were taken. */
  #inputs: Input[] = [];
  #head = 0;
  /** Of the next round, the one after it, and so on. */
  #later: Input[][] = [];
  readonly #places = new Map<ConnectionId, Place>();

  get length(): number {
    return this.#length;
  }

  push(input: Input): void {
    this.#length += 1;
    const connection = 'connection' in input ? input.connection : OPERATOR;
    // The broker's own inputs are few, and belong to the round that runs.
    const round = connection === OPERATOR ? this.#round : this.#roundFor(connection);
    if (round === this.#round) this.#inputs.push(input);
    else this.#bucketOf(round).push(input);
  }

  /** The next input, which is removed. */
  take(): Input | undefined {
    if (this.#length === 0) return undefined;
    if (this.#head === this.#inputs.length) this.#nextRound();
    const input = this.#inputs[this.#head];
    this.#head += 1;
    this.#length -= 1;
    if (this.#length === 0) this.#clear();
    return input;
  }

  /** All inputs in order; the queue is empty afterwards. */
  takeAll(): readonly Input[] {
    const all = [...this.#inputs.slice(this.#head), ...this.#later.flat()];
    this.#clear();
    return all;
  }

  #roundFor(connection: ConnectionId): number {
    const place = this.#places.get(connection);
    if (place === undefined) {
      this.#places.set(connection, { round: this.#round, count: 1 });
      return this.#round;
    }
    if (place.round < this.#round) {
      place.round = this.#round;
      place.count = 0;
    } else if (place.count === MAX_PER_ROUND) {
      place.round += 1;
      place.count = 0;
    }
    place.count += 1;
    return place.round;
  }

  #bucketOf(round: number): Input[] {
    const index = round - this.#round - 1;
    // A connection goes on in the round after the one that its last input is in, so there is no gap.
    this.#later[index] ??= [];
    return this.#later[index];
  }

  #nextRound(): void {
    this.#round += 1;
    this.#inputs = this.#later.shift() ?? [];
    this.#head = 0;
    if (this.#places.size <= MAX_IDLE_PLACES) return;
    for (const [connection, { round }] of this.#places) {
      if (round < this.#round) this.#places.delete(connection);
    }
  }

  #clear(): void {
    this.#length = 0;
    this.#inputs = [];
    this.#head = 0;
    this.#later = [];
    this.#places.clear();
  }
}
