// The data of charts.

import { describe, expect, it } from 'vitest';
import { axisTop, CHART_SPAN_MS, chartData, timeRange, withoutShortGaps } from './chart-data.ts';

describe('the data of a chart', () => {
  it('has its times in seconds, and lines that do not change any more', () => {
    const line = [1, null];
    const data = chartData([1000, 2500], [line]);
    line.push(3);
    expect(data).toEqual([
      [1, 2.5],
      [1, null],
    ]);
  });

  it('is drawn through short gaps and not through long ones, or at the ends', () => {
    const line = [null, 1, null, null, 2, null, null, null, 3, null];
    expect(withoutShortGaps(line, 2)).toEqual([null, 1, undefined, undefined, 2, null, null, null, 3, null]);
  });

  it('ends with its last time, or now when it has none', () => {
    const span = CHART_SPAN_MS / 1000;
    expect(timeRange([5000, 6000], 9_000_000)).toEqual([6000 - span, 6000]);
    expect(timeRange([], 9_000_000)).toEqual([9000 - span, 9000]);
  });

  it('reaches its largest value, and at least what it is told', () => {
    expect(
      axisTop(
        [
          [1, null, 40],
          [undefined, 7],
        ],
        10,
      ),
    ).toBe(40);
    expect(axisTop([[1], []], 10)).toBe(10);
  });
});
