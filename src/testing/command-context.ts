// A command's context for tests: streams that the test feeds and reads, and signals that it sends. Has the shape of the commands'
// CommandContext without importing it, because nothing may import the composition root.

import { PassThrough } from 'node:stream';

export type TestCommandContext = {
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  readonly isTerminal: boolean;
  readonly hasTerminal: boolean;
  /** Set by tests that have a terminal. */
  ask?: (question: string) => Promise<string>;
  askSecret?: (question: string) => Promise<string>;
  readonly environment: Readonly<Record<string, string>>;
  readonly onStopSignal: (handle: (signal: NodeJS.Signals) => void) => () => void;
  readonly onHangup: (handle: () => void) => () => void;
  readonly exitNow: (code: number) => void;
  /** What was written to stdout, or stderr, so far. */
  readonly output: () => string;
  readonly errors: () => string;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly hangUp: () => void;
  /** Exit codes passed to `exitNow`. */
  readonly exits: readonly number[];
};

export function testCommandContext(environment: Readonly<Record<string, string>> = {}): TestCommandContext {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const handlers = new Set<(signal: NodeJS.Signals) => void>();
  const hangupHandlers = new Set<() => void>();
  const exits: number[] = [];
  return {
    stdin,
    stdout,
    stderr,
    isTerminal: false,
    hasTerminal: false,
    environment,
    onStopSignal: (handle) => {
      handlers.add(handle);
      return () => void handlers.delete(handle);
    },
    onHangup: (handle) => {
      hangupHandlers.add(handle);
      return () => void hangupHandlers.delete(handle);
    },
    exitNow: (code) => void exits.push(code),
    output: gather(stdout),
    errors: gather(stderr),
    signal: (signal) => {
      for (const handle of handlers) handle(signal);
    },
    hangUp: () => {
      for (const handle of hangupHandlers) handle();
    },
    exits,
  };
}

function gather(stream: PassThrough): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
