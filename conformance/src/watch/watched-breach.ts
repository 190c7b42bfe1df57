// What a frame broke, in words. Data only.

export type WatchedBreach = {
  /** The MUST that is broken. */
  readonly clause: string;
  /** The rule in words. */
  readonly what: string;
  readonly expected: string;
  readonly actual: string;
};
