// Rate limits: at most a given number of events in any time window of a given length. Exact: no window has more, and after an empty window
// the full number is allowed immediately. Implements LIMIT-006, LIMIT-007 and LIMIT-011.

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

  /** Whether an event is allowed at `now`; counts it if it is. */
  admit(now: number): boolean {
    const allowed = this.allows(now);
    if (allowed) this.count(now);
    return allowed;
  }

  /** Whether an event is allowed at `now`. Counts nothing. */
  allows(now: number): boolean {
    const oldest = this.#times[this.#oldest];
    return this.#times.length < this.#max || oldest === undefined || now - oldest >= this.#windowMs;
  }

  /** Counts an event at `now`, which must be allowed. */
  count(now: number): void {
    if (this.#times.length < this.#max) {
      this.#times.push(now);
      return;
    }
    this.#times[this.#oldest] = now;
    this.#oldest = (this.#oldest + 1) % this.#max;
  }

  /** Whether no counted event is in the window before `now`. */
  isQuiet(now: number): boolean {
    const youngest = this.#times.at(this.#oldest - 1);
    return youngest === undefined || now - youngest >= this.#windowMs;
  }
}

/** One rate limit per address. Forgets addresses without an event in the window. */
export class RateLimitByAddress {
  readonly #max: number;
  readonly #windowMs: number;
  readonly #limits = new Map<string, RateLimit>();
  #nextSweepAt = 0;

  constructor(max: number, windowMs: number) {
    this.#max = max;
    this.#windowMs = windowMs;
  }

  /** Whether an event of the address is allowed at `now`. Counts nothing. */
  allows(address: string, now: number): boolean {
    return this.#limits.get(address)?.allows(now) ?? true;
  }

  /** Counts an event at `now`, which must be allowed. */
  count(address: string, now: number): void {
    this.#sweep(now);
    let limit = this.#limits.get(address);
    if (limit === undefined) {
      limit = new RateLimit(this.#max, this.#windowMs);
      this.#limits.set(address, limit);
    }
    limit.count(now);
  }

  /** The number of remembered addresses. */
  get size(): number {
    return this.#limits.size;
  }

  #sweep(now: number): void {
    if (now < this.#nextSweepAt) return;
    this.#nextSweepAt = now + this.#windowMs;
    for (const [address, limit] of this.#limits) if (limit.isQuiet(now)) this.#limits.delete(address);
  }
}
