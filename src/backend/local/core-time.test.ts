// How the time of the environment is rounded for the core.

import { expect, it } from 'vitest';
import { coreTime } from './core-time.ts';

it.each([
  [10, 10],
  [10.001, 11],
  [10.999, 11],
])('makes %d ms whole, and never earlier: %d', (now, whole) => {
  expect(coreTime({ now: () => now, wallNow: () => 1_700_000_000_000 })).toEqual({
    now: whole,
    wallNow: 1_700_000_000_000,
  });
});

it('takes a time that was read before', () => {
  const clock = { now: () => 99, wallNow: () => 0 };
  expect(coreTime(clock, 10.5).now).toBe(11);
});
