// Puts a target file where the user wants it; never over another file unless that is wished.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../usage-error.ts';

/** Throws a UsageError when the file exists and `force` is not set, or when it cannot be written. */
export function writeTargetFile(path: string, text: string, force: boolean): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason =
      code === 'EEXIST' ? 'exists already; --force writes over it' : `cannot be written: ${message}`;
    throw new UsageError(`${path} ${reason}`);
  }
}
