// What a command of `truemq` is: what it is given and what it returns. Commands do not touch the process themselves (but for
// signals, which are handed in), so tests run them with streams of their own.

import type { Readable, Writable } from 'node:stream';

/** Exit codes of `truemq`. */
export const ExitCode = {
  /** Everything that was asked for was done. */
  Done: 0,
  /** It could not be done: the broker, the network, the machine. */
  Failed: 1,
  /** The command line or the configuration cannot be understood. */
  Usage: 2,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** What surrounds a command. */
export type CommandContext = {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Calls back at each SIGINT or SIGTERM, until the returned function is called. */
  readonly onStopSignal: (handle: (signal: NodeJS.Signals) => void) => () => void;
  /** Ends the process at once. */
  readonly exitNow: (code: number) => void;
};

export type Command = {
  /** What `truemq COMMAND --help` prints. */
  readonly help: string;
  /** @throws UsageError, ConfigurationError: the caller prints them and says where help is */
  run(argv: readonly string[], context: CommandContext): Promise<ExitCode>;
};
