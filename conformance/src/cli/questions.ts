// Questions to a person at a terminal, one line each. Only where both sides are a terminal: a pipe must never be waited for.

import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';

/** Asks and resolves with the answer without its line end; rejects when the input ends first. */
export type Ask = (question: string) => Promise<string>;

export function askOn(input: Readable, output: Writable, signal: AbortSignal): Ask {
  return async (question) => {
    const lines = createInterface({ input, output });
    const ended = new Promise<never>((_, reject) => {
      lines.once('close', () => reject(new Error('the input ended before the question was answered')));
    });
    try {
      return await Promise.race([lines.question(question, { signal }), ended]);
    } finally {
      lines.close();
    }
  };
}
