// How many refusals a client may have in a second, and for how long it waits then.

import { describe, expect, it } from 'vitest';
import { Refusals } from './refusals.ts';

/** What each of so many refusals at the same time says. */
const countAll = (refusals: Refusals, count: number, now: number) =>
  Array.from({ length: count }, () => refusals.count(now));

describe('the refusals of a client', () => {
  it('make it wait with the last one that it may have in a second, and none before [LIMIT-026]', () => {
    const refusals = new Refusals(5);
    expect(countAll(refusals, 999, 0)).toEqual(Array(999).fill(0));
    expect(refusals.count(250)).toBe(750);
  });

  it('may be as many as it may publish, if these are more than 1,000 [LIMIT-026]', () => {
    const refusals = new Refusals(1001);
    expect(countAll(refusals, 1000, 0)).toEqual(Array(1000).fill(0));
    expect(refusals.count(0)).toBe(1000);
  });

  it('make it wait once, however many commands were read before [LIMIT-026]', () => {
    const refusals = new Refusals(5);
    countAll(refusals, 1000, 0);
    expect(countAll(refusals, 300, 1)).toEqual(Array(300).fill(0));
    expect(countAll(refusals, 1000, 1000)).toEqual([...Array(999).fill(0), 1000]);
  });

  it('make it wait for whole milliseconds, and not too short [LIMIT-026]', () => {
    const refusals = new Refusals(5);
    countAll(refusals, 999, 0.5);
    expect(refusals.count(10.75)).toBe(990);
  });

  it('are forgotten after a second [LIMIT-026]', () => {
    const refusals = new Refusals(5);
    countAll(refusals, 999, 0);
    expect(countAll(refusals, 999, 1000)).toEqual(Array(999).fill(0));
  });
});
