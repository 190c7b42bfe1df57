// Runs a bounded number of tasks in parallel and lets a bounded number wait. Those that wait are taken from their keys in turn, so that a key
// with many tasks does not delay the others. Knows nothing of passwords. Implements AUTH-013 and AUTH-014.

export type TurnLimits = {
  readonly maxRunning: number;
  /** Tasks of all keys together. */
  readonly maxWaiting: number;
};

export type TurnOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** As many tasks wait as may; the task was not started. */
  | { readonly kind: 'full' }
  /** The signal was aborted before the task was started. */
  | { readonly kind: 'cancelled' };

type Waiting = { readonly start: () => void };

export class Turns {
  readonly #limits: TurnLimits;
  /** The first key is the next one; within a key the first task is. A key without waiting tasks is not in it. */
  readonly #waiting = new Map<string, Waiting[]>();
  #waitingCount = 0;
  #runningCount = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Runs the task when it is its turn. Rejects as the task does. */
  async take<T>(key: string, task: () => Promise<T>, cancelled?: AbortSignal): Promise<TurnOutcome<T>> {
    if (cancelled?.aborted === true) return { kind: 'cancelled' };
    if (this.#runningCount < this.#limits.maxRunning) this.#runningCount += 1;
    else if (this.#waitingCount >= this.#limits.maxWaiting) return { kind: 'full' };
    else if (!(await this.#turnComes(key, cancelled))) return { kind: 'cancelled' };
    try {
      return { kind: 'done', value: await task() };
    } finally {
      this.#passOn();
    }
  }

  /** Whether the turn came; false: it was cancelled before. */
  #turnComes(key: string, cancelled: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = () => {
        this.#remove(key, waiting);
        resolve(false);
      };
      const start = () => {
        cancelled?.removeEventListener('abort', leave);
        resolve(true);
      };
      const waiting: Waiting = { start };
      cancelled?.addEventListener('abort', leave, { once: true });
      this.#add(key, waiting);
    });
  }

  #add(key: string, waiting: Waiting): void {
    const line = this.#waiting.get(key);
    if (line === undefined) this.#waiting.set(key, [waiting]);
    else line.push(waiting);
    this.#waitingCount += 1;
  }

  #remove(key: string, waiting: Waiting): void {
    const line = (this.#waiting.get(key) ?? []).filter((other) => other !== waiting);
    if (line.length === 0) this.#waiting.delete(key);
    else this.#waiting.set(key, line);
    this.#waitingCount -= 1;
  }

  /** Passes the place of a task that has ended to the next one. */
  #passOn(): void {
    const next = this.#takeNext();
    if (next === undefined) this.#runningCount -= 1;
    else next.start();
  }

  #takeNext(): Waiting | undefined {
    for (const [key, [next, ...others]] of this.#waiting) {
      // The key goes to the end of the round.
      this.#waiting.delete(key);
      if (others.length > 0) this.#waiting.set(key, others);
      this.#waitingCount -= 1;
      return next;
    }
    return undefined;
  }
}
