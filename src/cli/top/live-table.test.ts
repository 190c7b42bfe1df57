// Events merged into one table, and its orders.

import { describe, expect, it } from 'vitest';
import { liveChange, livePoint, liveQueue, liveSnapshot } from '../../testing/fake-dashboard.ts';
import { type QueueRow, tableAfterChange, tableOfSnapshot } from './live-table.ts';
import { type SortKey, sortedRows } from './sorting.ts';

const snapshot = liveSnapshot(
  [liveQueue(1, 'a'), liveQueue(2, 'b', { maxQueueSize: 5, overflowStrategy: 'BlockPublisher' })],
  [[1, 10, 2, 3.5, 4.5, 90_000, 6, 1, 7]],
);

describe('a table', () => {
  it('has the queues of the snapshot with their values, and its last point', () => {
    const table = tableOfSnapshot(snapshot);
    expect(table).toMatchObject({ serverVersion: '9.9.9', now: 100_000, point: livePoint() });
    expect(table.rows.get(1)).toEqual({
      id: 1,
      name: 'a',
      deliveryMode: 'RoundRobin',
      maxQueueSize: 100,
      overflowStrategy: 'DropOldest',
      waitingCount: 10,
      inFlightCount: 2,
      publishedRate: 3.5,
      deliveredRate: 4.5,
      oldestAt: 90_000,
      subscriberCount: 6,
      isNotAcknowledging: true,
      deadLetterCount: 7,
    });
    expect(table.rows.get(2)).toMatchObject({ waitingCount: 0, oldestAt: 0, isNotAcknowledging: false });
  });

  it('has no point when the snapshot has none', () => {
    const none = Object.fromEntries(Object.keys(livePoint()).map((field) => [field, []]));
    const points = none as unknown as typeof snapshot.points;
    expect(tableOfSnapshot({ ...snapshot, points }).point).toBeUndefined();
  });

  it('takes over new queues, new values and removals, and keeps everything else', () => {
    const before = tableOfSnapshot(snapshot);
    const change = liveChange(
      [
        [3, 1, 0, 0, 0, 0, 0, 0, 0],
        [99, 1, 0, 0, 0, 0, 0, 0, 0],
      ],
      {
        created: [liveQueue(3, 'c')],
        removed: [2],
        health: { isHealthy: false, reasons: ['full'] },
        point: livePoint({ connectionCount: 1 }),
      },
    );
    const after = tableAfterChange(before, change);
    expect([...after.rows.values()].map(({ name, waitingCount }) => [name, waitingCount])).toEqual([
      ['a', 10],
      ['c', 1],
    ]);
    expect(after).toMatchObject({ now: 101_000, health: change.health, point: { connectionCount: 1 } });
    expect([...before.rows.keys()]).toEqual([1, 2]);
  });
});

describe('the order of the rows', () => {
  const rows: QueueRow[] = [
    ['b', 1, 5, 0, 9, 500],
    ['a', 1, 6, 0.5, 8, 0],
    ['c', 3, 4, 0.2, 7, 100],
  ].map(([name, waiting, inFlight, published, delivered, oldest], index) => ({
    ...(tableOfSnapshot(liveSnapshot([liveQueue(index, String(name))], [])).rows.get(index) as QueueRow),
    waitingCount: Number(waiting),
    inFlightCount: Number(inFlight),
    publishedRate: Number(published),
    deliveredRate: Number(delivered),
    oldestAt: Number(oldest),
  }));
  const names = (sortKey: SortKey, isReversed = false) =>
    sortedRows(rows, { sortKey, isReversed })
      .map(({ name }) => name)
      .join('');

  it.each([
    ['name', 'abc', 'cba'],
    ['waiting', 'cab', 'abc'],
    ['inflight', 'abc', 'cba'],
    ['in', 'acb', 'bca'],
    ['out', 'bac', 'cab'],
    ['oldest', 'cba', 'abc'],
  ] as const)('by %s is %s, and reversed %s', (sortKey, forward, reversed) => {
    expect([names(sortKey), names(sortKey, true)]).toEqual([forward, reversed]);
  });
});
