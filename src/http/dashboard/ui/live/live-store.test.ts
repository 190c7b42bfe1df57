// The store of the live stream: snapshots replace, changes add, and only who shows something is told.

import { describe, expect, it, vi } from 'vitest';
import type { Change, Point, Points, QueueFacts, QueueValues, Snapshot } from '../../live/live-events.ts';
import { LiveStore } from './live-store.ts';
import { MAX_DEPTHS } from './queue-row.ts';

const point: Point = {
  at: 1,
  publishedRate: 0,
  deliveredRate: 0,
  acknowledgedRate: 0,
  errorRate: 0,
  waitingCount: 0,
  inFlightCount: 0,
  latencyP50Ms: null,
  latencyP99Ms: null,
  memoryBytes: 0,
  connectionCount: 0,
};
const points = Object.fromEntries(Object.keys(point).map((field) => [field, []])) as unknown as Points;

const facts = (id: number, name = `q${id}`): QueueFacts => ({
  id,
  name,
  deliveryMode: 'RoundRobin',
  maxQueueSize: 10_000,
  overflowStrategy: 'DropOldest',
  maxRetryAttempts: 3,
  messageTtlMs: null,
  deadLetterQueueName: null,
  createdAt: 0,
  depths: [],
});
const values = (id: number, waiting: number): QueueValues => [id, waiting, 1, 2, 3, 4, 5, 1, 6];
const healthy = { isHealthy: true, reasons: [] };
const history = { at: [], waitingCount: [], inFlightCount: [], publishedRate: [], deliveredRate: [] };

const snapshot = (parts: Partial<Snapshot> = {}): Snapshot => ({
  serverVersion: '1.0.0',
  now: 1000,
  memoryLimitBytes: 1,
  asksForCredentials: false,
  health: healthy,
  points,
  queues: [facts(1), facts(2)],
  values: [values(1, 7)],
  ...parts,
});
const change = (parts: Partial<Change> = {}): Change => ({
  now: 2000,
  health: healthy,
  point,
  values: [],
  ...parts,
});

function storeWith(parts: Partial<Snapshot> = {}): LiveStore {
  const store = new LiveStore();
  store.applySnapshot(snapshot(parts), 1);
  return store;
}

describe('a snapshot', () => {
  it('makes a row of each queue, with its values', () => {
    const store = storeWith();
    expect(store.queueNamed('q1')).toMatchObject({
      waitingCount: 7,
      inFlightCount: 1,
      publishedRate: 2,
      deliveredRate: 3,
      oldestAt: 4,
      subscriberCount: 5,
      isNotAcknowledging: true,
      deadLetterCount: 6,
    });
    expect(store.queueNamed('q2')?.waitingCount).toBe(0);
    expect(store.queueNamed('none')).toBeUndefined();
  });

  it('replaces everything after a reconnect', () => {
    const store = storeWith();
    store.setLost(undefined);
    store.applySnapshot(snapshot({ queues: [facts(9)], values: [], now: 5000 }), 2);
    expect([...store.queues.keys()]).toEqual([9]);
    expect(store.queueNamed('q1')).toBeUndefined();
    expect([store.phase, store.now, store.seenAt]).toEqual(['live', 5000, 2]);
  });
});

