// The data directory of one broker instance: fresh, its own, and removed when the broker is. It can be damaged, as a bad disk does.
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function makeDataDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'truemq-conformance-'));
}

/** Tries again for a while: on Windows a file stays locked a little longer than its process lives. */
export function removeDataDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
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
