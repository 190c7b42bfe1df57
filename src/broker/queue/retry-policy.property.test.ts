// The retry delay for any settings and any number of failed attempts. Proves RETRY (the doubling delay).

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryDelayMs } from './retry-policy.ts';

const delays = fc.record({ retryDelayMs: fc.nat(600_000), maxRetryDelayMs: fc.nat(86_400_000) });
const failures = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 2 ** 31 }));

describe('the retry delay', () => {
  it('is 0 after any number of failures when the first delay is 0', () => {
    expect(retryDelayMs(1, { retryDelayMs: 0, maxRetryDelayMs: 120_000 })).toBe(0);
    expect(retryDelayMs(1024, { retryDelayMs: 0, maxRetryDelayMs: 120_000 })).toBe(0);
    expect(retryDelayMs(1025, { retryDelayMs: 0, maxRetryDelayMs: 120_000 })).toBe(0);
  });

  it('is never negative, never above the maximum, and doubles until it reaches it', () => {
    fc.assert(
      fc.property(delays, failures, (settings, count) => {
        const delay = retryDelayMs(count, settings);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(settings.maxRetryDelayMs);
        expect(retryDelayMs(count + 1, settings)).toBe(Math.min(delay * 2, settings.maxRetryDelayMs));
      }),
      { examples: [[{ retryDelayMs: 0, maxRetryDelayMs: 120_000 }, 1025]] },
    );
  });
});
