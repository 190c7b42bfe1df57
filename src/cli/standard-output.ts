// What a command writes to stdout, and what becomes of it: a file gets every byte or an error, and an error is told once, for all commands, and makes
// the exit code 1. A reader that closes the pipe is no error. Implements nothing of a command itself.

import { fstatSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { systemReason } from './system-error.ts';

const STDOUT = 1;

/** stdout, as `process.stdout` unless it is a file: the runtime's stream for files drops the rest of a write that the system has cut short. */
export function standardOutput(): Writable {
  return isFile(STDOUT) ? new FileOutput(STDOUT) : process.stdout;
}

function isFile(descriptor: number): boolean {
  const status = fstatSync(descriptor);
  return status.isFile() || (status.isCharacterDevice() && !isatty(descriptor));
}

/** Writes to an open file, and calls back when the system has taken all bytes, or with its error. Does not close the file. */
export class FileOutput extends Writable {
  readonly #descriptor: number;
  readonly #write: typeof writeSync;

  /** `write`: as `fs.writeSync`, for tests. */
  constructor(descriptor: number, write: typeof writeSync = writeSync) {
    super({ decodeStrings: true });
    this.#descriptor = descriptor;
    this.#write = write;
  }

  override _write(chunk: Buffer, _: BufferEncoding, callback: (error?: Error) => void): void {
    try {
      for (let start = 0; start < chunk.length; ) start += this.#write(this.#descriptor, chunk, start);
    } catch (error) {
      callback(error as Error);
      return;
    }
    callback();
  }
}

/** Whether a write failed because the reader has closed the pipe, or the terminal. */
export function isClosedByReader(error: unknown, stdout: Writable): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EPIPE' || (code === 'EIO' && 'isTTY' in stdout);
}

/** Tells the first error of `stdout` on `stderr`. Resolves, when all that was written is dealt with, with whether there was one. */
export function watchOutput(stdout: Writable, stderr: Writable): () => Promise<boolean> {
  let hasFailed = false;
  stdout.on('error', (error) => {
    if (hasFailed || isClosedByReader(error, stdout)) return;
    hasFailed = true;
    stderr.write(`truemq: stdout cannot be written: ${systemReason(error)}\n`);
  });
  return async () => {
    await new Promise<void>((resolve) => stdout.write('', () => resolve()));
    // The stream calls back before it tells its error.
    await new Promise<void>((resolve) => setImmediate(resolve));
    return hasFailed;
  };
}
