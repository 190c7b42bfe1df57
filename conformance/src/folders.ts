// Creates folders. Node's own recursive mkdir does not return where the system refuses new folders with ENOENT, as /proc does.
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Creates the folder and the missing ones above it. Throws the system's error. */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
