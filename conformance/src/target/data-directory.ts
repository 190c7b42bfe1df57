// The data directory of one broker instance: fresh, its own, and removed when the broker is, at the latest when the runner's process exits.
// It can be damaged, as a bad disk does.
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemFault, systemFaultText } from '../system-fault.ts';
import { atExitLast } from './at-exit.ts';

/**
 * Every data directory of this process. An interrupt abandons brokers that are starting: nobody disposes of them, and an adapter may
 * create a directory again that was removed. So all of them are removed at the exit of the process, once more where necessary.
 */
const made = new Set<string>();

/** Throws a SystemFault when the folder for temporary files cannot be written. */
export function makeDataDirectory(): string {
  const folder = tmpdir();
  try {
    const path = mkdtempSync(join(folder, 'truemq-conformance-'));
    if (made.size === 0) atExitLast(removeAll);
    made.add(path);
    return path;
  } catch (error) {
    const reason = systemFaultText(error) ?? String(error);
    throw new SystemFault(
      `no data directory for the broker can be created in ${folder}: ${reason} with the environment variable TMPDIR`,
    );
  }
}

/** Tries again for a while: on Windows a file stays locked a little longer than its process lives. */
export function removeDataDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

function removeAll(): void {
  for (const path of made) {
    try {
      removeDataDirectory(path);
    } catch {
      // Nothing more can be done at the exit, and the exit code of the run must stay.
    }
  }
}

/** Overwrites every file in the folder, whole, with the same byte; tells how many there were. The broker must not run. */
export function damageFiles(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const written = files.filter((file) => overwrite(join(file.parentPath, file.name)));
  return written.length;
}

/** False for an empty file, which cannot be damaged. */
function overwrite(path: string): boolean {
  const { size } = statSync(path);
  writeFileSync(path, Buffer.alloc(size, 0x5a));
  return size > 0;
}
