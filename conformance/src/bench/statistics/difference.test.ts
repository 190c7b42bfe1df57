// Medians and noise over rounds, and when a difference is believed.
import { describe, expect, it } from 'vitest';
import type { FigureDifference } from './difference.ts';
import { differenceOf } from './difference.ts';
import type { Estimate } from './estimate.ts';
import { estimateOf, ratioOf } from './estimate.ts';

function estimate(...rounds: readonly number[]): Estimate {
  const found = estimateOf(rounds);
  if (found === undefined) throw new Error('no rounds');
  return found;
}

describe('an estimate', () => {
  it('is the median, with how far the rounds lie apart', () => {
    expect(estimateOf([110, 90, 100])).toEqual({
      median: 100,
      low: 90,
      high: 110,
      spread: 0.2,
      roundCount: 3,
    });
    expect(estimateOf([1, 2, 3, 4])?.median).toBe(2.5);
  });

  it('leaves out rounds that failed, and is none when all did', () => {
    expect(estimateOf([null, 7, null])).toMatchObject({ median: 7, spread: 0, roundCount: 1 });
    expect(estimateOf([null])).toBeUndefined();
    expect(estimateOf([])).toBeUndefined();
  });
});

describe('a ratio', () => {
  it('is taken round by round, so that a slow hour is in both parts', () => {
    const ceiling = [400, 100, 200];
    expect(ratioOf([200, 50, 100], ceiling)).toMatchObject({ median: 0.5, spread: 0 });
  });

  it('leaves out rounds in which either failed', () => {
    expect(ratioOf([200, null, 90], [400, 100, null])).toMatchObject({ median: 0.5, roundCount: 1 });
    expect(ratioOf([1], [0])).toBeUndefined();
  });
});

describe('a difference', () => {
  it.each<[string, Estimate, Estimate, FigureDifference['verdict']]>([
    ['more of what is better', estimate(100, 101, 102), estimate(120, 121, 122), 'better'],
    ['less of it', estimate(120, 121, 122), estimate(100, 101, 102), 'worse'],
    ['rounds that overlap', estimate(80, 100, 120), estimate(110, 125, 140), 'within noise'],
    ['apart, by less than the rounds are', estimate(80, 100, 119), estimate(120, 121, 122), 'within noise'],
    ['apart, by less than any machine is', estimate(100, 100, 100), estimate(102, 102, 102), 'within noise'],
    ['two rounds', estimate(100, 100), estimate(200, 200), 'too few rounds'],
    ['one and many', estimate(100), estimate(200, 200, 200), 'too few rounds'],
  ])('%s', (_, before, after, verdict) => {
    expect(differenceOf(before, after, 'more').verdict).toBe(verdict);
  });

  it('turns round where less is better', () => {
    const [low, high] = [estimate(10, 10, 10), estimate(20, 20, 20)];
    expect(differenceOf(low, high, 'less')).toMatchObject({ ratio: 2, verdict: 'worse' });
    expect(differenceOf(high, low, 'less')).toMatchObject({ ratio: 0.5, verdict: 'better' });
  });
});
