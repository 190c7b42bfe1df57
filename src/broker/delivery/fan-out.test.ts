// FanOutWithAck and FanOutWithoutAck: members and copies, and what becomes of a message whose copies end differently.
// Proves DELIVERY (fan-out), RETRY and DLQ where copies are concerned.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import { BrokerHarness, testSettings } from '../../testing/broker-harness.ts';
import { ids, testCore } from '../../testing/core-harness.ts';
import { Broker } from '../broker.ts';

/** Queue q with three subscribers, connections 1 to 3; connection 4 published m1, which all of them got. */
function withThreeCopies(options: Partial<QueueOptions> = {}): BrokerHarness {
  const h = testCore();
  const publisher = 4;
  h.connectAll(4);
  h.createQueue(publisher, 'q', { mode: DeliveryMode.FanOutWithAck, ...options });
  for (const subscriber of [1, 2, 3]) h.subscribe(subscriber, 'q');
  h.publish(publisher, 'q', 'm1');
  return h;
}

function hasFailed(h: BrokerHarness): boolean {
  return h.records.some((record) => record.kind === 'messageRemoved' || record.kind === 'deadLettered');
}

describe('FanOutWithAck', () => {
  it('gives each subscriber its copy [DELIVERY-014]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(a, 'q');
    h.subscribe(b, 'q');
    expect(h.publish(c, 'q', 'm1')).toEqual(['3: publish q m1 ok', '1 <- q m1', '2 <- q m1']);
    expect(h.waiting('q')).toBe(0);
  });

  it('gives none to a subscriber that comes later [DELIVERY-015]', () => {
    const h = withThreeCopies();
    expect(h.subscribe(4, 'q')).toEqual(['4: subscribe q ok']);
  });

  it('is done when every copy is acknowledged, and not before [DELIVERY-016, DELIVERY-021, DELIVERY-056]', () => {
    const h = withThreeCopies();
    h.ack(1, 'm1');
    h.ack(1, 'm1');
    h.ack(4, 'm1');
    h.ack(2, 'm1');
    expect(hasFailed(h)).toBe(false);
    h.ack(3, 'm1');
    expect(hasFailed(h)).toBe(true);
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 3, inFlightCount: 0, queuedBytes: 0 });
  });

  it('sends the next attempt to the member that did not acknowledge, and only to it [RETRY-012]', () => {
    const h = withThreeCopies();
    h.ack(1, 'm1');
    h.ack(3, 'm1');
    expect(h.advance(31_000)).toEqual(['2 <- q m1 (attempt 2)']);
    h.ack(2, 'm1');
    expect(hasFailed(h)).toBe(true);
  });

  it('counts attempts per copy [RETRY-012, NACK-008]', () => {
    const h = withThreeCopies();
    h.nack(1, 'm1');
    expect(h.advance(1000)).toEqual(['1 <- q m1 (attempt 2)']);
    h.nack(1, 'm1');
    h.nack(2, 'm1');
    expect(h.advance(1000)).toEqual(['2 <- q m1 (attempt 2)']);
    expect(h.advance(1000)).toEqual(['1 <- q m1 (attempt 3)']);
  });

  it('gives a member without room its copy as soon as it has, and waits until then [DELIVERY-017, DELIVERY-018]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(a, 'q', 1);
    h.subscribe(b, 'q');
    h.publishAll(c, 'q', ids(3));
    expect(h.waiting('q')).toBe(2);
    expect(h.ack(a, 'm1')).toEqual(['1 <- q m2']);
    expect(h.waiting('q')).toBe(1);
    expect(h.ack(a, 'm2')).toEqual(['1 <- q m3']);
    expect(h.waiting('q')).toBe(0);
  });

  it('lets nobody wait for a member that does not read [DELIVERY-048]', () => {
    const h = withThreeCopies();
    h.writable(2, false);
    expect(h.publish(4, 'q', 'm2')).toEqual(['4: publish q m2 ok', '1 <- q m2', '3 <- q m2']);
    expect(h.writable(2, true)).toEqual(['2 <- q m2']);
  });

  it('keeps a due attempt back while its member does not read [DELIVERY-048, DELIVERY-006]', () => {
    const h = withThreeCopies();
    h.ack(1, 'm1');
    h.ack(3, 'm1');
    h.writable(2, false);
    expect(h.advance(600_000)).toEqual([]);
    expect(h.broker.stats().inFlightCount).toBe(1);
    expect(h.writable(2, true)).toEqual(['2 <- q m1 (attempt 2)']);
  });

  it('ends a due attempt with the subscription of a member that does not read [DELIVERY-062]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(b, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(a, 'q');
    h.publish(b, 'q', 'm1');
    h.writable(a, false);
    h.advance(31_000);
    h.unsubscribe(a, 'q');
    expect(h.waiting('q')).toBe(1);
    expect(h.subscribe(b, 'q')).toEqual(['2: subscribe q ok', '2 <- q m1 (attempt 2)']);
  });

  it('forgets the copies of a member that leaves [DELIVERY-021]', () => {
    const h = withThreeCopies();
    h.ack(1, 'm1');
    h.disconnect(2);
    h.ack(3, 'm1');
    expect(hasFailed(h)).toBe(true);
    expect(h.broker.stats().discardedCount).toBe(0);
  });

  it('waits again, in its old place, when every member has left [DELIVERY-022, DELIVERY-039]', () => {
    const h = withThreeCopies();
    for (const member of [1, 2, 3]) h.disconnect(member);
    h.publish(4, 'q', 'm2');
    expect(h.waiting('q')).toBe(2);
    expect(h.subscribe(4, 'q')).toEqual(['4: subscribe q ok', '4 <- q m1 (attempt 4)', '4 <- q m2']);
  });

  it('says how often it was sent before its copies, which are no retries [DELIVERY-055, METRICS-011]', () => {
    const h = testCore();
    const [a, b, publisher] = h.connectAll(3);
    h.createQueue(publisher, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(a, 'q', 1);
    h.publish(publisher, 'q', 'm1');
    h.unsubscribe(a, 'q');
    h.disconnect(a);
    expect(h.subscribe(b, 'q', 1)).toEqual(['2: subscribe q ok', '2 <- q m1 (attempt 2)']);
    expect(h.broker.stats().retryCount).toBe(0);
    h.nack(b, 'm1');
    expect(h.advance(1000)).toEqual(['2 <- q m1 (attempt 3)']);
    expect(h.broker.stats()).toMatchObject({ retryCount: 1, deliveredCount: 3 });
  });

  it('says the same of a copy that is sent later, whatever was sent to others meanwhile [DELIVERY-055]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(a, 'q');
    h.publish(c, 'q', 'm1');
    for (const member of [b, c]) h.subscribe(member, 'q', 1);
    h.publish(c, 'q', 'm2');
    h.ack(b, 'm2');
    expect(h.disconnect(a)).toEqual(['2 <- q m1 (attempt 2)']);
    expect(h.ack(c, 'm2')).toEqual(['3 <- q m1 (attempt 2)']);
  });

  it('sends nothing after the unsubscribe answer, a due attempt included [DELIVERY-061]', () => {
    const h = withThreeCopies();
    h.nack(1, 'm1');
    h.unsubscribe(1, 'q');
    h.ack(2, 'm1');
    h.ack(3, 'm1');
    expect(h.advance(3_600_000)).toEqual([]);
    expect(hasFailed(h)).toBe(true);
  });

  it('takes back what an unsubscribed member was still to get [DELIVERY-061, DELIVERY-018]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(a, 'q', 1);
    h.subscribe(b, 'q');
    h.publishAll(c, 'q', ids(2));
    h.unsubscribe(a, 'q');
    expect(h.waiting('q')).toBe(0);
    expect(h.ack(a, 'm1')).toEqual([]);
    expect(h.broker.stats().inFlightCount).toBe(2);
  });

  it('makes room for blocked publishes with every copy that a member leaves behind, however many they are', () => {
    const settings = { ...testSettings, maxInFlightPerSubscriber: 2_000 };
    const h = new BrokerHarness(new Broker(settings));
    const [fast, slow, publisher] = h.connectAll(3);
    const options = { mode: DeliveryMode.FanOutWithAck, overflowStrategy: OverflowStrategy.BlockPublisher };
    for (const queue of ['q', 'r']) {
      h.createQueue(publisher, queue, { ...options, maxQueueSize: 1_100 });
      h.subscribe(fast, queue, 1_101);
      h.subscribe(slow, queue, 1);
      h.publishAll(publisher, queue, ids(1_200));
      expect(h.waiting(queue)).toBe(1_100);
    }
    h.disconnect(slow);
    h.advance(0);
    // Of the 1,200 the fast member has 1,101 in flight, so the others wait and none is blocked.
    expect([h.waiting('q'), h.waiting('r')]).toEqual([99, 99]);
    expect(h.broker.stats().publishedCount).toBe(2_400);
  });

  it('is dead-lettered once, for the first failure, when the last copy has ended [DELIVERY-020, DLQ-017]', () => {
    const h = withThreeCopies({ enableDeadLetterQueue: true, maxRetryAttempts: 1 });
    h.subscribe(4, 'q.dlq');
    expect(h.nack(1, 'm1')).toEqual([]);
    expect(h.nack(2, 'm1', 'DeserializationError')).toEqual([]);
    expect(h.ack(3, 'm1')).toEqual(['4 <- q.dlq m1 (HandlerException in q after 1)']);
    expect(h.broker.stats()).toMatchObject({ deadLetteredCount: 1, discardedCount: 0 });
  });

  it('is still sent to a member without room when another one refuses it for good [NACK-008]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithAck });
    h.subscribe(a, 'q', 1);
    h.subscribe(b, 'q');
    h.publishAll(c, 'q', ids(2));
    expect(h.nack(b, 'm2', 'DeserializationError')).toEqual([]);
    expect(h.ack(a, 'm1')).toEqual(['1 <- q m2']);
  });

  it('is discarded, once, where there is no dead letter queue [DELIVERY-020, RETRY-010]', () => {
    const h = withThreeCopies({ maxRetryAttempts: 1 });
    h.advance(30_000);
    expect(hasFailed(h)).toBe(true);
    expect(h.broker.stats().discardedCount).toBe(1);
  });

  it('loses the copies not sent, and only these, to DropOldest [DELIVERY-019]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithAck, maxQueueSize: 1 });
    h.subscribe(a, 'q', 1);
    h.subscribe(b, 'q');
    h.publishAll(c, 'q', ids(3));
    expect(h.waiting('q')).toBe(1);
    expect(h.ack(a, 'm1')).toEqual(['1 <- q m3']);
    h.ack(b, 'm2');
    expect(h.broker.stats()).toMatchObject({ discardedCount: 1, acknowledgedCount: 2 });
  });

  it('does not come back once DropOldest took copies of it and its other members left [DELIVERY-019]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithAck, maxQueueSize: 1 });
    h.subscribe(a, 'q', 1);
    h.subscribe(b, 'q');
    h.publishAll(c, 'q', ids(3));
    h.unsubscribe(b, 'q');
    h.disconnect(b);
    expect(h.ack(a, 'm1')).toEqual(['1 <- q m3']);
    h.ack(a, 'm3');
    expect(h.subscribe(c, 'q')).toEqual(['3: subscribe q ok']);
    expect(h.broker.stats()).toMatchObject({ discardedCount: 1, queuedBytes: 0 });
  });

  it('lets copies not sent expire, and leaves those in flight [DELIVERY-020, TTL-007, TTL-009]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    const options = { mode: DeliveryMode.FanOutWithAck, messageTtlMs: 1000, enableDeadLetterQueue: true };
    h.createQueue(c, 'q', options);
    h.subscribe(a, 'q', 1);
    h.subscribe(b, 'q');
    h.subscribe(c, 'q.dlq');
    h.publishAll(c, 'q', ids(2));
    h.advance(1000);
    expect(h.waiting('q')).toBe(0);
    expect(h.ack(a, 'm1')).toEqual([]);
    expect(h.ack(b, 'm2')).toEqual(['3 <- q.dlq m2 (MessageExpired in q after 0)']);
  });
});

