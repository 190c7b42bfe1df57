// The memory that all connections together may take: one budget for input (received bytes, and inputs that the backend has not processed)
// and one for unsent output. Each connection keeps its own limits beneath. While the budget for input is short, a connection reads nothing
// further while something of it is pending, and begins no large frame that does not fit; while that for output is short, it takes none
// beyond a small share. They are two, so that clients that do not read cannot keep others from sending. Implements LIMIT-021.

/** What each connection may take, whatever the others take: as much as one read of a socket brings. */
export const SHARE_BYTES = 65_536;

export type ConnectionBudgets = { readonly input: BufferBudget; readonly output: BufferBudget };

export class BufferBudget {
  readonly #maxBytes: number;
  #usedBytes = 0;
  /** What waits for memory, in order. */
  readonly #waiters = new Set<() => void>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get isShort(): boolean {
    return this.#usedBytes >= this.#maxBytes;
  }

  /** Whether one that has taken `takenBytes` may take `bytes` more. Whoever is alone may, however many they are. */
  hasRoomFor(bytes: number, takenBytes: number): boolean {
    return this.#usedBytes + bytes <= this.#maxBytes || this.#usedBytes === takenBytes;
  }

  /** Counts bytes that are taken, or given back when `bytes` is negative. */
  add(bytes: number): void {
    this.#usedBytes += bytes;
  }

  /** Calls `retry` once when memory may be free. */
  await(retry: () => void): void {
    this.#waiters.add(retry);
  }

  forget(retry: () => void): void {
    this.#waiters.delete(retry);
  }

  /** Lets those that wait try again, one after the other while the budget lasts. To be called when bytes were given back. */
  wake(): void {
    for (const retry of [...this.#waiters]) {
      if (this.isShort) return;
      this.#waiters.delete(retry);
      retry();
    }
  }
}
