// The queues that the overview names, and sparklines.

import { describe, expect, it } from 'vitest';
import { testedRow } from '../../../../testing/tested-queue-row.ts';
import { growthOf, queuesToName } from './attention.ts';
import { sparkPath } from './spark-path.ts';

const names = (rows: Parameters<typeof queuesToName>[0], count = 5) =>
  queuesToName(rows, count).map(({ facts }) => facts.name);

describe('the growth of a queue', () => {
  it('is measured from a minute ago, or from the first message if that is later', () => {
    expect(growthOf(testedRow(1, 'a', { waitingCount: 160, depths: [0, 100, 110, 120, 130] }))).toBe(1);
    expect(growthOf(testedRow(1, 'a', { waitingCount: 40, depths: [100, 50] }))).toBe(-2);
    expect(growthOf(testedRow(1, 'a', { waitingCount: 60 }))).toBe(4);
  });
});

describe('the queues to name', () => {
  const growing = [1, 2, 3, 4].map((n) => testedRow(n, `grows-${n}`, { waitingCount: n * 60 }));
  const old = [1, 2, 3, 4].map((n) =>
    testedRow(n + 10, `old-${n}`, { waitingCount: 5, oldestAt: 1000 - n, depths: [5, 5, 5, 5] }),
  );

  it('are in turn the one that grows fastest and the one with the oldest message', () => {
    expect(names([...old, ...growing])).toEqual(['grows-4', 'old-4', 'grows-3', 'old-3', 'grows-2']);
  });

  it('are those with the oldest messages when none grows', () => {
    expect(names(old, 2)).toEqual(['old-4', 'old-3']);
  });

  it('are those that grow when they hold nothing old, each once', () => {
    expect(names(growing.map((row) => ({ ...row, oldestAt: 5 })))).toHaveLength(4);
  });

  it('are none while nothing waits', () => {
    expect(names([testedRow(1, 'a'), testedRow(2, 'b', { depths: [9, 9, 9, 9] })])).toEqual([]);
  });
});

describe('a sparkline', () => {
  const box = { width: 60, height: 16, slots: 61 };

  it('ends at the right edge, the highest depth at the top', () => {
    expect(sparkPath([0, 5, 10], box)).toBe('M58 16L59 8L60 0');
  });

  it('is empty when there is nothing to draw', () => {
    expect([sparkPath([], box), sparkPath([7], box), sparkPath([0, 0], box)]).toEqual(['', '', '']);
  });
});
