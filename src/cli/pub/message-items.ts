// The messages that `truemq pub` is to publish: one from the command line, or one per line of stdin. Checks that each is JSON; publishes nothing.

import type { Readable } from 'node:stream';
import { readLines } from '../lines.ts';

/** One message of the input. */
export type Item = {
  readonly bytes: Buffer;
  /** From 1; undefined: it is from the command line. */
  readonly line: number | undefined;
};

/** `maxLineBytes`: no frame takes a longer message, so the rest of a longer line is not kept. */
export async function* messageItems(
  json: Buffer | undefined,
  count: number,
  stdin: Readable,
  maxLineBytes: number,
): AsyncGenerator<Item> {
  if (json !== undefined) {
    for (let copy = 0; copy < count; copy += 1) yield { bytes: json, line: undefined };
    return;
  }
  let line = 0;
  for await (const bytes of readLines(stdin, maxLineBytes)) {
    line += 1;
    if (bytes.length === 0) continue;
    for (let copy = 0; copy < count; copy += 1) yield { bytes, line };
  }
}

/** The values of `source` until it ends, with a call of `onLast`, or until `ended` resolves, even while it is waiting for its next value. */
export async function* valuesUntil<Value>(
  source: AsyncGenerator<Value>,
  ended: Promise<unknown>,
  onLast: () => void,
): AsyncGenerator<Value> {
  // One listener for all values: a race with a promise that lives long would keep something for each of them.
  let stop: () => void = () => undefined;
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
    stop();
  });
  for (;;) {
    const next = await new Promise<IteratorResult<Value> | undefined>((resolve, reject) => {
      stop = () => resolve(undefined);
      if (hasEnded) stop();
      else source.next().then(resolve, reject);
    });
    if (next === undefined) return;
    if (next.done === true) return onLast();
    yield next.value;
  }
}

/** Whether a line is longer than any message may be; only its start was kept. */
export function isTooLong({ bytes, line }: Item, maxLineBytes: number): boolean {
  return line !== undefined && bytes.length > maxLineBytes;
}

/** Why a text cannot be published; undefined if it is JSON in UTF-8. */
export function jsonProblem(bytes: Buffer): string | undefined {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return undefined;
  } catch (error) {
    return error instanceof SyntaxError ? `not JSON (${error.message})` : 'not UTF-8';
  }
}
