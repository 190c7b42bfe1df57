// The subscriptions of a queue that can take a message now. They take turns in the order in which they subscribed, whoever came,
// was full or was served out of turn meanwhile. The cost of a turn grows with the logarithm of how many can take a message, and
// not with how many cannot. Implements DELIVERY (cycling over the subscribers).

import { Heap } from './heap.ts';
import type { Subscription } from './subscription.ts';

export class ReadyRing {
  /** Those behind the one whose turn was last, by their places: their turns in this round are still to come. */
  #thisRound = new Heap<Subscription>();
  /** Those up to the one whose turn was last. */
  #nextRound = new Heap<Subscription>();
  /** The place of the one whose turn was last. */
  #lastPlace = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#thisRound.size + this.#nextRound.size;
  }

  /** The one whose turn it is. */
  first(): Subscription | undefined {
    return (this.#thisRound.first() ?? this.#nextRound.first())?.item;
  }

  /** The one whose turn it would be if `passed` were not there. */
  firstOtherThan(passed: Subscription): Subscription | undefined {
    const first = this.first();
    if (first !== passed) return first;
    this.remove(passed);
    const other = this.first();
    this.#insert(passed);
    return other;
  }

  /** Brings the ring up to date with whether the subscription has room; tells whether it has become ready. */
  refresh(subscription: Subscription): boolean {
    const hasRoom = subscription.hasRoom;
    if (hasRoom === subscription.ready) return false;
    if (hasRoom) this.#insert(subscription);
    else this.remove(subscription);
    return hasRoom;
  }

  /** Ends the turn of a subscription that is served. One that is served out of turn keeps its own. */
  served(subscription: Subscription): void {
    if (this.first() !== subscription) return;
    if (this.#thisRound.size === 0) this.#swapRounds();
    this.#lastPlace = subscription.place;
    if (this.size === 1) return this.#swapRounds();
    if (subscription.turn !== undefined) this.#thisRound.remove(subscription.turn);
    subscription.turn = this.#nextRound.insert(subscription.place, subscription);
  }

  remove(subscription: Subscription): void {
    if (subscription.turn === undefined) return;
    this.#roundOf(subscription).remove(subscription.turn);
    subscription.turn = undefined;
  }

  #insert(subscription: Subscription): void {
    subscription.turn = this.#roundOf(subscription).insert(subscription.place, subscription);
  }

  #roundOf({ place }: Subscription): Heap<Subscription> {
    return place > this.#lastPlace ? this.#thisRound : this.#nextRound;
  }

  #swapRounds(): void {
    [this.#thisRound, this.#nextRound] = [this.#nextRound, this.#thisRound];
  }
}