describe('FanOutWithoutAck', () => {
  function withSubscribers(): BrokerHarness {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.createQueue(c, 'q', { mode: DeliveryMode.FanOutWithoutAck });
    h.subscribe(a, 'q', 1);
    h.subscribe(b, 'q', 1);
    return h;
  }

  it('is done on sending to everybody, whatever the window [DELIVERY-024, DELIVERY-025]', () => {
    const h = withSubscribers();
    const lines = h.publishAll(3, 'q', ids(2));
    expect(lines.filter((line) => line.includes('<-'))).toEqual([
      '1 <- q m1',
      '2 <- q m1',
      '1 <- q m2',
      '2 <- q m2',
    ]);
    expect(h.broker.stats()).toMatchObject({ inFlightCount: 0, queuedBytes: 0 });
    expect(h.advance(3_600_000)).toEqual([]);
  });

  it('ignores acks, positive and negative [DELIVERY-026, NACK-009]', () => {
    const h = withSubscribers();
    h.publish(3, 'q', 'm1');
    expect([h.ack(1, 'm1'), h.nack(2, 'm1')]).toEqual([[], []]);
    expect(h.broker.stats().acknowledgedCount).toBe(0);
    expect(h.advance(3_600_000)).toEqual([]);
  });

  it('passes over a subscriber that does not read, and counts it [DELIVERY-027, DELIVERY-029]', () => {
    const h = withSubscribers();
    h.writable(1, false);
    expect(h.publish(3, 'q', 'm1')).toEqual(['3: publish q m1 ok', '2 <- q m1']);
    expect(h.writable(1, true)).toEqual([]);
    expect(h.broker.stats().discardedCount).toBe(1);
  });

  it('counts each of two subscribers that do not read [DELIVERY-029]', () => {
    const h = withSubscribers();
    const reader = h.connect();
    h.subscribe(reader, 'q');
    h.writable(1, false);
    h.writable(2, false);
    expect(h.publish(3, 'q', 'm1')).toEqual(['3: publish q m1 ok', `${reader} <- q m1`]);
    expect(h.broker.stats().discardedCount).toBe(2);
  });

  it('waits while nobody can take it [DELIVERY-028]', () => {
    const h = withSubscribers();
    h.writable(1, false);
    h.writable(2, false);
    h.publishAll(3, 'q', ids(2));
    expect(h.waiting('q')).toBe(2);
    expect(h.writable(2, true)).toEqual(['2 <- q m1', '2 <- q m2']);
  });
});
