// The data directory of one broker instance: fresh, its own, and removed when the broker is.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function makeDataDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'truemq-conformance-'));
}

/** Tries again for a while: on Windows a file stays locked a little longer than its process lives. */
export function removeDataDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
