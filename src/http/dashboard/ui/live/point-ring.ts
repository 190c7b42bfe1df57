// The points of the last 15 minutes, one a second, in columns as charts want them. The oldest makes room for the newest.

import type { Point, Points } from '../../live/live-events.ts';

/** 15 minutes of one a second. */
export const MAX_POINTS = 900;

const fields = [
  'at',
  'publishedRate',
  'deliveredRate',
  'acknowledgedRate',
  'errorRate',
  'waitingCount',
  'inFlightCount',
  'latencyP50Ms',
  'latencyP99Ms',
  'memoryBytes',
  'connectionCount',
] as const satisfies readonly (keyof Point)[];

export type PointField = (typeof fields)[number];
type Column = (number | null)[];

export class PointRing {
  #columns = new Map<PointField, Column>(fields.map((field) => [field, []]));

  /** Replaces all points; of more than {@link MAX_POINTS} the last. */
  reset(points: Points): void {
    this.#columns = new Map(fields.map((field) => [field, points[field].slice(-MAX_POINTS)]));
  }

  push(point: Point): void {
    for (const [field, column] of this.#columns) {
      if (column.length >= MAX_POINTS) column.shift();
      column.push(point[field]);
    }
  }

  /** Oldest first. The list changes with the next point: copy what must stay. */
  column(field: PointField): readonly (number | null)[] {
    return this.#columns.get(field) ?? [];
  }

  /** The newest value; null when there is none. */
  last(field: PointField): number | null {
    return this.column(field).at(-1) ?? null;
  }

  get length(): number {
    return this.column('at').length;
  }
}
