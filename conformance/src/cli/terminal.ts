// Where a command writes: injected, so that commands are tested without a process.

export type Terminal = {
  /** One line to standard output. */
  out(line: string): void;
  /** One line to standard error. */
  err(line: string): void;
  readonly color: boolean;
};
