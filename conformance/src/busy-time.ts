// Measures how long at least one of several things was under way.

export class BusyTime {
  #count = 0;
  #beganAt = 0;
  #endedMs = 0;

  begin(): void {
    if (this.#count === 0) this.#beganAt = performance.now();
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#endedMs += performance.now() - this.#beganAt;
  }

  /** Until now, in milliseconds. */
  get ms(): number {
    return this.#endedMs + (this.#count === 0 ? 0 : performance.now() - this.#beganAt);
  }
}
