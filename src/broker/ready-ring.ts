// The subscriptions of a queue that can take a message now, in turn: the one that was served goes to the end. The cost of
// a turn does not depend on how many subscriptions there are, nor on how many of them are full.
// Implements DELIVERY (cycling over the subscribers).

import type { Subscription } from './subscription.ts';

export class ReadyRing {
  #head: Subscription | undefined;
  #tail: Subscription | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The one whose turn it is. */
  first(): Subscription | undefined {
    return this.#head;
  }

  /** The one whose turn it would be if `passed` were not there. */
  firstOtherThan(passed: Subscription): Subscription | undefined {
    return this.#head === passed ? passed.nextReady : this.#head;
  }

  /** Brings the ring up to date with whether the subscription has room; tells whether it has become ready. */
  refresh(subscription: Subscription): boolean {
    const hasRoom = subscription.hasRoom;
    if (hasRoom === subscription.ready) return false;
    if (hasRoom) this.#append(subscription);
    else this.remove(subscription);
    return hasRoom;
  }

  /** Ends the turn of a subscription that was served. */
  served(subscription: Subscription): void {
    if (subscription.ready) this.remove(subscription);
    if (subscription.hasRoom) this.#append(subscription);
  }

  remove(subscription: Subscription): void {
    if (!subscription.ready) return;
    if (subscription.previousReady === undefined) this.#head = subscription.nextReady;
    else subscription.previousReady.nextReady = subscription.nextReady;
    if (subscription.nextReady === undefined) this.#tail = subscription.previousReady;
    else subscription.nextReady.previousReady = subscription.previousReady;
    subscription.previousReady = undefined;
    subscription.nextReady = undefined;
    subscription.ready = false;
    this.#size -= 1;
  }

  #append(subscription: Subscription): void {
    subscription.previousReady = this.#tail;
    if (this.#tail === undefined) this.#head = subscription;
    else this.#tail.nextReady = subscription;
    this.#tail = subscription;
    subscription.ready = true;
    this.#size += 1;
  }
}
