// One queue as the page holds it: what stays the same, what changes, and its depths for the sparkline. Rows are replaced and never changed, so that
// whoever draws one sees by identity whether it has to be drawn again.

import type { QueueFacts, QueueValues } from '../../live/live-events.ts';

/** Depths are this far apart, as those of a snapshot are. */
export const DEPTH_INTERVAL_MS = 15_000;
export const MAX_DEPTHS = 60;

export type QueueRow = {
  readonly facts: QueueFacts;
  readonly waitingCount: number;
  readonly inFlightCount: number;
  /** A second, as the next. */
  readonly publishedRate: number;
  readonly deliveredRate: number;
  /** Milliseconds since 1970 by the broker's clock; 0: no message waits. */
  readonly oldestAt: number;
  readonly subscriberCount: number;
  readonly isNotAcknowledging: boolean;
  readonly deadLetterCount: number;
  /** Oldest first, at most {@link MAX_DEPTHS}. */
  readonly depths: readonly number[];
};

/** A queue of which no value has come yet. */
export function newRow(facts: QueueFacts): QueueRow {
  return {
    facts,
    waitingCount: 0,
    inFlightCount: 0,
    publishedRate: 0,
    deliveredRate: 0,
    oldestAt: 0,
    subscriberCount: 0,
    isNotAcknowledging: false,
    deadLetterCount: 0,
    depths: facts.depths,
  };
}

export function withValues(row: QueueRow, values: QueueValues): QueueRow {
  const [, waitingCount, inFlightCount, publishedRate, deliveredRate, oldestAt, subscriberCount] = values;
  return {
    ...row,
    waitingCount,
    inFlightCount,
    publishedRate,
    deliveredRate,
    oldestAt,
    subscriberCount,
    isNotAcknowledging: values[7] === 1,
    deadLetterCount: values[8],
  };
}

/** The row with its present depth at the end. The same row while nothing has ever waited in it. */
export function withDepth(row: QueueRow): QueueRow {
  if (row.depths.length === 0 && row.waitingCount === 0) return row;
  return { ...row, depths: [...row.depths.slice(1 - MAX_DEPTHS), row.waitingCount] };
}
