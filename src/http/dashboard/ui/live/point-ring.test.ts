// The ring of points.

import { describe, expect, it } from 'vitest';
import type { Point, Points } from '../../live/live-events.ts';
import { MAX_POINTS, PointRing } from './point-ring.ts';

const point = (at: number): Point => ({
  at,
  publishedRate: at * 2,
  deliveredRate: 0,
  acknowledgedRate: 0,
  errorRate: 0,
  waitingCount: 0,
  inFlightCount: 0,
  latencyP50Ms: null,
  latencyP99Ms: null,
  memoryBytes: 0,
  connectionCount: 0,
});

function pointsOf(count: number): Points {
  const all = Array.from({ length: count }, (_, index) => point(index));
  const fields = Object.keys(point(0)) as (keyof Point)[];
  return Object.fromEntries(
    fields.map((field) => [field, all.map((each) => each[field])]),
  ) as unknown as Points;
}

describe('the ring of points', () => {
  it('is empty at first', () => {
    const ring = new PointRing();
    expect(ring.length).toBe(0);
    expect(ring.last('at')).toBeNull();
  });

  it('holds the last 15 minutes', () => {
    const ring = new PointRing();
    for (let at = 0; at < MAX_POINTS + 3; at += 1) ring.push(point(at));
    expect(ring.length).toBe(MAX_POINTS);
    expect(ring.column('at')[0]).toBe(3);
    expect(ring.last('publishedRate')).toBe((MAX_POINTS + 2) * 2);
  });

  it('is replaced by the points of a snapshot, and does not change them', () => {
    const ring = new PointRing();
    ring.push(point(99));
    const points = pointsOf(MAX_POINTS + 1);
    ring.reset(points);
    ring.push(point(2000));
    expect(ring.column('at')[0]).toBe(2);
    expect(ring.last('at')).toBe(2000);
    expect(points.at).toHaveLength(MAX_POINTS + 1);
  });
});
