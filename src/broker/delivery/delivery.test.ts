// RoundRobin and PriorityBased: who gets which message, in which order, and who is passed over. Proves DELIVERY.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { Priority } from '../../model/priority.ts';
import { ids, testCore } from '../../testing/core-harness.ts';

const { Low, Normal, High, Critical } = Priority;

/** What was delivered among these lines. */
function deliveries(lines: readonly string[]): string[] {
  return lines.filter((line) => line.includes('<-'));
}

describe('RoundRobin', () => {
  it('gives n messages to n idle subscribers, one each, in subscribe order [DELIVERY-012, DELIVERY-013]', () => {
    const h = testCore();
    const [a, b, c, publisher] = h.connectAll(4);
    for (const subscriber of [c, a, b]) h.subscribe(subscriber, 'q');
    const lines = h.publishAll(publisher, 'q', ids(4));
    expect(deliveries(lines)).toEqual(['3 <- q m1', '1 <- q m2', '2 <- q m3', '3 <- q m4']);
  });

  it('gives each message to one subscriber [DELIVERY-011]', () => {
    const h = testCore();
    const subscribers = h.connectAll(3);
    for (const subscriber of subscribers) h.subscribe(subscriber, 'q');
    expect(deliveries(h.publish(h.connect(), 'q', 'm1'))).toEqual(['1 <- q m1']);
  });

  it('keeps the order of the answers over several publishers [DELIVERY-037]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.publish(a, 'q', 'm1');
    h.publish(b, 'q', 'm2');
    h.publish(a, 'q', 'm3');
    expect(deliveries(h.subscribe(c, 'q'))).toEqual(['3 <- q m1', '3 <- q m2', '3 <- q m3']);
  });

  it('passes over a subscriber that does not acknowledge [DELIVERY-049]', () => {
    const h = testCore();
    const [a, b, publisher] = h.connectAll(3);
    h.subscribe(a, 'q', 1);
    h.subscribe(b, 'q', 1);
    h.publishAll(publisher, 'q', ids(2));
    h.ack(b, 'm2');
    expect(deliveries(h.publish(publisher, 'q', 'm3'))).toEqual(['2 <- q m3']);
    h.ack(b, 'm3');
    expect(deliveries(h.publish(publisher, 'q', 'm4'))).toEqual(['2 <- q m4']);
  });

  it('passes over a subscriber that does not read, and returns to it when it does [DELIVERY-048]', () => {
    const h = testCore();
    const [a, b, publisher] = h.connectAll(3);
    h.subscribe(a, 'q');
    h.subscribe(b, 'q');
    h.writable(a, false);
    expect(deliveries(h.publishAll(publisher, 'q', ids(2)))).toEqual(['2 <- q m1', '2 <- q m2']);
    h.writable(b, false);
    h.publish(publisher, 'q', 'm3');
    expect(h.waiting('q')).toBe(1);
    expect(h.writable(a, true)).toEqual(['1 <- q m3']);
  });

  it('keeps the order whoever has room first again [DELIVERY-013]', () => {
    const h = testCore();
    const [a, b, c, publisher] = h.connectAll(4);
    for (const subscriber of [a, b, c]) h.subscribe(subscriber, 'q', 1);
    h.publishAll(publisher, 'q', ids(3));
    h.ack(c, 'm3');
    h.ack(b, 'm2');
    h.ack(a, 'm1');
    const lines = h.publishAll(publisher, 'q', ['m4', 'm5', 'm6']);
    expect(deliveries(lines)).toEqual(['1 <- q m4', '2 <- q m5', '3 <- q m6']);
  });

  it('serves a subscriber that comes later behind those who were there [DELIVERY-013]', () => {
    const h = testCore();
    const [a, b, c, publisher] = h.connectAll(4);
    h.subscribe(a, 'q');
    h.subscribe(b, 'q');
    h.publish(publisher, 'q', 'm1');
    h.subscribe(c, 'q');
    const lines = h.publishAll(publisher, 'q', ['m2', 'm3', 'm4', 'm5']);
    expect(deliveries(lines)).toEqual(['2 <- q m2', '3 <- q m3', '1 <- q m4', '2 <- q m5']);
  });

  it('goes on in order behind a subscriber that has gone [DELIVERY-013]', () => {
    const h = testCore();
    const [a, b, c, publisher] = h.connectAll(4);
    for (const subscriber of [a, b, c]) h.subscribe(subscriber, 'q');
    h.publishAll(publisher, 'q', ids(2));
    h.unsubscribe(b, 'q');
    const lines = h.publishAll(publisher, 'q', ['m3', 'm4', 'm5']);
    expect(deliveries(lines)).toEqual(['3 <- q m3', '1 <- q m4', '3 <- q m5']);
  });

  it('takes no turn from a subscriber that gets the next attempt of another [DELIVERY-013, RETRY-011]', () => {
    const h = testCore();
    const [a, b, c, publisher] = h.connectAll(4);
    for (const subscriber of [a, b, c]) h.subscribe(subscriber, 'q');
    h.publishAll(publisher, 'q', ids(3));
    h.ack(b, 'm2');
    h.ack(c, 'm3');
    h.nack(a, 'm1', 'HandlerException');
    expect(deliveries(h.advance(1000))).toEqual(['2 <- q m1 (attempt 2)']);
    const lines = h.publishAll(publisher, 'q', ['m4', 'm5', 'm6']);
    expect(deliveries(lines)).toEqual(['1 <- q m4', '2 <- q m5', '3 <- q m6']);
  });
});

describe('PriorityBased', () => {
  it('gives the highest priority first, within one in publish order [DELIVERY-031, DELIVERY-033, DELIVERY-036]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { mode: DeliveryMode.PriorityBased });
    const priorities = [Low, Normal, Critical, High, Normal, Critical];
    for (const [index, priority] of priorities.entries()) h.publish(a, 'q', `m${index + 1}`, { priority });
    expect(deliveries(h.subscribe(b, 'q'))).toEqual(
      ['m3', 'm6', 'm4', 'm2', 'm5', 'm1'].map((id) => `2 <- q ${id}`),
    );
  });

  it('goes over its subscribers in turn, one each [DELIVERY-030, DELIVERY-032]', () => {
    const h = testCore();
    const [a, b, publisher] = h.connectAll(3);
    h.createQueue(a, 'q', { mode: DeliveryMode.PriorityBased });
    h.subscribe(a, 'q');
    h.subscribe(b, 'q');
    const lines = h.publishAll(publisher, 'q', ids(3));
    expect(deliveries(lines)).toEqual(['1 <- q m1', '2 <- q m2', '1 <- q m3']);
  });

  it('lets a higher priority pass those that wait for room [DELIVERY-031]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { mode: DeliveryMode.PriorityBased });
    h.subscribe(b, 'q', 1);
    h.publishAll(a, 'q', ids(2));
    h.publish(a, 'q', 'm3', { priority: High });
    expect(h.ack(b, 'm1')).toEqual(['2 <- q m3']);
    expect(h.ack(b, 'm3')).toEqual(['2 <- q m2']);
  });
});

describe('in every mode', () => {
  it.each(Object.entries(DeliveryMode))(
    'messages wait without a subscriber: %s [DELIVERY-034]',
    (_, mode) => {
      const h = testCore();
      const [a, b] = h.connectAll(2);
      h.createQueue(a, 'q', { mode });
      h.publishAll(a, 'q', ids(2));
      expect(h.waiting('q')).toBe(2);
      expect(deliveries(h.subscribe(b, 'q'))).toEqual(['2 <- q m1', '2 <- q m2']);
    },
  );
});
