// A folder of its own for a test, or for all tests of a file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** The path of a new folder, which is removed when the test has ended; with `afterAll`, outside of a test, when all tests of the file have. */
export function temporaryFolder(atEnd: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'truemq-conformance-test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
