// Measures how late the runner's own event loop was. A runner that was starved saw frames late that came in time, and its verdict
// is worth nothing: the check becomes an error, never a failure or a pass.

const tickMs = 20;

export type LoopWatch = {
  /** The longest delay since the start, in milliseconds; ends the watch. */
  stop(): number;
};

export function watchLoop(): LoopWatch {
  let worstMs = 0;
  let expectedAt = performance.now() + tickMs;
  const measure = (): void => {
    worstMs = Math.max(worstMs, performance.now() - expectedAt);
  };
  const timer = setInterval(() => {
    measure();
    expectedAt = performance.now() + tickMs;
  }, tickMs);
  return {
    stop: () => {
      clearInterval(timer);
      measure();
      return worstMs;
    },
  };
}

/** What to say when the loop was late by more than a quarter of the check's shortest wait; undefined when it was not. */
export function starvation(worstDelayMs: number, shortestWindowMs: number): string | undefined {
  if (worstDelayMs <= shortestWindowMs / 4) return undefined;
  const delay = Math.round(worstDelayMs);
  return `the runner was starved: its loop was ${delay} ms late, over a quarter of the check's shortest wait of ${shortestWindowMs} ms`;
}
