// Subscriptions: backlog, second Subscribe, Unsubscribe, their limit. Proves DELIVERY where subscriptions begin and end.

import { describe, expect, it } from 'vitest';
import { ids, testCore } from '../../testing/core-harness.ts';

describe('Subscribe', () => {
  it('is answered before the backlog, which comes without another publish [DELIVERY-010, DELIVERY-035]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.publishAll(a, 'q', ids(3));
    expect(h.subscribe(b, 'q')).toEqual(['2: subscribe q ok', '2 <- q m1', '2 <- q m2', '2 <- q m3']);
    expect(h.waiting('q')).toBe(0);
  });

  it('a second time on the same connection changes nothing [DELIVERY-064]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(b, 'q', 1);
    expect(h.subscribe(b, 'q', 5)).toEqual(['2: subscribe q ok']);
    expect(h.broker.queueInfo('q')?.subscriberCount).toBe(1);
    expect(h.publishAll(a, 'q', ids(2))).toEqual(['1: publish q m1 ok', '2 <- q m1', '1: publish q m2 ok']);
  });

  it('is refused over the limit of subscriptions of a connection, but not for a queue that it has [DELIVERY-064, LIMIT-017]', () => {
    const h = testCore({ maxSubscriptionsPerConnection: 2 });
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.subscribe(a, 'r');
    expect(h.subscribe(a, 's')).toEqual(['1: subscribe s LIMIT_EXCEEDED']);
    expect(h.broker.queueNames()).toEqual(['q', 'r']);
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q ok']);
    expect(h.subscribe(b, 's')).toEqual(['2: subscribe s ok']);
    h.unsubscribe(a, 'q');
    expect(h.subscribe(a, 's')).toEqual(['1: subscribe s ok']);
  });
});

describe('Unsubscribe', () => {
  it('ends delivery on the connection [DELIVERY-061, DELIVERY-069]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(b, 'q');
    expect(h.unsubscribe(b, 'q')).toEqual(['2: unsubscribe q ok']);
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 ok']);
    expect(h.broker.queueInfo('q')).toMatchObject({ messageCount: 1, subscriberCount: 0 });
  });

  it('without a subscription is answered all the same [DELIVERY-063]', () => {
    const h = testCore();
    const a = h.connect();
    expect(h.unsubscribe(a, 'nowhere')).toEqual(['1: unsubscribe nowhere ok']);
    h.publish(a, 'q', 'm1');
    expect(h.unsubscribe(a, 'q')).toEqual(['1: unsubscribe q ok']);
  });

  it('leaves what is in flight to its ack [DELIVERY-062]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publish(b, 'q', 'm1');
    h.unsubscribe(a, 'q');
    expect(h.subscribe(b, 'q')).toEqual(['2: subscribe q ok']);
    h.ack(a, 'm1');
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 1, inFlightCount: 0 });
    expect(h.advance(3_600_000)).toEqual([]);
  });

  it('lets what is in flight wait for others at the ack timeout, at once [DELIVERY-062]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publish(b, 'q', 'm1');
    h.unsubscribe(a, 'q');
    h.subscribe(b, 'q');
    expect(h.advance(29_999)).toEqual([]);
    expect(h.advance(1)).toEqual(['2 <- q m1 (attempt 2)']);
  });

  it('lets what is in flight wait for others after a negative ack [DELIVERY-062]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publish(b, 'q', 'm1');
    h.unsubscribe(a, 'q');
    expect(h.nack(a, 'm1')).toEqual([]);
    expect(h.waiting('q')).toBe(1);
    expect(h.subscribe(b, 'q')).toEqual(['2: subscribe q ok', '2 <- q m1 (attempt 2)']);
  });

  it('ends a pause without another attempt on the connection [DELIVERY-061]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    h.nack(a, 'm1');
    h.unsubscribe(a, 'q');
    expect(h.advance(3_600_000)).toEqual([]);
    expect(h.waiting('q')).toBe(1);
  });
});

describe('the end of a connection', () => {
  it('ends its subscriptions [DELIVERY-069, QUEUE-026]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(b, 'q');
    h.disconnect(b);
    expect(h.broker.queueInfo('q')?.subscriberCount).toBe(0);
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 ok']);
  });

  it('ends its subscriptions to deleted queues too [DELIVERY-069]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(b, 'q');
    h.deleteQueue(a, 'q');
    h.disconnect(b);
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 ok']);
    expect(h.broker.queueInfo('q')?.subscriberCount).toBe(0);
  });
});
