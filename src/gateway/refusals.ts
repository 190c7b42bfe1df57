// What was refused to one client lately. A client that goes on sending what is refused would keep the broker busy with refusals: it waits, and so does
// what it sends, until there have been fewer for a second. Implements LIMIT-026.

import { RateLimit } from './rate-limit.ts';

/** A client may be refused so many commands in a second, or as many as it may publish if these are more. */
const MIN_PER_SECOND = 1000;

export class Refusals {
  readonly #rate: RateLimit;

  /** `maxPerSecond`: the publishes that a client may send in a second. */
  constructor(maxPerSecond: number) {
    this.#rate = new RateLimit(Math.max(maxPerSecond, MIN_PER_SECOND), 1000);
  }

  /**
   * Counts a refusal at `now`. Returns for how many whole milliseconds nothing more is to be read of the client: 1 to 1000 for the last one that
   * it may have, 0 for each before it, and for those behind it, which were read before.
   */
  count(now: number): number {
    const isOneTooMany = !this.#rate.admit(now);
    return isOneTooMany || this.#rate.allows(now) ? 0 : Math.ceil(this.#rate.allowedFrom - now);
  }
}
