// How often something may happen: a given number of times in any window of a given length. Exact, so that after a quiet
// window the whole number passes at once and no window ever sees more. Implements LIMIT (rates).

export class RateLimit {
  readonly #most: number;
  readonly #windowMs: number;
  /** When the last `most` admitted ones came, as a ring; it grows with use. */
  #times: number[] = [];
  #oldest = 0;

  /** `most`: 1 or more. */
  constructor(most: number, windowMs: number) {
    this.#most = most;
    this.#windowMs = windowMs;
  }

  /** Whether one more may happen at `now`; if so it is counted, if not it leaves no trace. */
  admit(now: number): boolean {
    const allowed = this.allows(now);
    if (allowed) this.count(now);
    return allowed;
  }

  /** Whether one more may happen at `now`. */
  allows(now: number): boolean {
    const oldest = this.#times[this.#oldest];
    return this.#times.length < this.#most || oldest === undefined || now - oldest >= this.#windowMs;
  }

  /** Counts one that happens at `now`; it must be allowed. */
  count(now: number): void {
    if (this.#times.length < this.#most) {
      this.#times.push(now);
      return;
    }
    this.#times[this.#oldest] = now;
    this.#oldest = (this.#oldest + 1) % this.#most;
  }

  /** Whether nothing that was admitted lies in the window before `now` any more. */
  isQuiet(now: number): boolean {
    const youngest = this.#times.at(this.#oldest - 1);
    return youngest === undefined || now - youngest >= this.#windowMs;
  }
}

/** One rate limit per address; addresses that have gone quiet are forgotten. */
export class RateLimitByAddress {
  readonly #most: number;
  readonly #windowMs: number;
  readonly #limits = new Map<string, RateLimit>();
  #nextSweepAt = 0;

  constructor(most: number, windowMs: number) {
    this.#most = most;
    this.#windowMs = windowMs;
  }

  /** Whether one more may happen for the address at `now`; leaves no trace. */
  allows(address: string, now: number): boolean {
    return this.#limits.get(address)?.allows(now) ?? true;
  }

  /** Counts one that happens at `now`; it must be allowed. */
  count(address: string, now: number): void {
    this.#sweep(now);
    let limit = this.#limits.get(address);
    if (limit === undefined) {
      limit = new RateLimit(this.#most, this.#windowMs);
      this.#limits.set(address, limit);
    }
    limit.count(now);
  }

  /** Addresses that are remembered. */
  get size(): number {
    return this.#limits.size;
  }

  #sweep(now: number): void {
    if (now < this.#nextSweepAt) return;
    this.#nextSweepAt = now + this.#windowMs;
    for (const [address, limit] of this.#limits) if (limit.isQuiet(now)) this.#limits.delete(address);
  }
}
