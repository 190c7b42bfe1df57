// What was done too late is said, and only that.
import { expect, it } from 'vitest';
import type { CheckContext } from '../../check.ts';
import { noteIfLate } from './lateness.ts';

it.each([
  [1499, []],
  [1500, ['the Subscribe took 500 ms, and 500 ms matter to it']],
])('at %i ms', (nowMs, expected) => {
  const notes: string[] = [];
  const noteLateness = (text: string) => void notes.push(text);
  const context = { now: () => nowMs, noteLateness } as unknown as CheckContext;
  noteIfLate(context, { sinceMs: 1000, maxMs: 500, step: 'the Subscribe' });
  expect(notes).toEqual(expected);
});
