// Quantiles of a histogram's difference, by hand.

import { expect, it } from 'vitest';
import { latencyQuantile } from './latency-quantile.ts';

const boundsMs = [1, 10, 100];
const none = { boundsMs, counts: [0, 0, 0, 0] };

it.each([
  [[4, 0, 0, 0], 0.5, 0.5],
  [[4, 0, 0, 0], 1, 1],
  [[0, 10, 0, 0], 0.5, 5.5],
  [[5, 5, 0, 0], 0.5, 1],
  [[5, 5, 0, 0], 0.75, 5.5],
  [[1, 0, 1, 0], 1, 100],
  [[0, 0, 0, 3], 0.5, 100],
])('of %j at share %d is %d ms', (counts, share, expected) => {
  expect(latencyQuantile(none, { boundsMs, counts }, share)).toBeCloseTo(expected, 10);
});

it('looks at what came since the earlier reading only', () => {
  const earlier = { boundsMs, counts: [100, 0, 0, 0] };
  expect(latencyQuantile(earlier, { boundsMs, counts: [100, 10, 0, 0] }, 0.5)).toBe(5.5);
});

it('is null when nothing came, or when the counts began anew', () => {
  const later = { boundsMs, counts: [3, 2, 1, 0] };
  expect(latencyQuantile(later, later, 0.5)).toBeNull();
  expect(latencyQuantile(later, none, 0.5)).toBeNull();
});

it('is 0 for a histogram without bounds', () => {
  expect(latencyQuantile({ boundsMs: [], counts: [0] }, { boundsMs: [], counts: [2] }, 0.99)).toBe(0);
});
