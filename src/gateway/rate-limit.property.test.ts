// The rate limit against a naive one that keeps the time of every event.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateLimit } from './rate-limit.ts';

class SlidingLog {
  readonly #admitted: number[] = [];
  readonly #max: number;
  readonly #windowMs: number;

  constructor(max: number, windowMs: number) {
    this.#max = max;
    this.#windowMs = windowMs;
  }

  admit(now: number): boolean {
    const recent = this.#admitted.filter((at) => now - at < this.#windowMs);
    if (recent.length >= this.#max) return false;
    this.#admitted.push(now);
    return true;
  }

  isQuiet(now: number): boolean {
    return this.#admitted.every((at) => now - at >= this.#windowMs);
  }
}

const times = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 300 }), fc.constant(0)), {
    maxLength: 200,
  })
  .map((steps) => {
    let now = 0;
    return steps.map((step) => {
      now += step;
      return now;
    });
  });

describe('a rate limit', () => {
  it('admits what a log of all moments admits [LIMIT-006, LIMIT-007]', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 200 }),
        times,
        (max, windowMs, moments) => {
          const limit = new RateLimit(max, windowMs);
          const log = new SlidingLog(max, windowMs);
          for (const now of moments) {
            expect(limit.isQuiet(now)).toBe(log.isQuiet(now));
            expect(limit.admit(now)).toBe(log.admit(now));
          }
        },
      ),
    );
  });

  it('admits in no window more than its number [LIMIT-007]', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 200 }),
        times,
        (max, windowMs, moments) => {
          const limit = new RateLimit(max, windowMs);
          const admitted = moments.filter((now) => limit.admit(now));
          for (const start of admitted) {
            const inWindow = admitted.filter((at) => at >= start && at < start + windowMs).length;
            expect(inWindow).toBeLessThanOrEqual(max);
          }
        },
      ),
    );
  });
});
