// Memory budgets shared by all connections: one for input (received bytes, and inputs that the backend has not processed) and one for
// unsent output. Each connection has its own limits in addition. While the input budget is short, a connection with pending input reads
// nothing more, and a large frame is not begun unless it fits. While the output budget is short, a connection may use only a small share.
// There are two budgets, so that clients that do not read cannot keep others from sending. Implements LIMIT-021.

/** Bytes that each connection may always use: the size of one read from a socket while many connections are open. */
export const SHARE_BYTES = 65_536;

export type ConnectionBudgets = { readonly input: BufferBudget; readonly output: BufferBudget };

export class BufferBudget {
  readonly #maxBytes: number;
  readonly #soon: (task: () => void) => void;
  #usedBytes = 0;
  /** What those that wait use of it: the share that each may always use, mostly. */
  #waitingBytes = 0;
  /** Connections that took memory in advance and have it still. */
  #reservationCount = 0;
  #isWakingSoon = false;
  /** Callbacks of the connections that wait for memory, in order. */
  readonly #waiters = new Set<() => void>();

  /** `soon`: runs a task after the present one. */
  constructor(maxBytes: number, soon: (task: () => void) => void) {
    this.#maxBytes = maxBytes;
    this.#soon = soon;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get isShort(): boolean {
    return this.#usedBytes >= this.#maxBytes;
  }

  /**
   * Whether a connection that uses `takenBytes` may use `bytes` more. Always true when no other connection uses memory. Those that wait give
   * nothing back before they go on, so one at a time goes on whatever they use: else many that have begun would wait for each other.
   */
  hasRoomFor(bytes: number, takenBytes: number): boolean {
    if (this.#usedBytes + bytes <= this.#maxBytes) return true;
    if (this.#reservationCount > 0) return false;
    const bytesOfOthers = this.#usedBytes - this.#waitingBytes - takenBytes;
    return bytesOfOthers === 0 || bytesOfOthers + takenBytes + bytes <= this.#maxBytes;
  }

  /** A connection that waits uses so many bytes, of those that are counted, or less when `bytes` is negative. */
  addWaiting(bytes: number): void {
    this.#waitingBytes += bytes;
  }

  /** A connection has taken memory in advance. */
  beginReservation(): void {
    this.#reservationCount += 1;
  }

  endReservation(): void {
    this.#reservationCount -= 1;
  }

  /** Counts used bytes; released bytes when `bytes` is negative: soon connections that wait are called back, in order, while there is room. */
  add(bytes: number): void {
    this.#usedBytes += bytes;
    if (bytes >= 0 || this.#waiters.size === 0 || this.#isWakingSoon) return;
    this.#isWakingSoon = true;
    this.#soon(() => this.#wake());
  }

  /** Calls `retry` once when memory may be free. */
  await(retry: () => void): void {
    this.#waiters.add(retry);
  }

  forget(retry: () => void): void {
    this.#waiters.delete(retry);
  }

  /** Whether one that waits may go on although there is no room. */
  get #letsOneGoOn(): boolean {
    return this.#reservationCount === 0 && this.#usedBytes - this.#waitingBytes < this.#maxBytes;
  }

  #wake(): void {
    this.#isWakingSoon = false;
    for (const retry of [...this.#waiters]) {
      if (this.isShort && !this.#letsOneGoOn) return;
      this.#waiters.delete(retry);
      retry();
      if (this.isShort && this.#waiters.has(retry)) return;
    }
  }
}
