// The sampler over a broker that the test sets, in virtual time: points, rates, health and queues.

import { describe, expect, it } from 'vitest';
import { TestedLiveView } from '../../../testing/live-view.ts';
import { VirtualEnvironment } from '../../../testing/virtual-environment.ts';
import type { QueueChanges } from './live-queues.ts';
import { LiveSampler, MAX_POINTS } from './live-sampler.ts';

function testedSampler() {
  const environment = new VirtualEnvironment();
  const view = new TestedLiveView();
  const faults: unknown[] = [];
  const changes: QueueChanges[] = [];
  const sampler = new LiveSampler({
    ...environment,
    view,
    sampleMemory: () => view.memory,
    onFault: (fault) => faults.push(fault),
  });
  const start = (): void => sampler.start((one) => changes.push(one));
  return {
    environment,
    view,
    sampler,
    faults,
    changes,
    start,
    advance: (durationMs: number) => environment.advance(durationMs),
    newest: () => sampler.newestPoints(1)[0],
    valuesOf: (id: number) => sampler.queues.get(id)?.values(),
  };
}

describe('a point', () => {
  it('has rates over the true time since the one before', async () => {
    const { view, sampler, start, environment, advance, newest } = testedSampler();
    const first = view.statistics;
    start();
    expect(newest()).toMatchObject({
      publishedRate: 0,
      latencyP50Ms: null,
      inFlightCount: first.inFlightCount,
    });
    let held = 0;
    view.stats = () => ({
      ...first,
      publishedCount: first.publishedCount + 300,
      errorsCount: first.errorsCount + 3,
    });
    const { now } = environment.clock;
    Object.assign(environment.clock, { now: () => now() + held });
    held = 500;
    await advance(1_000);
    expect(newest()).toMatchObject({ publishedRate: 200, errorRate: 2, acknowledgedRate: 0 });
    expect(sampler.pointCount).toBe(2);
  });

  it('has the latency of the messages since the one before', async () => {
    const { view, start, advance, newest } = testedSampler();
    start();
    const { deliveryLatency } = view.statistics;
    view.statistics = { ...view.statistics, deliveryLatency: { ...deliveryLatency, counts: [5, 8, 3] } };
    await advance(1_000);
    expect(newest()).toMatchObject({ latencyP50Ms: 5.5, latencyP99Ms: 9.91 });
    await advance(1_000);
    expect(newest()).toMatchObject({ latencyP50Ms: null, latencyP99Ms: null });
  });

  it('has the waiting messages of all queues, memory and connections', async () => {
    const { view, start, newest } = testedSampler();
    view.set(1, { messageCount: 3 });
    view.set(2, { messageCount: 4 });
    start();
    expect(newest()).toMatchObject({
      at: Date.UTC(2026, 1, 18, 10, 30),
      waitingCount: 7,
      memoryBytes: view.memory.residentBytes,
      connectionCount: view.statistics.activeConnectionCount,
    });
  });

  it('repeats the waiting messages while the broker does not serve, and health says why', async () => {
    const { view, sampler, start, advance, newest } = testedSampler();
    view.set(1, { messageCount: 3 });
    start();
    view.notReady = 'recovering from the store';
    await advance(1_000);
    expect(newest()).toMatchObject({ waitingCount: 3 });
    expect(sampler.health.reasons).toEqual(['The broker does not serve: recovering from the store.']);
    view.notReady = undefined;
    view.statistics = { ...view.statistics, publishedCount: 1_000_000 };
    await advance(1_000);
    expect(newest()).toMatchObject({ publishedRate: 0 });
    expect(sampler.health.isHealthy).toBe(true);
  });

  it('is kept for 15 minutes', async () => {
    const { sampler, start, advance, environment } = testedSampler();
    start();
    await advance(MAX_POINTS * 1_000);
    const { at, publishedRate } = sampler.points();
    expect([at.length, publishedRate.length, sampler.pointCount]).toEqual([
      MAX_POINTS,
      MAX_POINTS,
      MAX_POINTS + 1,
    ]);
    expect(at.at(-1)).toBe(environment.clock.wallNow());
    expect((at.at(-1) ?? 0) - (at[0] ?? 0)).toBe((MAX_POINTS - 1) * 1_000);
  });
});

describe('the sampler', () => {
  it('goes on after a fault', async () => {
    const { view, sampler, faults, start, advance } = testedSampler();
    start();
    const honest = view.stats;
    view.stats = () => {
      throw new Error('no figures');
    };
    await advance(1_000);
    view.stats = honest;
    await advance(1_000);
    expect([faults, sampler.pointCount]).toEqual([[new Error('no figures')], 2]);
  });

  it('leaves no timer when it is closed', () => {
    const { sampler, start, environment } = testedSampler();
    start();
    expect(environment.timerCount).toBe(1);
    sampler.close();
    expect(environment.timerCount).toBe(0);
  });
});

