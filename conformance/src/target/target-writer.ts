// Writes a target file; replaces an existing file only with --force.
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../folders.ts';
import { systemFaultText } from '../system-fault.ts';
import { UsageError } from '../usage-error.ts';

/** Throws a UsageError when the file exists and `force` is not set, or when it cannot be written. */
export function writeTargetFile(path: string, text: string, force: boolean): void {
  try {
    makeFolder(dirname(path));
    writeFileSync(path, text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    const exists = code === 'EEXIST' && syscall === 'open';
    const reason = `cannot be written: ${systemFaultText(error) ?? message}`;
    throw new UsageError(`${path} ${exists ? 'exists already; --force writes over it' : reason}`);
  }
}
