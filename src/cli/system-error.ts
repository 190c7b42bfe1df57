// The reason of an error of the operating system, for people.

import { getSystemErrorMap } from 'node:util';

/** As the system words it, without codes: "no space left on device"; of any other error its message. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { errno, message } = error as NodeJS.ErrnoException;
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return known?.[1] ?? message;
}
