// What a subscriber had in flight when its connection ended: waiting again at once, in its old place, no attempt lost,
// and rested when it happens again and again. Proves DELIVERY (giving back).

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { ids, testCore } from '../../testing/core-harness.ts';

describe('messages of a connection that ends', () => {
  it('wait again at once and go to others [DELIVERY-038, DELIVERY-006]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publish(b, 'q', 'm1');
    h.subscribe(b, 'q');
    expect(h.disconnect(a)).toEqual(['2 <- q m1 (attempt 2)']);
  });

  it('wait where nobody else is [DELIVERY-038, QUEUE-025]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publishAll(b, 'q', ids(3));
    h.disconnect(a);
    expect(h.waiting('q')).toBe(3);
  });

  it('take their old places [DELIVERY-039]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q', 2);
    h.publishAll(b, 'q', ids(4));
    h.disconnect(a);
    expect(h.subscribe(b, 'q')).toEqual([
      '2: subscribe q ok',
      '2 <- q m1 (attempt 2)',
      '2 <- q m2 (attempt 2)',
      '2 <- q m3',
      '2 <- q m4',
    ]);
  });

  it('enter a full queue, which then is full for publishes [QUEUE-030, QUEUE-029]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(b, 'q', { maxQueueSize: 1, overflowStrategy: OverflowStrategy.DropNewest });
    h.subscribe(a, 'q', 1);
    h.publishAll(b, 'q', ids(2));
    h.disconnect(a);
    expect(h.waiting('q')).toBe(2);
    expect(h.publish(b, 'q', 'm3')).toEqual(['2: publish q m3 QUEUE_FULL']);
  });

  it('have lost no attempt [DELIVERY-040]', () => {
    const h = testCore();
    const publisher = h.connect();
    h.createQueue(publisher, 'q', { maxRetryAttempts: 1 });
    h.publish(publisher, 'q', 'm1');
    for (const _ of ids(5)) {
      const subscriber = h.connect();
      h.subscribe(subscriber, 'q');
      h.advance(29_000);
      h.disconnect(subscriber);
      h.advance(200_000);
    }
    expect(h.waiting('q')).toBe(1);
    expect(h.broker.stats()).toMatchObject({ discardedCount: 0, deliveredCount: 5, retryCount: 4 });
  });

  it('do not make the pause after a failed attempt longer [DELIVERY-040]', () => {
    const h = testCore();
    const publisher = h.connect();
    h.publish(publisher, 'q', 'm1');
    for (const _ of ids(3)) {
      const subscriber = h.connect();
      h.subscribe(subscriber, 'q');
      h.disconnect(subscriber);
      h.advance(200_000);
    }
    const subscriber = h.connect();
    h.subscribe(subscriber, 'q');
    expect(h.nack(subscriber, 'm1')).toEqual([]);
    expect(h.advance(999)).toEqual([]);
    expect(h.advance(1)).toEqual([`${subscriber} <- q m1 (attempt 5)`]);
  });

  it('do not wait for the pause between attempts [DELIVERY-038]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publish(b, 'q', 'm1');
    h.nack(a, 'm1');
    h.disconnect(a);
    expect(h.waiting('q')).toBe(1);
    expect(h.subscribe(b, 'q')).toEqual(['2: subscribe q ok', '2 <- q m1 (attempt 2)']);
  });
});

describe('a message that is cut short again and again', () => {
  it('rests longer each time, waiting [DELIVERY-041]', () => {
    const h = testCore({ maxRetryDelayMs: 5000 });
    h.publish(h.connect(), 'q', 'm1');
    for (const [attempt, restMs] of [0, 0, 2000, 4000, 5000, 5000].entries()) {
      const subscriber = h.connect();
      h.subscribe(subscriber, 'q');
      expect(h.waiting('q')).toBe(restMs > 0 ? 1 : 0);
      expect(h.advance(Math.max(0, restMs - 1))).toEqual([]);
      if (restMs > 0) expect(h.advance(1)).toEqual([`${subscriber} <- q m1 (attempt ${attempt + 1})`]);
      h.disconnect(subscriber);
    }
  });

  it('lets younger messages pass while it rests [DELIVERY-041]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.publish(c, 'q', 'm1');
    h.subscribe(a, 'q');
    h.disconnect(a);
    h.subscribe(b, 'q');
    h.disconnect(b);
    h.publish(c, 'q', 'm2');
    expect(h.subscribe(c, 'q')).toEqual(['3: subscribe q ok', '3 <- q m2']);
    expect(h.advance(2000)).toEqual(['3 <- q m1 (attempt 3)']);
  });

  it('can be pushed out while it rests [OVERFLOW-002, DELIVERY-041]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { maxQueueSize: 1 });
    h.publish(c, 'q', 'm1');
    h.subscribe(a, 'q');
    h.disconnect(a);
    h.subscribe(b, 'q');
    h.disconnect(b);
    h.publish(c, 'q', 'm2');
    expect(h.subscribe(c, 'q')).toEqual(['3: subscribe q ok', '3 <- q m2']);
    h.ack(c, 'm2');
    expect(h.advance(10_000)).toEqual([]);
    expect(h.broker.stats()).toMatchObject({ discardedCount: 1, queuedBytes: 0 });
  });

  it('can expire while it rests [TTL-005, DELIVERY-041]', () => {
    const h = testCore({ retryDelayMs: 5000 });
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { messageTtlMs: 1000 });
    h.publish(c, 'q', 'm1');
    h.subscribe(a, 'q');
    h.disconnect(a);
    h.subscribe(b, 'q');
    h.disconnect(b);
    h.advance(999);
    expect(h.waiting('q')).toBe(1);
    h.advance(1);
    expect(h.waiting('q')).toBe(0);
    h.subscribe(c, 'q');
    expect(h.advance(10_000)).toEqual([]);
  });

  it('starts anew after an attempt that failed [DELIVERY-041]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.publish(c, 'q', 'm1');
    h.subscribe(a, 'q');
    h.disconnect(a);
    h.subscribe(b, 'q');
    h.nack(b, 'm1');
    h.advance(1000);
    h.disconnect(b);
    expect(h.subscribe(c, 'q')).toEqual(['3: subscribe q ok', '3 <- q m1 (attempt 4)']);
  });

  it('starts anew after a copy that failed an attempt [DELIVERY-041]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.publish(c, 'q', 'm1');
    h.subscribe(a, 'q');
    h.disconnect(a);
    h.subscribe(b, 'q');
    h.nack(b, 'm1');
    h.disconnect(b);
    expect(h.subscribe(c, 'q')).toEqual(['3: subscribe q ok', '3 <- q m1 (attempt 3)']);
  });

  it('comes back in its old place when several end their rest together [DELIVERY-039]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.publishAll(c, 'q', ids(3));
    h.subscribe(a, 'q');
    h.disconnect(a);
    h.subscribe(b, 'q');
    h.disconnect(b);
    h.subscribe(c, 'q');
    expect(h.advance(2000)).toEqual(ids(3).map((id) => `3 <- q ${id} (attempt 3)`));
  });
});
