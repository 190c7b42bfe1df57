// The queues of a broker as its live stream tells them: merges a snapshot and the changes after it. Pure; knows no terminal and no order of rows.

import type {
  Change,
  Health,
  Point,
  Points,
  QueueFacts,
  QueueValues,
  Snapshot,
} from '../../http/dashboard/live/live-events.ts';

export type QueueRow = {
  readonly id: number;
  readonly name: string;
  readonly deliveryMode: string;
  readonly maxQueueSize: number;
  readonly overflowStrategy: string;
  readonly waitingCount: number;
  readonly inFlightCount: number;
  readonly publishedRate: number;
  readonly deliveredRate: number;
  /** Milliseconds since 1970; 0: none waits. */
  readonly oldestAt: number;
  readonly subscriberCount: number;
  readonly isNotAcknowledging: boolean;
  readonly deadLetterCount: number;
};

export type LiveTable = {
  readonly serverVersion: string;
  /** The broker's clock at the last event: milliseconds since 1970. */
  readonly now: number;
  readonly memoryLimitBytes: number;
  readonly health: Health;
  /** Absent until a second has passed in the broker. */
  readonly point: Point | undefined;
  readonly rows: ReadonlyMap<number, QueueRow>;
};

export function tableOfSnapshot(snapshot: Snapshot): LiveTable {
  const { serverVersion, now, memoryLimitBytes, health } = snapshot;
  const rows = mergedRows(new Map(), snapshot.queues, snapshot.values);
  return { serverVersion, now, memoryLimitBytes, health, point: lastPoint(snapshot.points), rows };
}

/** The table after a change. Values of a queue that it does not have are ignored. */
export function tableAfterChange(table: LiveTable, change: Change): LiveTable {
  const rows = mergedRows(table.rows, change.created ?? [], change.values);
  for (const id of change.removed ?? []) rows.delete(id);
  return { ...table, now: change.now, health: change.health, point: change.point, rows };
}

function mergedRows(
  old: ReadonlyMap<number, QueueRow>,
  facts: readonly QueueFacts[],
  values: readonly QueueValues[],
): Map<number, QueueRow> {
  const rows = new Map(old);
  for (const queue of facts) rows.set(queue.id, newRow(queue));
  for (const queueValues of values) {
    const row = rows.get(queueValues[0]);
    if (row !== undefined) rows.set(row.id, { ...row, ...rowValues(queueValues) });
  }
  return rows;
}

function newRow({ id, name, deliveryMode, maxQueueSize, overflowStrategy }: QueueFacts): QueueRow {
  const facts = { id, name, deliveryMode, maxQueueSize, overflowStrategy };
  return { ...facts, ...rowValues([id, 0, 0, 0, 0, 0, 0, 0, 0]) };
}

function rowValues(values: QueueValues) {
  const [, waitingCount, inFlightCount, publishedRate, deliveredRate, oldestAt, subscriberCount] = values;
  const counts = { waitingCount, inFlightCount, publishedRate, deliveredRate, oldestAt, subscriberCount };
  return { ...counts, isNotAcknowledging: values[7] === 1, deadLetterCount: values[8] };
}

function lastPoint(points: Points): Point | undefined {
  if (points.at.length === 0) return undefined;
  const entries = Object.entries(points) as [keyof Point, readonly (number | null)[]][];
  return Object.fromEntries(entries.map(([field, list]) => [field, list.at(-1) ?? null])) as Point;
}
