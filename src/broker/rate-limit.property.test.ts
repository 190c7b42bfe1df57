// The rate limit against a list of everything that was let through: never more than the limit in any window, and never
// refused while there was room.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimit, RateLimitByAddress } from './rate-limit.ts';

const WINDOW_MS = 1000;
const gaps = fc.array(fc.constantFrom(0, 0, 1, 100, 333, 500, 999, 1000, 1001, 5000), {
  maxLength: 60,
  size: 'max',
});

describe('a rate limit', () => {
  it('lets exactly as many through as fit into any window [LIMIT-006, LIMIT-007]', () => {
    const property = fc.property(fc.integer({ min: 1, max: 5 }), gaps, (most, waits) => {
      const limit = new RateLimit(most, WINDOW_MS);
      const admitted: number[] = [];
      let now = 0;
      for (const wait of waits) {
        now += wait;
        const fits = admitted.filter((at) => now - at < WINDOW_MS).length < most;
        expect(limit.allows(now)).toBe(fits);
        expect(limit.admit(now)).toBe(fits);
        if (fits) admitted.push(now);
        expect(limit.isQuiet(now)).toBe(!admitted.some((at) => now - at < WINDOW_MS));
        expect(limit.isQuiet(now + WINDOW_MS)).toBe(true);
      }
    });
    fc.assert(property);
  });

  it('lets the whole number through at once after a quiet window [LIMIT-006]', () => {
    const limit = new RateLimit(1000, WINDOW_MS);
    const burst = (now: number) =>
      Array.from({ length: 1500 }, () => limit.admit(now)).filter(Boolean).length;
    expect([burst(0), burst(999), burst(1000)]).toEqual([1000, 0, 1000]);
  });
});

describe('a rate limit by address', () => {
  it('counts each address alone [LIMIT-020]', () => {
    const limits = new RateLimitByAddress(2, WINDOW_MS);
    const allowed = ['a', 'a', 'a', 'b'].map((address) => {
      const allows = limits.allows(address, 0);
      if (allows) limits.count(address, 0);
      return allows;
    });
    expect(allowed).toEqual([true, true, false, true]);
  });

  it('forgets addresses that have gone quiet', () => {
    const limits = new RateLimitByAddress(2, WINDOW_MS);
    for (let number = 0; number < 100; number += 1) limits.count(`host ${number}`, number);
    limits.count('late', 3000);
    expect(limits.size).toBe(1);
    expect(limits.allows('host 1', 3000)).toBe(true);
  });
});
