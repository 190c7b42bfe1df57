// The rate limit, case by case.

import { describe, expect, it } from 'vitest';
import { RateLimit, RateLimitByAddress } from './rate-limit.ts';

describe('a rate limit', () => {
  it('lets the whole number pass at once, and no more in the window [LIMIT-006, LIMIT-007]', () => {
    const limit = new RateLimit(3, 1000);
    expect([0, 0, 0, 0, 999].map((at) => limit.admit(at))).toEqual([true, true, true, false, false]);
  });

  it('has a place free again when the window of the oldest is over [LIMIT-007]', () => {
    const limit = new RateLimit(2, 1000);
    expect([0, 500, 999, 1000, 1001, 1499, 1500].map((at) => limit.admit(at))).toEqual([
      true,
      true,
      false,
      true,
      false,
      false,
      true,
    ]);
  });

  it('takes no notice of what it refuses [LIMIT-011]', () => {
    const limit = new RateLimit(1, 1000);
    limit.admit(0);
    for (let at = 1; at < 1000; at += 1) limit.admit(at);
    expect(limit.admit(1000)).toBe(true);
  });

  it('can be asked without counting', () => {
    const limit = new RateLimit(1, 1000);
    expect([limit.allows(0), limit.allows(0)]).toEqual([true, true]);
    limit.count(0);
    expect(limit.allows(999)).toBe(false);
    expect(limit.allows(1000)).toBe(true);
  });

  it('works with a number of 1 and with fractions of a millisecond', () => {
    const limit = new RateLimit(1, 1000);
    expect([0.5, 1000.4, 1000.5, 2000.4999].map((at) => limit.admit(at))).toEqual([true, false, true, false]);
  });

  it.each([[[]], [[0]], [[0, 10]], [[0, 10, 20]], [[0, 10, 20, 1005, 1010]]])(
    'is quiet a window after the last of %j',
    (times) => {
      const limit = new RateLimit(3, 1000);
      for (const at of times) limit.admit(at);
      const last = times.at(-1) ?? -1000;
      expect([limit.isQuiet(last + 999), limit.isQuiet(last + 1000)]).toEqual([times.length === 0, true]);
    },
  );
});

describe('a rate limit by address', () => {
  it('counts each address for itself [LIMIT-009]', () => {
    const limits = new RateLimitByAddress(1, 1000);
    limits.count('a', 0);
    expect([limits.allows('a', 10), limits.allows('b', 10)]).toEqual([false, true]);
    expect(limits.allows('a', 1000)).toBe(true);
  });

  it('remembers nobody for asking', () => {
    const limits = new RateLimitByAddress(1, 1000);
    for (let index = 0; index < 100; index += 1) limits.allows(`address ${index}`, 0);
    expect(limits.size).toBe(0);
  });

  it('forgets addresses without recent events, and only those', () => {
    const limits = new RateLimitByAddress(2, 1000);
    limits.count('first', 0);
    for (let index = 0; index < 100; index += 1) limits.count(`address ${index}`, 10);
    limits.count('busy', 900);
    expect(limits.size).toBe(102);
    limits.count('new', 1500);
    expect(limits.size).toBe(2);
    limits.count('busy', 1600);
    expect(limits.allows('busy', 1700)).toBe(false);
  });
});
