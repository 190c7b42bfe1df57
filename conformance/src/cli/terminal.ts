// The output of a command: injected, so that commands are tested without a process. Colours and the progress line are only for terminals;
// NO_COLOR and FORCE_COLOR are obeyed.
import type { Ask } from './questions.ts';

export type Terminal = {
  /** One line to standard output. */
  out(line: string): void;
  /** One line to standard error. */
  err(line: string): void;
  /** Standard output shows colours. */
  readonly color: boolean;
  /** Standard error shows colours; absent: no. */
  readonly errorColor?: boolean;
  /** Shows the progress in a line that the next output replaces; undefined erases it. Absent if the output is not a terminal. */
  progress?(text: string | undefined): void;
  /** Asks a person for one line; absent if the input is not a terminal. */
  ask?: Ask;
};

type Stream = { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };
type Environment = Readonly<Record<string, string | undefined>>;

/** The terminal of a process. */
export function terminalOf(stdout: Stream, stderr: Stream, environment: Environment): Terminal {
  const eraseLine = '\r\u001b[2K';
  let isShown = false;
  const erase = (): void => {
    if (isShown) stderr.write(eraseLine);
    isShown = false;
  };
  const line = (stream: Stream) => (text: string) => {
    erase();
    stream.write(`${text}\n`);
  };
  const progress = (text: string | undefined): void => {
    erase();
    if (text === undefined) return;
    stderr.write(text.slice(0, (stderr.columns || 80) - 1));
    isShown = true;
  };
  return {
    out: line(stdout),
    err: line(stderr),
    color: takesColor(stdout, environment),
    errorColor: takesColor(stderr, environment),
    ...(stderr.isTTY === true ? { progress } : {}),
  };
}

/** NO_COLOR wins where both are set; an empty variable says nothing. */
function takesColor(stream: Stream, { NO_COLOR = '', FORCE_COLOR = '' }: Environment): boolean {
  if (NO_COLOR !== '') return false;
  return FORCE_COLOR === '' ? stream.isTTY === true : FORCE_COLOR !== '0';
}
