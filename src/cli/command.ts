// The type of a `truemq` command: its context and its result. Commands use the process only through their context, so tests run them with
// streams of their own.

import type { Readable, Writable } from 'node:stream';

/** Exit codes of `truemq`. */
export const ExitCode = {
  /** The command did everything that was requested. */
  Done: 0,
  /** The command failed because of the broker, the network or the machine. */
  Failed: 1,
  /** The command line or the configuration is not valid. */
  Usage: 2,
  /** Ctrl-C came before the command had done what was requested. */
  Interrupted: 130,
  /** SIGTERM did so. */
  Terminated: 143,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The exit code of a command that a signal kept from doing what was requested, as shells number it. */
export function exitCodeAfter(signal: NodeJS.Signals): ExitCode {
  return signal === 'SIGTERM' ? ExitCode.Terminated : ExitCode.Interrupted;
}

/** stdin and stdout as one terminal. */
export type Terminal = {
  readonly input: Readable & { setRawMode(isRaw: boolean): unknown };
  /** Emits `resize`. The sizes may be 0 or absent: unknown. */
  readonly output: Writable & { readonly columns?: number; readonly rows?: number };
  /** Calls back when the process ends, in whatever way, until the returned function is called. Only synchronous work is done then. */
  readonly onExit: (handle: () => void) => () => void;
};

/** The streams, environment and signals of a command. */
export type CommandContext = {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
  /** Whether stdin, stdout or stderr is a terminal, which can be closed. */
  readonly hasTerminal: boolean;
  /** Asks a question on the terminal and resolves with the answer; absent: stdin is no terminal. */
  readonly ask?: ((question: string) => Promise<string>) | undefined;
  /** Asks for a secret on the terminal, without showing it; absent: nobody can be asked. */
  readonly askSecret?: ((question: string) => Promise<string>) | undefined;
  /** Absent: stdin or stdout is no terminal. */
  readonly terminal?: Terminal | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Calls back at each SIGINT or SIGTERM, until the returned function is called. */
  readonly onStopSignal: (handle: (signal: NodeJS.Signals) => void) => () => void;
  /** Calls back at each SIGHUP, until the returned function is called. */
  readonly onHangup: (handle: () => void) => () => void;
  /** Ends the process immediately. */
  readonly exitNow: (code: number) => void;
};

export type Command = {
  /** What `truemq COMMAND --help` prints. */
  readonly help: string;
  /** Of a command with actions: the names of the flags that an action has and not every other one, by the action. */
  readonly actionFlags?: Readonly<Record<string, readonly string[]>>;
  /** @throws UsageError, ConfigurationError: the caller prints them and points to the help */
  run(argv: readonly string[], context: CommandContext): Promise<ExitCode>;
};

/** A command in the table of commands, loaded on demand. */
export type CommandEntry = { readonly summary: string; readonly load: () => Promise<Command> };
