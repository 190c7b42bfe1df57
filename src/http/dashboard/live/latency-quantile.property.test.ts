// A quantile of a histogram lies in the bucket of the same quantile of the times themselves, whatever the times are.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { latencyQuantile } from './latency-quantile.ts';

const boundsMs = [1, 2, 5, 10, 100];

function histogramOf(timesMs: readonly number[]) {
  const counts = [...boundsMs, 0].map(() => 0);
  for (const timeMs of timesMs) {
    const bucket = bucketOf(timeMs);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return { boundsMs, counts };
}

function bucketOf(timeMs: number): number {
  const bucket = boundsMs.findIndex((boundMs) => timeMs <= boundMs);
  return bucket === -1 ? boundsMs.length : bucket;
}

const times = fc.array(fc.double({ min: 0.001, max: 1_000, noNaN: true }), { minLength: 1, maxLength: 50 });
const share = fc.double({ min: 0.01, max: 1, noNaN: true });

it('lies in the right bucket', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000)), times, share, (before, after, asked) => {
      const estimate =
        latencyQuantile(histogramOf(before), histogramOf([...before, ...after]), asked) ?? Number.NaN;
      const sorted = [...after].sort((a, b) => a - b);
      const bucket = bucketOf(sorted[Math.ceil(asked * sorted.length) - 1] ?? Number.NaN);
      const upper = boundsMs[bucket] ?? 100;
      expect(estimate).toBeGreaterThanOrEqual(boundsMs[bucket - 1] ?? 0);
      expect(estimate).toBeLessThanOrEqual(upper);
    }),
  );
});

it('never falls when the share rises', () => {
  fc.assert(
    fc.property(times, share, share, (after, one, other) => {
      const none = histogramOf([]);
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      const atLow = latencyQuantile(none, histogramOf(after), low) ?? Number.NaN;
      expect(latencyQuantile(none, histogramOf(after), high)).toBeGreaterThanOrEqual(atLow);
    }),
  );
});
