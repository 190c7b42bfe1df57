// Short waits that hit their moment: a timer of the event loop is a millisecond late or more, which is ten times what is to be measured.
// The process sleeps until shortly before the moment; the last stretch is spent turning the event loop.

/** What the operating system's wake-up may be late by; slept less, turned more. */
const wakeUpUs = 150;
/** Longest sleep at a stretch, so that answers are read in time. */
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
