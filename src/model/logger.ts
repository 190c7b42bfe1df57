// The port to the log, for the operator; the composition root implements it. A log line is one short sentence in lower case and a few
// fields; it never holds a payload, a token, a password or a key (AUTH-054). Type only.

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type Logger = {
  /** Something is broken that the broker cannot mend. */
  error(sentence: string, fields?: LogFields): void;
  /** Something is odd, or the broker is set up in a way that may hurt. */
  warn(sentence: string, fields?: LogFields): void;
  /** What an operator wants to see once: started, stopping, stopped. */
  info(sentence: string, fields?: LogFields): void;
  /** One line per event; too much for every day. */
  debug(sentence: string, fields?: LogFields): void;
  /** False: debug lines are dropped, so nobody needs to collect their fields. Absent: they are written. */
  readonly writesDebug?: boolean;
};
