// What publishers and subscribers know over the crashes of a broker, and the rules that follow: nothing confirmed is lost, nothing is
// invented, nothing settled is delivered again, and a dead letter is in one place. Uses ids only. Checks DURABLE-003, DURABLE-004,
// DURABLE-006 and DURABLE-015.

export class CrashLedger {
  /** Whose PublishAck came. */
  readonly #confirmed = new Set<string>();
  /** Published without an answer: there or not. */
  readonly #uncertain = new Set<string>();
  /** Taken, and the ack sent. */
  readonly #taken = new Set<string>();
  /** Taken, and a later answer on the same connection shows that the ack was committed. */
  readonly #settled = new Set<string>();
  readonly #problems: string[] = [];
  deliveredCount = 0;
  againCount = 0;

  get confirmedCount(): number {
    return this.#confirmed.size;
  }

  get settledCount(): number {
    return this.#settled.size;
  }

  published(id: string): void {
    this.#uncertain.add(id);
  }

  confirmed(id: string): void {
    this.#uncertain.delete(id);
    this.#confirmed.add(id);
  }

  /** A message was delivered to be taken. */
  taken(id: string, queue: string): void {
    this.deliveredCount += 1;
    if (this.#settled.has(id))
      this.#problems.push(`${id} came back from ${queue} after its ack was committed`);
    if (!this.#confirmed.has(id) && !this.#uncertain.has(id)) {
      this.#problems.push(`${id} came from ${queue} and was never published`);
    }
    if (this.#taken.has(id)) this.againCount += 1;
    this.#taken.add(id);
  }

  settled(ids: readonly string[]): void {
    for (const id of ids) this.#settled.add(id);
  }

  /** Everything that is wrong, once every queue was emptied. */
  problems(): readonly string[] {
    const lost = [...this.#confirmed].filter((id) => !this.#taken.has(id));
    return [...this.#problems, ...lost.map((id) => `${id} was confirmed and is lost`)];
  }
}
