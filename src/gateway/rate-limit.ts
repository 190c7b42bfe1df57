// Rate limits: at most a given number of events in any time window of a given length. Exact: no window has more, and after an empty
// window the full number is allowed immediately. Implements LIMIT (rates).

export class RateLimit {
  readonly #max: number;
  readonly #windowMs: number;
  /** Times of the last `max` admitted events, as a ring that grows with use. */
  #times: number[] = [];
  #oldest = 0;

  /** `max`: 1 or more. */
  constructor(max: number, windowMs: number) {
    this.#max = max;
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
    return this.#times.length < this.#max || oldest === undefined || now - oldest >= this.#windowMs;
  }

  /** Counts one that happens at `now`; it must be allowed. */
  count(now: number): void {
    if (this.#times.length < this.#max) {
      this.#times.push(now);
      return;
    }
    this.#times[this.#oldest] = now;
    this.#oldest = (this.#oldest + 1) % this.#max;
  }

  /** Whether nothing that was admitted lies in the window before `now` any more. */
  isQuiet(now: number): boolean {
    const youngest = this.#times.at(this.#oldest - 1);
    return youngest === undefined || now - youngest >= this.#windowMs;
  }
}

/** One rate limit per address; addresses that have gone quiet are forgotten. */
export class RateLimitByAddress {
  readonly #max: number;
  readonly #windowMs: number;
  readonly #limits = new Map<string, RateLimit>();
  #nextSweepAt = 0;

  constructor(max: number, windowMs: number) {
    this.#max = max;
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
      limit = new RateLimit(this.#max, this.#windowMs);
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
