// The figure of a row: what makes it steady, and that nothing gives no figure.
import { describe, expect, it } from 'vitest';
import { type Pair, quantile, ratioOfPairs } from './estimate.ts';

/** Twenty turns of each, of which most were disturbed. */
const pair = (brokerMs: number, skeletonMs: number, disturbedMs = 0): Pair => ({
  brokerMs: turns(brokerMs, disturbedMs),
  skeletonMs: turns(skeletonMs, 0),
});

function turns(quickMs: number, disturbedMs: number): readonly number[] {
  return Array.from({ length: 20 }, (_, index) => quickMs + (index % 5 === 0 ? 0 : disturbedMs));
}

describe('the ratio of a row', () => {
  it('is that of the quick turns, whatever slowed the others down', () => {
    expect(ratioOfPairs([pair(4, 1), pair(4, 1, 100)])).toBe(4);
  });

  it('is that of the middle pair, whatever one pair of processes has become', () => {
    expect(ratioOfPairs([pair(4, 1), pair(9, 1), pair(5, 1), pair(4.5, 1), pair(0.1, 1)])).toBe(4.5);
  });

  it('rises with the time of every turn', () => {
    expect(ratioOfPairs([pair(4.8, 1), pair(4.8, 1)])).toBe(4.8);
  });

  it('is not known without turns of both', () => {
    expect(ratioOfPairs([])).toBeUndefined();
    expect(ratioOfPairs([{ brokerMs: [4], skeletonMs: [] }])).toBeUndefined();
    expect(ratioOfPairs([{ brokerMs: [], skeletonMs: [1] }, pair(4, 1)])).toBeUndefined();
    expect(ratioOfPairs([{ brokerMs: [4], skeletonMs: [0] }])).toBeUndefined();
  });
});

describe('a quantile', () => {
  it('lies between the two values beside it', () => {
    expect([0, 0.25, 0.5, 1].map((share) => quantile([3, 1, 2], share))).toEqual([1, 1.5, 2, 3]);
  });
});
