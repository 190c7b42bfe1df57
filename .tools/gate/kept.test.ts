// The kept rows of the gate: how they are made from measurements.
import { describe, expect, it } from 'vitest';
import { keptRows, type Run, thresholdFor } from './kept.ts';

const run = (ratio: number, change = 0): Run => [{ name: 'a', messageCount: 9, ratio, change }];

describe('the kept rows', () => {
  it('hold the median, the spread, and a threshold', () => {
    const rows = keptRows([run(4, 0.02), run(4.4, 0.045), run(4.1, -0.3), run(4.2)]);
    expect(rows).toEqual([{ name: 'a', ratio: 4.15, threshold: 0.09, spread: 0.096 }]);
  });

  it('are refused when one run has not measured a row', () => {
    const failed: Run = [{ name: 'a', messageCount: 0, fault: 'lost 3' }];
    expect(() => keptRows([run(4), failed])).toThrow('a: not measured: lost 3');
    expect(() => keptRows([run(4), [{ name: 'b', messageCount: 9, ratio: 4, change: 0 }]])).toThrow(
      'a: not measured',
    );
    expect(() => keptRows([run(4), [{ name: 'a', messageCount: 9, ratio: 4 }]])).toThrow(
      'a: not measured beside itself',
    );
    expect(() => keptRows([run(4)])).toThrow('at least two measurements');
  });

  it('have thresholds that neither chance reaches nor a fifth passes', () => {
    expect([-0.1, 0.045, 1].map(thresholdFor)).toEqual([0.08, 0.09, 0.12]);
  });
});
