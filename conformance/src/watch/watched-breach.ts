// What a frame broke, in words. Data only.

export type UntimedBreach = {
  /** The MUST that is broken. */
  readonly clause: string;
  /** The rule in words. */
  readonly what: string;
  readonly expected: string;
  readonly actual: string;
};

export type WatchedBreach = UntimedBreach & {
  /** When the frame came that shows it, in milliseconds since the start of the run. */
  readonly atMs: number;
};
