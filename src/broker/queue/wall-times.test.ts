// What the wall clock showed at an instant stays the same, also when the clock is set later.

import { describe, expect, it } from 'vitest';
import { WallTimes } from './wall-times.ts';

function noted(...times: readonly (readonly [now: number, wallNow: number])[]): WallTimes {
  const wallTimes = new WallTimes();
  for (const [now, wallNow] of times) wallTimes.note({ now, wallNow });
  return wallTimes;
}

describe('an instant of the wall clock', () => {
  it('is as far from now as that of the monotonic clock, also before the first note [DASH-041]', () => {
    const wallTimes = noted([100, 5_000]);
    expect([-40, 99, 100, 250].map((instant) => wallTimes.at(instant))).toEqual([4_860, 4_999, 5_000, 5_150]);
  });

  it('stays when the clocks differ by a millisecond more or less [DASH-041]', () => {
    const wallTimes = noted([100, 5_000], [110, 5_009], [120, 5_021], [130, 5_029]);
    expect(wallTimes.at(130)).toBe(5_030);
    expect(wallTimes.at(115)).toBe(5_015);
  });

  it('stays when the wall clock is set, and later ones are those of the new time [DASH-041]', () => {
    const wallTimes = noted([100, 5_000], [200, 905_100], [300, 5_202]);
    expect([100, 199, 200, 299, 300].map((instant) => wallTimes.at(instant))).toEqual([
      5_000, 5_099, 905_100, 905_199, 5_202,
    ]);
  });

  it('is told when it is noted', () => {
    const wallTimes = noted([100, 5_000]);
    expect(wallTimes.note({ now: 110, wallNow: 5_011 })).toBe(5_010);
    expect(wallTimes.note({ now: 120, wallNow: 6_020 })).toBe(6_020);
  });

  it('is one of the new time from a difference of two milliseconds on', () => {
    expect(noted([100, 5_000], [200, 5_102]).at(200)).toBe(5_102);
    expect(noted([100, 5_000], [200, 5_098]).at(200)).toBe(5_098);
  });

  it('is kept of the last thousand changes', () => {
    const wallTimes = new WallTimes();
    for (let count = 0; count <= 1_000; count += 1) wallTimes.note({ now: count, wallNow: 10 * count });
    expect(wallTimes.at(0)).toBe(9);
    expect(wallTimes.at(1)).toBe(10);
    expect(wallTimes.at(1_000)).toBe(10_000);
  });

  it('is that of the monotonic clock before anything was noted', () => {
    expect(new WallTimes().at(7)).toBe(7);
  });
});
