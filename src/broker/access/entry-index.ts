// The entries of an access list by what their patterns begin or end with, so that a name is compared with the few that may match it: a user
// may have 1,000 entries, and a list of queues asks for each of 100,000 names. Implements AUTH-018 and AUTH-020.

import { foldCase, Pattern } from './pattern.ts';

type Indexed<Value> = { readonly pattern: Pattern; readonly value: Value };

/** Entries by a literal part of their patterns, and those by the length of the part, which says what part of a name to look up. */
type EntriesByPart<Value> = Map<number, Map<string, Indexed<Value>[]>>;

export class EntryIndex<Value> {
  readonly #byStart: EntriesByPart<Value> = new Map();
  /** Those whose end is longer than their start. */
  readonly #byEnd: EntriesByPart<Value> = new Map();

  add(text: string, value: Value): void {
    const pattern = new Pattern(text);
    const { start, end = '' } = pattern;
    if (end.length > start.length) addByPart(this.#byEnd, end, { pattern, value });
    else addByPart(this.#byStart, start, { pattern, value });
  }

  /** The values of the patterns that match the name, in no order that means anything. */
  *matching(name: string): Generator<Value, void> {
    const folded = foldCase(name);
    for (const [length, entries] of this.#byStart)
      yield* matches(entries.get(folded.slice(0, length)), folded);
    for (const [length, entries] of this.#byEnd) yield* matches(entries.get(folded.slice(-length)), folded);
  }
}

function addByPart<Value>(index: EntriesByPart<Value>, part: string, entry: Indexed<Value>): void {
  const sameLength = index.get(part.length) ?? new Map<string, Indexed<Value>[]>();
  index.set(part.length, sameLength);
  const samePart = sameLength.get(part) ?? [];
  sameLength.set(part, samePart);
  samePart.push(entry);
}

function* matches<Value>(entries: readonly Indexed<Value>[] = [], name: string): Generator<Value, void> {
  for (const { pattern, value } of entries) {
    if (pattern.matches(name)) yield value;
  }
}
