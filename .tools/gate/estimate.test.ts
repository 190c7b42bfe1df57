// The figure of a row: what makes it steady, and that nothing gives no figure.
import { describe, expect, it } from 'vitest';
import { changeOfRounds, quantile, type Round, ratioOfRounds } from './estimate.ts';

/** Twenty turns of each, of which most were disturbed. */
const round = (brokerMs: number, skeletonMs: number, disturbedMs = 0): Round => ({
  brokerMs: turns(brokerMs, disturbedMs),
  skeletonMs: turns(skeletonMs, 0),
});

function turns(quickMs: number, disturbedMs: number): readonly number[] {
  return Array.from({ length: 20 }, (_, index) => quickMs + (index % 5 === 0 ? 0 : disturbedMs));
}

describe('the ratio of a row', () => {
  it('is that of the quick turns, whatever slowed the others down', () => {
    expect(ratioOfRounds([round(4, 1), round(4, 1, 100)])).toBe(4);
  });

  it('is that of the middle round, whatever one pair of processes has become', () => {
    expect(ratioOfRounds([round(4, 1), round(9, 1), round(5, 1), round(4.5, 1), round(0.1, 1)])).toBe(4.5);
  });

  it('rises with the time of every turn', () => {
    expect(ratioOfRounds([round(4.8, 1), round(4.8, 1)])).toBe(4.8);
  });

  it('is not known without turns of both', () => {
    expect(ratioOfRounds([])).toBeUndefined();
    expect(ratioOfRounds([{ brokerMs: [4], skeletonMs: [] }])).toBeUndefined();
    expect(ratioOfRounds([{ brokerMs: [], skeletonMs: [1] }, round(4, 1)])).toBeUndefined();
    expect(ratioOfRounds([{ brokerMs: [4], skeletonMs: [0] }])).toBeUndefined();
  });
});

describe('the change of a row', () => {
  it('is that of the middle round, each against its own kept broker', () => {
    const besideKept = (brokerMs: number, keptMs: number): Round => ({
      ...round(brokerMs, 1),
      keptMs: turns(keptMs, 3),
    });
    const rounds = [besideKept(6, 4), besideKept(12, 10), besideKept(4, 4)];
    expect(changeOfRounds(rounds)).toBeCloseTo(0.2, 9);
  });

  it('is not known without a kept broker in every round', () => {
    expect(changeOfRounds([])).toBeUndefined();
    expect(changeOfRounds([round(4, 1), { ...round(4, 1), keptMs: [4] }])).toBeUndefined();
  });
});

describe('a quantile', () => {
  it('lies between the two values beside it', () => {
    expect([0, 0.25, 0.5, 1].map((share) => quantile([3, 1, 2], share))).toEqual([1, 1.5, 2, 3]);
  });
});
