// Asks a question on the terminal. The terminal itself shows and edits what is typed, and Ctrl-C ends the process as usual.

import type { Readable, Writable } from 'node:stream';
import { readLines } from './lines.ts';

/** Resolves with the line that was typed; with nothing when the input ends (Ctrl-D). */
export async function askLine(question: string, input: Readable, output: Writable): Promise<string> {
  output.write(question);
  const lines = readLines({ [Symbol.asyncIterator]: () => input.iterator({ destroyOnReturn: false }) });
  const { value } = await lines.next();
  await lines.return(undefined);
  input.pause();
  if (value === undefined) output.write('\n');
  return value?.toString() ?? '';
}
