// How many refusals a client may have in a second, and for how long it waits then.

import { describe, expect, it } from 'vitest';
import { ClientRates } from './client-rates.ts';

function clientWith(maxPerSecond: number) {
  const clock = { ms: 0 };
  const rates = new ClientRates(maxPerSecond, { now: () => clock.ms });
  /** What each of so many refusals at this time says. */
  const refused = (count: number, now: number) => {
    clock.ms = now;
    return Array.from({ length: count }, () => rates.refused());
  };
  return { refused };
}

describe('the refusals of a client', () => {
  it('make it wait with the last one that it may have in a second, and none before [LIMIT-026]', () => {
    const { refused } = clientWith(5);
    expect(refused(999, 0)).toEqual(Array(999).fill(0));
    expect(refused(1, 250)).toEqual([750]);
  });

  it('may be as many as it may publish, if these are more than 1,000 [LIMIT-026]', () => {
    const { refused } = clientWith(1001);
    expect(refused(1000, 0)).toEqual(Array(1000).fill(0));
    expect(refused(1, 0)).toEqual([1000]);
  });

  it('make it wait once, however many commands were read before [LIMIT-026]', () => {
    const { refused } = clientWith(5);
    refused(1000, 0);
    expect(refused(300, 1)).toEqual(Array(300).fill(0));
    expect(refused(1000, 1000)).toEqual([...Array(999).fill(0), 1000]);
  });

  it('make it wait for whole milliseconds, and not too short [LIMIT-026]', () => {
    const { refused } = clientWith(5);
    refused(999, 0.5);
    expect(refused(1, 10.75)).toEqual([990]);
  });

  it('are forgotten after a second [LIMIT-026]', () => {
    const { refused } = clientWith(5);
    refused(999, 0);
    expect(refused(999, 1000)).toEqual(Array(999).fill(0));
  });
});
