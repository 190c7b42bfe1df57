// Random scenarios that were given up have shown nothing: they do not count towards what a pass needs.
import { describe, expect, it } from 'vitest';
import { isEnough, playedText } from './exploration.ts';

describe('random scenarios', () => {
  it('are enough when 24 were played to their end', () => {
    expect([isEnough(24, 0), isEnough(80, 56)]).toEqual([true, true]);
    expect(playedText(24, 0)).toBe('24 scenarios were played');
  });

  it('are not enough when too many were given up, however many were played', () => {
    expect([isEnough(80, 57), isEnough(24, 1), isEnough(80, 80)]).toEqual([false, false, false]);
    expect(playedText(80, 80)).toBe(
      '80 scenarios were played, 80 of them not to the end; 24 have to be played to it',
    );
  });
});
