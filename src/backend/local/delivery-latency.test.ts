// What the mean latency counts: the wait in the queue, and the batch that the first delivery was made in.

import { describe, expect, it } from 'vitest';
import { DeliveryLatency } from './delivery-latency.ts';

describe('the delivery latency', () => {
  it('is 0 before the first delivery [METRICS-015]', () => {
    const latency = new DeliveryLatency();
    expect(latency.averageMs({ firstDeliveryCount: 0, firstDeliveryLatencySumMs: 0 })).toBe(0);
  });

  it('counts the batch once for each first delivery in it [METRICS-015]', () => {
    const latency = new DeliveryLatency();
    latency.written(3, 4);
    expect(latency.averageMs({ firstDeliveryCount: 3, firstDeliveryLatencySumMs: 0 })).toBe(4);
    latency.written(4, 8);
    expect(latency.averageMs({ firstDeliveryCount: 4, firstDeliveryLatencySumMs: 0 })).toBe((3 * 4 + 8) / 4);
  });

  it('adds what messages have waited in their queue [METRICS-015]', () => {
    const latency = new DeliveryLatency();
    latency.written(1, 1);
    expect(latency.averageMs({ firstDeliveryCount: 1, firstDeliveryLatencySumMs: 30 })).toBe(31);
  });
});
