// Microseconds on the monotonic clock, which all processes of one machine share: a stamp that the publisher's process wrote can be
// subtracted from the time in the subscriber's. Counted from a second that the measuring process names, so that a stamp
// fits 32 bits for an hour.

export type LoadClock = {
  /** Microseconds since the base, with a fraction. */
  nowUs(): number;
};

/** `baseSecond`: the first number of `process.hrtime()`, taken in any process of this machine. */
export function loadClock(baseSecond: number): LoadClock {
  return {
    nowUs: () => {
      const [seconds, nanoseconds] = process.hrtime();
      return (seconds - baseSecond) * 1e6 + nanoseconds / 1e3;
    },
  };
}

export function currentSecond(): number {
  return process.hrtime()[0];
}
