// Short precise waits: a timer of the event loop is at least a millisecond late, ten times what is measured. The process sleeps until
// shortly before the deadline, and then turns the event loop.

/** How late the wake-up of the operating system may be; the sleep is shorter by this time. */
const wakeUpUs = 150;
/** The longest single sleep, so that answers are read in time. */
const maxSleepUs = 1000;

/** Sleeps for at most `durationUs`, less a margin; returns at once when that is not worth it. */
export function sleeper(): (durationUs: number) => void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  return (durationUs) => {
    const sleepUs = Math.min(maxSleepUs, durationUs - wakeUpUs);
    if (sleepUs > 0) Atomics.wait(cell, 0, 0, sleepUs / 1e3);
  };
}

export function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
