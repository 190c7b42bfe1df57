// What the fuzzer draws: the same from the same seed, malformed in many ways, and intact often enough to reach what is behind the codec.

import { describe, expect, it } from 'vitest';
import { connectionsOf } from './broker-target.ts';
import { drawCase, FRAMES_PER_CASE } from './fuzz-case.ts';
import { splitNaively } from './naive-splitter.ts';
import { readSeeds } from './seed-frames.ts';

const seeds = readSeeds();
const cases = Array.from({ length: 300 }, (_, seed) => drawCase(seed, seeds));
const frames = cases.flat();
const hexOf = (some: readonly Buffer[]) => some.map((frame) => frame.toString('hex'));

describe('the cases of the fuzzer', () => {
  it('are the same for a seed, and others for another', () => {
    expect(hexOf(drawCase(7, seeds))).toEqual(hexOf(drawCase(7, seeds)));
    expect(hexOf(drawCase(7, seeds))).not.toEqual(hexOf(drawCase(8, seeds)));
    expect(new Set(hexOf(frames)).size).toBeGreaterThan(frames.length / 2);
  });

  it('contain each way in which a stream can end, and each kind of compression', () => {
    const splits = frames.map((frame) => splitNaively(frame, 65_536));
    const ends = new Set(splits.map(({ end }) => end));
    expect([...ends].sort()).toEqual(['INVALID_MESSAGE', 'MESSAGE_TOO_LARGE', 'nothing', 'part of a frame']);
    expect(new Set(splits.flatMap((split) => split.frames.map(({ flags }) => flags)))).toEqual(
      new Set([0, 1, 2]),
    );
  });

  it('leave nothing out when they are shared among connections', () => {
    for (const some of cases) {
      const groups = connectionsOf(some);
      expect(hexOf(groups.flatMap((group) => group.frames))).toEqual(hexOf(some));
      expect(groups.slice(0, -1).filter(({ isIntact }) => isIntact)).toEqual([]);
    }
    const intactCount = cases.flatMap(connectionsOf).filter(({ isIntact }) => isIntact).length;
    expect(intactCount).toBeGreaterThan(cases.length / 10);
    expect(frames).toHaveLength(cases.length * FRAMES_PER_CASE);
  });
});
