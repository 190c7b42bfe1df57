// The two clocks of an input. The core never reads a clock: whoever calls it says what time it is.

export type Time = {
  /** Milliseconds on a clock that never goes back; every deadline is counted on it. Best whole: each message keeps one. */
  readonly now: number;
  /** Milliseconds since 1970 in UTC; only for timestamps that leave the broker and for ages across a restart. */
  readonly wallNow: number;
};
