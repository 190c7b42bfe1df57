// What a command reads from stdin: `process.stdin`, unless stdin is something that the runtime takes for an empty input.

import { createReadStream, fstatSync } from 'node:fs';
import type { Readable } from 'node:stream';

const STDIN = 0;

/** For a directory the runtime has an input without content; here it is one that fails with the reason. */
export function standardInput(): Readable {
  const status = fstatSync(STDIN);
  const isUnknown = status.isDirectory() || status.isBlockDevice();
  return isUnknown ? createReadStream('', { fd: STDIN, autoClose: false }) : process.stdin;
}
