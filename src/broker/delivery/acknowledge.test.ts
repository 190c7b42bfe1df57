// Acks: which delivery they mean, which are ignored, and what they end. Proves DELIVERY (acknowledgment).

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { ids, testCore } from '../../testing/core-harness.ts';

describe('an ack', () => {
  it('removes the message for good [DELIVERY-001]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    expect(h.ack(a, 'm1')).toEqual([]);
    expect(h.records.at(-1)).toEqual({ kind: 'messageRemoved', generation: 1, sequence: 1 });
    expect(h.advance(3_600_000)).toEqual([]);
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 1, inFlightCount: 0, queuedBytes: 0 });
  });

  it('of an unknown message is ignored [DELIVERY-058]', () => {
    const h = testCore();
    const a = h.connect();
    h.publish(a, 'q', 'm1');
    expect(h.ack(a, 'm1')).toEqual([]);
    expect(h.ack(a, 'never published')).toEqual([]);
    expect(h.waiting('q')).toBe(1);
    expect(h.broker.stats().acknowledgedCount).toBe(0);
  });

  it('counts once [DELIVERY-059]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q', 2);
    h.publishAll(a, 'q', ids(4));
    expect(h.ack(a, 'm1')).toEqual(['1 <- q m3']);
    expect(h.ack(a, 'm1')).toEqual([]);
    expect(h.broker.stats().acknowledgedCount).toBe(1);
  });

  it.each([
    ['RoundRobin', DeliveryMode.RoundRobin],
    ['PriorityBased', DeliveryMode.PriorityBased],
  ] as const)('from another connection is ignored in %s [DELIVERY-057]', (_, mode) => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { mode });
    h.subscribe(a, 'q');
    h.subscribe(b, 'q');
    h.publish(b, 'q', 'm1');
    h.ack(b, 'm1');
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 0, inFlightCount: 1 });
  });

  it('of the earlier receiver is ignored once another one has the message [DELIVERY-060]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    h.subscribe(b, 'q');
    expect(h.advance(31_000)).toEqual(['2 <- q m1 (attempt 2)']);
    h.ack(a, 'm1');
    expect(h.broker.stats().inFlightCount).toBe(1);
    h.ack(b, 'm1');
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 1, inFlightCount: 0 });
  });

  it('that names a queue settles a delivery of that queue only [DELIVERY-067]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q');
    h.subscribe(a, 'r');
    h.publish(a, 'q', 'm1');
    h.publish(a, 'r', 'm1');
    h.ack(a, 'm1', 'r');
    h.ack(a, 'm1', 'nowhere');
    expect(h.records.at(-1)).toMatchObject({ kind: 'messageRemoved', generation: 2 });
    expect(h.broker.stats().inFlightCount).toBe(1);
  });

  it('without a queue settles the oldest delivery of that id [DELIVERY-065, DELIVERY-068]', () => {
    const h = testCore();
    const a = h.connect();
    for (const queue of ['q', 'r', 's']) {
      h.subscribe(a, queue);
      h.publish(a, queue, 'm1');
    }
    h.ack(a, 'm1', 'r');
    h.ack(a, 'm1');
    h.ack(a, 'm1');
    const removed = h.records.filter((record) => record.kind === 'messageRemoved');
    expect(removed.map((record) => record.generation)).toEqual([2, 1, 3]);
  });

  it('during the pause before the next attempt settles the message [DELIVERY-007]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    // The next attempt would go to this one.
    h.subscribe(b, 'q');
    h.publish(a, 'q', 'm1');
    h.advance(30_500);
    h.ack(a, 'm1');
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 1, inFlightCount: 0 });
    expect(h.advance(3_600_000)).toEqual([]);
  });

  it('of the earlier receiver settles the message while no other one has it [DELIVERY-007]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    h.subscribe(b, 'q');
    expect(h.advance(30_999)).toEqual([]);
    h.ack(a, 'm1');
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 1, inFlightCount: 0, queuedBytes: 0 });
    expect(h.advance(3_600_000)).toEqual([]);
  });
});

describe('a message in flight', () => {
  it('is not waiting and takes no room in the queue [DELIVERY-002, DELIVERY-003, QUEUE-025]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { maxQueueSize: 1 });
    h.subscribe(a, 'q', 1);
    h.publishAll(a, 'q', ids(2));
    expect(h.waiting('q')).toBe(1);
    expect(h.broker.stats()).toMatchObject({ inFlightCount: 1, discardedCount: 0 });
  });
});
