// The whole transition table, and that what is not in it throws.

import { describe, expect, it } from 'vitest';
import {
  nextSessionState,
  type SessionOccurrence,
  type SessionState,
  sessionTransitions,
} from './session-state.ts';

const states: readonly SessionState[] = ['awaiting-connect', 'connecting', 'connected', 'closed'];
const occurrences: readonly SessionOccurrence[] = ['connect', 'accept', 'refuse', 'close'];
const legal = new Map([
  ['awaiting-connect connect', 'connecting'],
  ['awaiting-connect close', 'closed'],
  ['connecting accept', 'connected'],
  ['connecting refuse', 'awaiting-connect'],
  ['connecting close', 'closed'],
  ['connected close', 'closed'],
]);
const pairs = states.flatMap((state) => occurrences.map((occurrence) => [state, occurrence] as const));

describe('session states', () => {
  it.each(pairs)('from %s by %s go where the table says, or throw', (state, occurrence) => {
    const expected = legal.get(`${state} ${occurrence}`);
    if (expected !== undefined) expect(nextSessionState(state, occurrence)).toBe(expected);
    else expect(() => nextSessionState(state, occurrence)).toThrow(`A session that is ${state} cannot`);
  });

  it('are all in the table', () => {
    expect(Object.keys(sessionTransitions).sort()).toEqual([...states].sort());
  });
});
