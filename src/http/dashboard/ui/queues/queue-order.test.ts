// Search and sort of queues, also of 10,000 of them against a sort that compares everything.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testedRow } from '../../../../testing/tested-queue-row.ts';
import type { QueueRow } from '../live/queue-row.ts';
import { type OrderRequest, QueueOrder } from './queue-order.ts';

const rows = [
  testedRow(1, 'orders', { waitingCount: 5, oldestAt: 300 }),
  testedRow(2, 'Payments', { waitingCount: 9, oldestAt: 100, facts: { deliveryMode: 'PriorityBased' } }),
  testedRow(3, 'orders.dlq', { waitingCount: 5, oldestAt: 0 }),
  testedRow(4, 'queue-10', { deadLetterCount: 3 }),
  testedRow(5, 'queue-9', { publishedRate: 1, facts: { deliveryMode: 'FanOutWithAck' } }),
];
const mapOf = (list: readonly QueueRow[]) => new Map(list.map((row) => [row.facts.id, row]));
const request = (parts: Partial<OrderRequest>): OrderRequest => ({
  ...{ sort: 'name', order: 'asc', search: '', queues: mapOf(rows), membership: 1, isHeld: false },
  ...parts,
});
const ids = (order: QueueOrder, parts: Partial<OrderRequest>) =>
  order.rows(request(parts)).map(({ facts }) => facts.id);

describe('the order of queues', () => {
  it.each([
    ['name', 'asc', [1, 3, 2, 5, 4]],
    ['name', 'desc', [4, 5, 2, 3, 1]],
    ['mode', 'asc', [1, 3, 4, 5, 2]],
    ['waiting', 'desc', [2, 1, 3, 5, 4]],
    ['waiting', 'asc', [5, 4, 1, 3, 2]],
    ['oldest', 'desc', [2, 1, 3, 5, 4]],
    ['in', 'desc', [5, 1, 3, 2, 4]],
    ['deadLetters', 'desc', [4, 1, 3, 2, 5]],
  ] as const)('by %s %s has equals by name', (sort, order, expected) => {
    expect(ids(new QueueOrder(), { sort, order })).toEqual(expected);
  });

  it('has the queues that contain all words of the search, in any case', () => {
    const order = new QueueOrder();
    expect(ids(order, { search: ' ORD ' })).toEqual([1, 3]);
    expect(ids(order, { search: 'dlq ord' })).toEqual([3]);
    expect(ids(order, { search: 'nothing' })).toEqual([]);
    expect(ids(order, { search: '' })).toHaveLength(5);
  });

  it('follows new values', () => {
    const order = new QueueOrder();
    expect(ids(order, { sort: 'waiting', order: 'desc' })[0]).toBe(2);
    const queues = mapOf([...rows.slice(1), testedRow(1, 'orders', { waitingCount: 99 })]);
    expect(ids(order, { sort: 'waiting', order: 'desc', queues })[0]).toBe(1);
  });

  it('stays while it is held, with new values, until another order is asked for', () => {
    const order = new QueueOrder();
    expect(ids(order, { sort: 'waiting', order: 'desc' })[0]).toBe(2);
    const queues = mapOf([...rows.slice(1), testedRow(1, 'orders', { waitingCount: 99 })]);
    const held = order.rows(request({ sort: 'waiting', order: 'desc', queues, isHeld: true }));
    expect(held.map(({ facts }) => facts.id)).toEqual([2, 1, 3, 5, 4]);
    expect(held[1]?.waitingCount).toBe(99);
    expect(ids(order, { sort: 'waiting', order: 'asc', queues, isHeld: true }).at(-1)).toBe(1);
  });

  it('knows queues that are created and removed, and puts new ones last while it is held', () => {
    const order = new QueueOrder();
    ids(order, {});
    const queues = mapOf([...rows.slice(1), testedRow(6, 'a')]);
    expect(ids(order, { queues, membership: 2, isHeld: true })).toEqual([3, 2, 5, 4, 6]);
    expect(ids(order, { queues, membership: 2, isHeld: true })).toEqual([3, 2, 5, 4, 6]);
    expect(ids(order, { queues, membership: 2 })).toEqual([6, 3, 2, 5, 4]);
  });

  it('of 10,000 queues is that of a plain sort', () => {
    const many = Array.from({ length: 10_000 }, (_, id) =>
      testedRow(id, `q${(id * 7919) % 10_000}`, { waitingCount: (id * 31) % 50 }),
    );
    const order = new QueueOrder();
    const found = order.rows(request({ queues: mapOf(many), sort: 'waiting', order: 'desc', search: '7' }));
    const plain = many
      .filter(({ facts }) => facts.name.includes('7'))
      .sort(
        (a, b) =>
          b.waitingCount - a.waitingCount || Number(a.facts.name.slice(1)) - Number(b.facts.name.slice(1)),
      );
    expect(found.map(({ facts }) => facts.name)).toEqual(plain.map(({ facts }) => facts.name));
  });

  it('has each queue once, whatever is asked for', () => {
    const order = new QueueOrder();
    const property = fc.property(
      fc.boolean(),
      fc.constantFrom('waiting', 'oldest', 'name', 'out'),
      (isHeld, sort) => {
        expect(ids(order, { isHeld, sort: sort as 'waiting' }).sort()).toEqual([1, 2, 3, 4, 5]);
      },
    );
    fc.assert(property);
  });
});
