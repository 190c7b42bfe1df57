// Measures the delay of the runner's event loop. A delayed runner reads frames late that arrived in time, so it cannot judge: the check
// becomes an error, never a failure or a pass.

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

/** The reason for an error if the delay was more than a quarter of the check's shortest wait; else undefined. */
export function starvation(worstDelayMs: number, minWaitMs: number): string | undefined {
  if (worstDelayMs <= minWaitMs / 4) return undefined;
  const delay = Math.round(worstDelayMs);
  return `the runner was starved: its loop was ${delay} ms late, over a quarter of the check's shortest wait of ${minWaitMs} ms`;
}
