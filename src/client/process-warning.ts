// Failures of the user's callbacks, which have nobody else to go to, become warnings of the process. They never end anything.

import { format } from 'node:util';

/** Calls a callback that may be async; its failure becomes a warning. Never throws. */
export function callSafely(what: string, callback: () => unknown): void {
  const call = async () => callback();
  call().catch((error: unknown) => warn(`${what} failed`, error));
}

export function warn(what: string, error: unknown): void {
  process.emitWarning(format('%s: %s', what, error instanceof Error ? error.message : error));
}
