// Which rows of a table are drawn.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { windowOf } from './window.ts';

const request = { rowCount: 10_000, rowHeight: 36, viewTop: 0, viewHeight: 720, overscan: 5 };

describe('the window of rows', () => {
  it('begins with the first row, and draws some beyond the view', () => {
    expect(windowOf(request)).toEqual({ first: 0, end: 25, above: 0, below: 9975 * 36 });
  });

  it('draws rows on both sides in the middle', () => {
    expect(windowOf({ ...request, viewTop: 36_000 })).toMatchObject({
      first: 995,
      end: 1025,
      above: 995 * 36,
    });
  });

  it('draws nothing of no rows', () => {
    expect(windowOf({ ...request, rowCount: 0 })).toEqual({ first: 0, end: 0, above: 0, below: 0 });
  });

  it('is always within the rows, covers what is in view, and keeps the height', () => {
    const property = fc.property(
      fc.nat(2000),
      fc.integer({ min: -5000, max: 90_000 }),
      fc.nat(3000),
      (rowCount, viewTop, viewHeight) => {
        const { first, end, above, below } = windowOf({ ...request, rowCount, viewTop, viewHeight });
        expect(first).toBeGreaterThanOrEqual(0);
        expect(end).toBeLessThanOrEqual(rowCount);
        expect(above + (end - first) * 36 + below).toBe(rowCount * 36);
        const firstSeen = Math.max(0, Math.floor(viewTop / 36));
        if (firstSeen < rowCount && viewTop + viewHeight > 0) expect(first).toBeLessThanOrEqual(firstSeen);
        const endSeen = Math.min(rowCount, Math.ceil((viewTop + viewHeight) / 36));
        expect(end).toBeGreaterThanOrEqual(endSeen);
      },
    );
    fc.assert(property);
  });
});
