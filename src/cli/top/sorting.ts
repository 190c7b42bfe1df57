// The orders of the rows. Numbers start with the largest and names with the first; rows that are equal follow each other by name.

import type { QueueRow } from './live-table.ts';

/** In the order of the columns. */
export const sortKeys = ['name', 'waiting', 'inflight', 'in', 'out', 'oldest'] as const;

export type SortKey = (typeof sortKeys)[number];

export type Order = { readonly sortKey: SortKey; readonly isReversed: boolean };

export function sortedRows(rows: Iterable<QueueRow>, { sortKey, isReversed }: Order): readonly QueueRow[] {
  const compare = comparisons[sortKey];
  const sign = isReversed ? -1 : 1;
  return [...rows].sort((one, other) => sign * compare(one, other) || byName(one, other));
}

const comparisons: Readonly<Record<SortKey, (one: QueueRow, other: QueueRow) => number>> = {
  name: byName,
  waiting: (one, other) => other.waitingCount - one.waitingCount,
  inflight: (one, other) => other.inFlightCount - one.inFlightCount,
  in: (one, other) => other.publishedRate - one.publishedRate,
  out: (one, other) => other.deliveredRate - one.deliveredRate,
  oldest: (one, other) => ageRank(one) - ageRank(other),
};

function byName(one: QueueRow, other: QueueRow): number {
  if (one.name === other.name) return one.id - other.id;
  return one.name < other.name ? -1 : 1;
}

/** The oldest message first; queues without one last. */
function ageRank({ oldestAt }: QueueRow): number {
  return oldestAt === 0 ? Number.MAX_SAFE_INTEGER : oldestAt;
}
