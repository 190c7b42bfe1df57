// Purging a queue: what leaves, what stays, and who is told when. Proves DELIVERY where a purge must leave messages alone.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import { ids, testCore } from '../testing/core-harness.ts';

describe('a purge', () => {
  it('takes out everything that waits, and counts it as purged, not as discarded', () => {
    const h = testCore();
    const a = h.connect();
    for (const id of ids(3)) h.publish(a, 'q', id);
    expect(h.purgeQueue(a, 'q')).toEqual(['1: purgeQueue q ok']);
    expect(h.waiting('q')).toBe(0);
    expect(h.broker.stats()).toMatchObject({ purgedCount: 3, discardedCount: 0, queuedBytes: 0 });
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q ok']);
  });

  it('leaves a message in flight alone, also in the pause before its next attempt [DELIVERY-005]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q', 1);
    for (const id of ids(3)) h.publish(b, 'q', id);
    h.nack(a, 'm1');
    h.purgeQueue(b, 'q');
    expect(h.advance(1000)).toEqual(['1 <- q m1 (attempt 2)']);
    h.ack(a, 'm1');
    expect(h.broker.stats()).toMatchObject({ purgedCount: 2, acknowledgedCount: 1, inFlightCount: 0 });
  });

  it('makes room for a publisher that waits for it', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { maxQueueSize: 1, overflowStrategy: OverflowStrategy.BlockPublisher });
    h.publish(a, 'q', 'm1');
    h.publish(a, 'q', 'm2');
    expect(h.purgeQueue(a, 'q')).toEqual(['1: purgeQueue q ok', '1: publish q m2 ok']);
    expect(h.waiting('q')).toBe(1);
  });

  it('lets the id of a purged message be used again', () => {
    const h = testCore();
    const a = h.connect();
    h.publish(a, 'q', 'm1');
    h.purgeQueue(a, 'q');
    h.publish(a, 'q', 'm1');
    expect(h.waiting('q')).toBe(1);
  });

  it('takes a message that rests after having been cut short twice', () => {
    const h = testCore();
    const a = h.connect();
    h.publish(a, 'q', 'm1');
    for (let count = 0; count < 2; count += 1) {
      const subscriber = h.connect();
      h.subscribe(subscriber, 'q');
      h.disconnect(subscriber);
    }
    expect(h.waiting('q')).toBe(1);
    h.purgeQueue(a, 'q');
    expect(h.waiting('q')).toBe(0);
    h.subscribe(a, 'q');
    expect(h.advance(60_000)).toEqual([]);
  });

  it('takes the copies not yet sent, and the others go on', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(a, 'q', 1);
    h.subscribe(b, 'q', 2);
    for (const id of ids(2)) h.publish(c, 'q', id);
    expect(h.waiting('q')).toBe(1);
    h.purgeQueue(c, 'q');
    expect(h.waiting('q')).toBe(0);
    expect(h.ack(a, 'm1')).toEqual([]);
    h.ack(b, 'm1');
    h.ack(b, 'm2');
    expect(h.broker.stats()).toMatchObject({ purgedCount: 1, inFlightCount: 0, queuedBytes: 0 });
  });

  it('is refused where there is no such queue', () => {
    const h = testCore();
    expect(h.purgeQueue(h.connect(), 'q')).toEqual(['1: purgeQueue q QUEUE_NOT_FOUND']);
  });

  it('is refused while the broker ends', () => {
    const h = testCore();
    const a = h.connect();
    h.publish(a, 'q', 'm1');
    h.drain();
    expect(h.purgeQueue(a, 'q')).toEqual(['1: purgeQueue q SHUTTING_DOWN']);
    expect(h.waiting('q')).toBe(1);
  });
});
