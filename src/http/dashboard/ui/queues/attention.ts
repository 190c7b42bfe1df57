// The queues that the overview names: in turn the one that grows fastest and the one that holds the oldest message. Pure.

import { DEPTH_INTERVAL_MS, type QueueRow } from '../live/queue-row.ts';

/** Growth is measured over at most this many depths. */
const DEPTHS_OF_A_MINUTE = 60_000 / DEPTH_INTERVAL_MS;

/**
 * How many messages a second more wait than a minute ago, or than when the first of them came if that is later; negative while the queue
 * drains.
 */
export function growthOf({ waitingCount, depths }: QueueRow): number {
  const knownCount = Math.min(depths.length, DEPTHS_OF_A_MINUTE);
  const before = depths.at(-knownCount) ?? 0;
  return (waitingCount - before) / ((Math.max(1, knownCount) * DEPTH_INTERVAL_MS) / 1000);
}

/** At most `count` queues, each once. Queues that neither grow nor hold a message are left out. */
export function queuesToName(queues: Iterable<QueueRow>, count: number): readonly QueueRow[] {
  const rows = [...queues];
  const growing = top(rows, growthOf, count);
  const oldest = top(rows, ({ oldestAt }) => (oldestAt === 0 ? 0 : 1 / oldestAt), count);
  const inTurn = growing.length === 0 ? oldest : growing.flatMap((row, index) => [row, oldest[index] ?? row]);
  return [...new Set([...inTurn, ...oldest])].slice(0, count);
}

/** The rows with the largest values above 0, largest first. */
function top(
  rows: readonly QueueRow[],
  value: (row: QueueRow) => number,
  count: number,
): readonly QueueRow[] {
  return rows
    .map((row) => ({ row, value: value(row) }))
    .filter((each) => each.value > 0)
    .sort((a, b) => b.value - a.value)
    .slice(0, count)
    .map(({ row }) => row);
}
