// The data directory of one broker instance: new, and removed with the broker, at the latest when the process of the runner exits. Its
// files can be damaged, as a faulty disk does.
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemFault, systemFaultText } from '../system-fault.ts';
import { atExitLast } from './at-exit.ts';

/**
 * Every data directory of this process. An interrupt abandons brokers that are starting, and an adapter may create a removed directory
 * again. So all of them are removed at the exit of the process.
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

/** Tries several times: on Windows a file stays locked for a short time after its process has ended. */
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

/** Overwrites every file in the folder completely with one byte value; returns the number of files. The broker must not run. */
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