describe('a change', () => {
  it('is left out before the first snapshot', () => {
    const store = new LiveStore();
    store.applyChange(change({ created: [facts(1)] }), 1);
    expect([store.phase, store.queues.size, store.points.length]).toEqual(['connecting', 0, 0]);
  });

  it('replaces the rows of changed queues and no others', () => {
    const store = storeWith();
    const [one, two] = [store.queueNamed('q1'), store.queueNamed('q2')];
    store.applyChange(change({ values: [values(1, 8)] }), 2);
    expect(store.queueNamed('q1')).not.toBe(one);
    expect(store.queueNamed('q1')?.waitingCount).toBe(8);
    expect(store.queueNamed('q2')).toBe(two);
    expect([store.now, store.seenAt, store.points.length]).toEqual([2000, 2, 1]);
  });

  it('adds and removes queues, and says that there are others', () => {
    const store = storeWith();
    const before = store.membership;
    store.applyChange(change({ values: [values(2, 9)] }), 2);
    expect(store.membership).toBe(before);
    store.applyChange(change({ created: [facts(3)], values: [values(3, 2), values(1, 4)], removed: [1] }), 3);
    expect([...store.queues.keys()]).toEqual([2, 3]);
    expect(store.queueNamed('q3')?.waitingCount).toBe(2);
    expect(store.membership).not.toBe(before);
  });

  it('finds a queue that was deleted and created again by its new id', () => {
    const store = storeWith();
    store.applyChange(change({ removed: [1], created: [facts(5, 'q1')], values: [values(5, 1)] }), 2);
    expect(store.queueNamed('q1')?.facts.id).toBe(5);
  });

  it('adds a depth every 15 seconds, to queues in which something waits or has waited', () => {
    const store = storeWith({ queues: [{ ...facts(1), depths: Array(MAX_DEPTHS).fill(1) }, facts(2)] });
    store.applyChange(change({ now: 15_999 }), 2);
    expect(store.queueNamed('q1')?.depths.at(-1)).toBe(1);
    store.applyChange(change({ now: 16_000 }), 3);
    expect(store.queueNamed('q1')?.depths).toEqual([...Array(MAX_DEPTHS - 1).fill(1), 7]);
    expect(store.queueNamed('q2')?.depths).toEqual([]);
  });

  it('keeps the watched queue and lengthens its history', () => {
    const store = storeWith({ watched: { id: 1, subscribers: [], history } });
    store.applyChange(change({ now: 16_000 }), 2);
    expect(store.watched?.id).toBe(1);
    expect(store.history).toMatchObject({ at: [16_000], waitingCount: [7], deliveredRate: [3] });
    store.applyChange(change({ removed: [1] }), 3);
    expect(store.watched).toBeUndefined();
  });
});

describe('the history of the watched queue', () => {
  it('begins with the queue, when that is created while it is watched', () => {
    const store = storeWith();
    expect(store.history).toBeUndefined();
    const watched = { id: 3, subscribers: [] };
    store.applyChange(change({ created: [facts(3)], values: [values(3, 5)], watched }), 2);
    expect(store.history).toMatchObject({ at: [2000], waitingCount: [5], deliveredRate: [3] });
    store.applyChange(change({ now: 16_000, values: [values(3, 6)], watched }), 3);
    expect(store.history).toMatchObject({ at: [2000, 16_000], waitingCount: [5, 6] });
  });

  it('ends with the queue, and begins anew with the next one of its name', () => {
    const old = { ...history, at: [500], waitingCount: [70] };
    const store = storeWith({ watched: { id: 1, subscribers: [], history: old } });
    store.applyChange(change({ removed: [1] }), 2);
    expect(store.history).toBeUndefined();
    const created = {
      created: [facts(5, 'q1')],
      values: [values(5, 1)],
      watched: { id: 5, subscribers: [] },
    };
    store.applyChange(change({ now: 3000, ...created }), 3);
    expect(store.history).toMatchObject({ at: [3000], waitingCount: [1] });
  });

  it('is that of the new queue when both happen in one second', () => {
    const old = { ...history, at: [500], waitingCount: [70] };
    const store = storeWith({ watched: { id: 1, subscribers: [], history: old } });
    const watched = { id: 5, subscribers: [] };
    store.applyChange(
      change({ removed: [1], created: [facts(5, 'q1')], values: [values(5, 1)], watched }),
      2,
    );
    expect(store.history).toMatchObject({ at: [2000], waitingCount: [1] });
  });
});

describe('the clock of the broker', () => {
  it('goes on from the last event', () => {
    const store = new LiveStore();
    expect(store.brokerNow(77)).toBe(77);
    store.applySnapshot(snapshot({ now: 1_000_000 }), 500);
    expect(store.brokerNow(500)).toBe(1_000_000);
    store.applyChange(change({ now: 1_001_000 }), 1700);
    expect(store.brokerNow(1800)).toBe(1_001_100);
  });
});

describe('a listener', () => {
  it('is told of its topic alone, and of health when it changes', () => {
    const store = storeWith();
    const [health, queues, phase] = [vi.fn(), vi.fn(), vi.fn()];
    store.subscribe('health', health);
    store.subscribe('phase', phase);
    const end = store.subscribe('queues', queues);
    store.applyChange(change(), 2);
    expect([health.mock.calls.length, queues.mock.calls.length, phase.mock.calls.length]).toEqual([0, 1, 0]);
    end();
    store.applyChange(change({ health: { isHealthy: false, reasons: ['memory'] } }), 3);
    store.setLost(undefined);
    expect([health.mock.calls.length, queues.mock.calls.length, phase.mock.calls.length]).toEqual([1, 1, 1]);
    expect(store.health.reasons).toEqual(['memory']);
  });
});
