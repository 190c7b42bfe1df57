// Runs a bounded number of tasks in parallel and lets a bounded number wait. Those that wait are taken from their keys in turn, so that a key
// with many tasks does not delay the others, nor keep them from waiting. Knows nothing of passwords. Implements AUTH-013 to AUTH-015.

export type TurnLimits = {
  readonly maxRunning: number;
  /** Tasks of all keys together. */
  readonly maxWaiting: number;
};

export type TurnOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** As many tasks wait as may, and its key has its share of them; the task was not started. */
  | { readonly kind: 'full' }
  /** The signal was aborted before the task was started. */
  | { readonly kind: 'cancelled' };

/** Why the wait of a task has ended. */
type WaitEnd = 'turn' | 'full' | 'cancelled';

type Waiting = { readonly end: (why: WaitEnd) => void };

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
    else {
      const end = this.#makeRoom(key) ? await this.#wait(key, cancelled) : 'full';
      if (end !== 'turn') return { kind: end };
    }
    try {
      return { kind: 'done', value: await task() };
    } finally {
      this.#passOn();
    }
  }

  /** Whether one more task of the key may wait. The youngest task of the key with the most gives way to it, if that key keeps as many. */
  #makeRoom(key: string): boolean {
    if (this.#waitingCount < this.#limits.maxWaiting) return true;
    const own = this.#waiting.get(key)?.length ?? 0;
    const [longest, line] = this.#longestLine();
    const youngest = line.at(-1);
    if (youngest === undefined || line.length < own + 2) return false;
    this.#remove(longest, youngest);
    youngest.end('full');
    return true;
  }

  #longestLine(): readonly [string, readonly Waiting[]] {
    let longest: readonly [string, readonly Waiting[]] = ['', []];
    for (const entry of this.#waiting) if (entry[1].length > longest[1].length) longest = entry;
    return longest;
  }

  #wait(key: string, cancelled: AbortSignal | undefined): Promise<WaitEnd> {
    return new Promise((resolve) => {
      const leave = () => {
        this.#remove(key, waiting);
        resolve('cancelled');
      };
      const end = (why: WaitEnd) => {
        cancelled?.removeEventListener('abort', leave);
        resolve(why);
      };
      const waiting: Waiting = { end };
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
    else next.end('turn');
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
