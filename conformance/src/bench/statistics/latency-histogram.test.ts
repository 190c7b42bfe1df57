// Percentiles against sorting, for small values exactly and for all others within the promised share.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LatencyHistogram } from './latency-histogram.ts';

function histogramOf(values: readonly number[]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.add(value);
  return histogram;
}

/** The plain definition: the least value that at least this share does not exceed. */
function sortedPercentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? 0;
}

describe('a latency histogram', () => {
  it('is exact below 256 µs', () => {
    const histogram = histogramOf([5, 1, 3, 2, 4]);
    expect(histogram.summary()).toEqual({ count: 5, p50Us: 3, p90Us: 5, p99Us: 5, p999Us: 5, maxUs: 5 });
  });

  it('says 0 for no samples, and takes nothing below 0', () => {
    expect(histogramOf([]).percentileUs(0.99)).toBe(0);
    expect(histogramOf([-20]).summary()).toMatchObject({ count: 1, p50Us: 0, maxUs: 0 });
  });

  it('is never too low, and at most 0.8 percent too high', () => {
    const samples = fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(samples, fc.double({ min: 0, max: 1, noNaN: true }), (values, share) => {
        const exact = sortedPercentile(values, share);
        const told = histogramOf(values).percentileUs(share);
        expect(told).toBeGreaterThanOrEqual(exact);
        expect(told).toBeLessThanOrEqual(exact * (1 + 1 / 128) + 1);
      }),
    );
  });

  it('travels as a record and adds up', () => {
    const values = fc.array(fc.integer({ min: 0, max: 10_000_000 }));
    fc.assert(
      fc.property(values, values, (left, right) => {
        const sum = new LatencyHistogram();
        sum.addAll(JSON.parse(JSON.stringify(histogramOf(left).record())));
        sum.addAll(histogramOf(right).record());
        expect(sum.summary()).toEqual(histogramOf([...left, ...right]).summary());
      }),
    );
  });
});
