// The kept rows of the gate: how they are made from measurements.
import { describe, expect, it } from 'vitest';
import type { Run } from './kept.ts';
import { keptRows, thresholdFor } from './kept.ts';

const run = (isBesideLoad: boolean, cpuRatio: number, rateRatio = 0.3): Run => ({
  isBesideLoad,
  rows: [{ name: 'a', messageCount: 9, cpuRatio, rateRatio }],
});

describe('the kept rows', () => {
  it('hold the median, the spread, what load changes, and a threshold', () => {
    const rows = keptRows([run(false, 4), run(true, 4.4), run(false, 4.1, 0.6), run(true, 4.2)]);
    expect(rows).toEqual([
      { name: 'a', cpuRatio: 4.15, threshold: 0.09, spread: 0.096, loadShift: 1.062, rateSpread: 1 },
    ]);
  });

  it('are refused when one run has not measured a row', () => {
    const failed: Run = { isBesideLoad: false, rows: [{ name: 'a', messageCount: 0, fault: 'lost 3' }] };
    expect(() => keptRows([run(false, 4), failed])).toThrow('a: not measured: lost 3');
    expect(() => keptRows([run(false, 4)])).toThrow('at least two measurements');
  });

  it('have thresholds that neither chance reaches nor a fifth passes', () => {
    expect([0, 0.06, 1].map(thresholdFor)).toEqual([0.08, 0.09, 0.14]);
  });
});