describe('queues', () => {
  it('are created, changed and removed', async () => {
    const { view, start, advance, changes } = testedSampler();
    view.set(1);
    start();
    await advance(1_000);
    view.set(1, { messageCount: 1 });
    view.set(2);
    await advance(1_000);
    view.delete(1);
    await advance(1_000);
    const nothing = { created: [], changed: [], removed: [] };
    expect(changes).toEqual([
      { ...nothing, created: [1] },
      nothing,
      { ...nothing, created: [2], changed: [1] },
      { ...nothing, removed: [1] },
    ]);
  });

  it.each([
    { inFlightCount: 1 },
    { oldestWallAt: 5 },
    { subscriberCount: 1 },
    { deadLetterCount: 1 },
    { enteredCount: 1 },
    { deliveredCount: 1 },
  ])('are changed by %j', async (figures) => {
    const { view, start, advance, changes } = testedSampler();
    view.set(1);
    start();
    view.set(1, figures);
    await advance(1_000);
    expect(changes.at(-1)?.changed).toEqual([1]);
  });

  it('have rates, which fall to 0 again', async () => {
    const { view, start, advance, valuesOf, changes } = testedSampler();
    view.set(1, { enteredCount: 100, deliveredCount: 50 });
    start();
    expect(valuesOf(1)).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0]);
    view.set(1, { enteredCount: 130, deliveredCount: 70, messageCount: 10, oldestWallAt: 77 });
    await advance(1_000);
    expect(valuesOf(1)).toEqual([1, 10, 0, 30, 20, 77, 0, 0, 0]);
    await advance(1_000);
    expect(valuesOf(1)).toEqual([1, 10, 0, 0, 0, 77, 0, 0, 0]);
    expect(changes.at(-1)?.changed).toEqual([1]);
  });

  it('have the rate of their first second', async () => {
    const { view, start, advance, valuesOf } = testedSampler();
    start();
    view.set(1, { enteredCount: 30 });
    await advance(1_000);
    expect(valuesOf(1)?.[3]).toBe(30);
  });

  it('are not acknowledging when something is in flight for 10 s without an ack', async () => {
    const { view, start, advance, valuesOf } = testedSampler();
    view.set(1, { inFlightCount: 1 });
    start();
    const isNotAcknowledgingAfter = async (durationMs: number) => {
      await advance(durationMs);
      return valuesOf(1)?.[7];
    };
    expect(await isNotAcknowledgingAfter(9_000)).toBe(0);
    expect(await isNotAcknowledgingAfter(1_000)).toBe(1);
    view.set(1, { acknowledgedCount: 1 });
    expect(await isNotAcknowledgingAfter(1_000)).toBe(0);
    expect(await isNotAcknowledgingAfter(9_000)).toBe(0);
    view.set(1, { inFlightCount: 0 });
    expect(await isNotAcknowledgingAfter(1_000)).toBe(0);
    view.set(1, { inFlightCount: 2 });
    expect(await isNotAcknowledgingAfter(10_000)).toBe(0);
    expect(await isNotAcknowledgingAfter(1_000)).toBe(1);
  });

  it('keep what happened every 15 s, for 15 minutes', async () => {
    const { view, sampler, start, advance, environment } = testedSampler();
    view.set(1);
    view.set(2);
    start();
    await advance(15_000);
    view.set(1, { messageCount: 5, inFlightCount: 2, enteredCount: 30, deliveredCount: 15 });
    await advance(15_000);
    const history = sampler.queues.get(1)?.history();
    expect(history).toMatchObject({
      waitingCount: [0, 0, 5],
      inFlightCount: [0, 0, 2],
      publishedRate: [0, 0, 2],
      deliveredRate: [0, 0, 1],
    });
    expect(history?.at.at(-1)).toBe(environment.clock.wallNow());
    expect(sampler.queues.get(1)?.facts().depths).toEqual([0, 0, 5]);
    expect(sampler.queues.get(2)).toMatchObject({ ownHistory: undefined });
    expect(sampler.queues.get(2)?.facts().depths).toEqual([]);
    await advance(15 * 60_000);
    expect(sampler.queues.get(1)?.facts().depths).toEqual(Array.from({ length: 60 }, () => 5));
  });

  it('begin their history when they are created', async () => {
    const { view, sampler, start, advance } = testedSampler();
    start();
    await advance(30_000);
    view.set(1, { messageCount: 1 });
    await advance(15_000);
    expect(sampler.queues.get(1)?.history().waitingCount).toEqual([1]);
  });

  it('beyond 10,000 have no history until others are removed, and then none of theirs', async () => {
    const { view, sampler, start, advance } = testedSampler();
    for (let id = 1; id <= 10_001; id += 1) view.set(id, { messageCount: id });
    start();
    const depthsOf = (id: number) => sampler.queues.get(id)?.history().waitingCount;
    expect([depthsOf(1), depthsOf(251), depthsOf(10_000), depthsOf(10_001)]).toEqual([
      [1],
      [251],
      [10_000],
      [0],
    ]);
    view.delete(1);
    await advance(15_000);
    expect([depthsOf(2), depthsOf(10_001)]).toEqual([
      [2, 2],
      [0, 10_001],
    ]);
  });

  it('are shown with their options by name', () => {
    const { view, sampler, start } = testedSampler();
    view.set(1);
    view.set(2, {
      name: 'orders',
      options: {
        mode: 3,
        maxQueueSize: 7,
        messageTtlMs: 5_000,
        enableDeadLetterQueue: true,
        overflowStrategy: 2,
        maxRetryAttempts: 4,
      },
    });
    start();
    expect(sampler.queues.get(1)?.facts()).toEqual({
      id: 1,
      name: 'q1',
      deliveryMode: 'RoundRobin',
      maxQueueSize: 10_000,
      overflowStrategy: 'DropOldest',
      maxRetryAttempts: 3,
      messageTtlMs: null,
      deadLetterQueueName: null,
      createdAt: 1_000,
      depths: [],
    });
    expect(sampler.queues.named('orders')?.facts()).toMatchObject({
      deliveryMode: 'PriorityBased',
      overflowStrategy: 'BlockPublisher',
      messageTtlMs: 5_000,
      deadLetterQueueName: 'orders.dlq',
    });
  });
});
