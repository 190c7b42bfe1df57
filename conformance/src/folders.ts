// Creates folders. Node's recursive mkdir never returns if the system refuses a new folder with ENOENT, as /proc does.
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Creates the folder and its missing parent folders. Throws the error of the system. */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
