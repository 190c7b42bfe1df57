// How a message shows a value that a file or a program gave: as JSON, or as a program writes it where JSON has no such value. Pure.

import { inspect, isDeepStrictEqual } from 'node:util';

const MAX_CHARACTERS = 80;

/** `"soon"`, `{"a":1}`; `Infinity`, `1n`, `undefined`, `Map(0) {}`, which JSON would make null, an error or another value. At most 80 characters. */
export function writtenValue(value: unknown): string {
  const text = faithfulJson(value) ?? inspect(value, { breakLength: Number.POSITIVE_INFINITY });
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS - 3)}...`;
}

/** Undefined when the JSON would stand for another value. */
function faithfulJson(value: unknown): string | undefined {
  try {
    const text = JSON.stringify(value);
    return isDeepStrictEqual(JSON.parse(text), value) ? text : undefined;
  } catch {
    return undefined;
  }
}
