// What the latency counts: the wait in the queue, and the batch that the first delivery was made in.

import { describe, expect, it } from 'vitest';
import { DeliveryLatency } from './delivery-latency.ts';

/** The times by the upper bound of their bucket, in milliseconds; without those that have none. */
function counted(latency: DeliveryLatency): Readonly<Record<string, number>> {
  const { boundsMs, counts } = latency.histogram();
  const buckets = counts.map((count, index) => [String(boundsMs[index] ?? 'more'), count] as const);
  return Object.fromEntries(buckets.filter(([, count]) => count > 0));
}

describe('the delivery latency', () => {
  it('is 0 before the first delivery [METRICS-015]', () => {
    const latency = new DeliveryLatency();
    expect(latency.averageMs()).toBe(0);
    expect(counted(latency)).toEqual({});
  });

  it('counts the batch once for each first delivery in it [METRICS-015]', () => {
    const latency = new DeliveryLatency();
    latency.written({ firstDeliveryCount: 3, waits: [] }, 4);
    expect(latency.averageMs()).toBe(4);
    latency.written({ firstDeliveryCount: 4, waits: [] }, 8);
    expect(latency.averageMs()).toBe((3 * 4 + 8) / 4);
    expect(counted(latency)).toEqual({ 5: 3, 10: 1 });
  });

  it('adds what messages have waited in their queue [METRICS-015]', () => {
    const latency = new DeliveryLatency();
    latency.written({ firstDeliveryCount: 2, waits: [30] }, 1);
    expect(latency.averageMs()).toBe(16);
    expect(counted(latency)).toEqual({ 1: 1, 50: 1 });
    expect(latency.histogram().sumMs).toBe(32);
  });

  it('has a bucket for every time, with its upper bound in it', () => {
    const latency = new DeliveryLatency();
    const { boundsMs } = latency.histogram();
    const waits = [...boundsMs, 5_000_000];
    latency.written({ firstDeliveryCount: waits.length, waits }, 0);
    expect(latency.histogram().counts).toEqual(waits.map(() => 1));
    expect([...boundsMs].sort((a, b) => a - b)).toEqual(boundsMs);
  });
});
