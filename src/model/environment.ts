// What the broker needs from outside besides bytes and a store: time, timers, ids. Injected, so that tests run in virtual time and a
// simulation reproduces from its seed.

export type Clock = {
  /** Milliseconds that never go back. */
  now(): number;
  /** Milliseconds since 1970 in UTC. */
  wallNow(): number;
};

export type Scheduler = {
  /** Runs the task once, after everything that has arrived in this turn of the event loop. */
  soon(task: () => void): void;
  /** Runs the task once, not before `delayMs` from now; the result cancels it. */
  after(delayMs: number, task: () => void): () => void;
};

export type Environment = {
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** A text that was never returned before. */
  readonly freshId: () => string;
};
