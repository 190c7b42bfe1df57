// What holds in every delivery mode, tried in each of them: how messages wait, are counted, leave, come back, fail and expire. Proves
// DELIVERY, OVERFLOW, RETRY, NACK, TTL and QUEUE.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { Priority } from '../../model/priority.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { BrokerHarness } from '../../testing/broker-harness.ts';
import { ids, testCore } from '../../testing/core-harness.ts';

const { RoundRobin, FanOutWithAck, FanOutWithoutAck, PriorityBased } = DeliveryMode;

/** Queue q of this mode, and two connections: 1 publishes. */
function withQueue(mode: DeliveryMode, options: Partial<QueueOptions> = {}): BrokerHarness {
  const h = testCore();
  const [publisher] = h.connectAll(2);
  h.createQueue(publisher, 'q', { mode, ...options });
  return h;
}

describe.each(Object.entries(DeliveryMode))('a queue, %s,', (_, mode) => {
  it('counts what waits, and nothing that was sent [QUEUE-025, DELIVERY-002, DELIVERY-034]', () => {
    const h = withQueue(mode);
    h.publishAll(1, 'q', ids(2));
    expect(h.broker.queueInfo('q')?.messageCount).toBe(2);
    h.subscribe(2, 'q', 2);
    expect(h.broker.queueInfo('q')?.messageCount).toBe(0);
  });

  it('answers a Subscribe before it sends what waits [CONN-033]', () => {
    const h = withQueue(mode);
    h.publishAll(1, 'q', ids(2));
    expect(h.subscribe(2, 'q', 2)).toEqual(['2: subscribe q ok', '2 <- q m1', '2 <- q m2']);
  });

  it('sends nothing after an Unsubscribe [DELIVERY-061]', () => {
    const h = withQueue(mode);
    h.subscribe(2, 'q');
    h.unsubscribe(2, 'q');
    expect(h.publish(1, 'q', 'm1')).toEqual(['1: publish q m1 ok']);
    expect(h.waiting('q')).toBe(1);
  });

  it('evicts its oldest message when it is full, with DropOldest [OVERFLOW-002]', () => {
    const h = withQueue(mode, { maxQueueSize: 2 });
    h.publishAll(1, 'q', ids(3));
    expect(h.subscribe(2, 'q', 2)).toEqual(['2: subscribe q ok', '2 <- q m2', '2 <- q m3']);
  });

  it('takes no message when it is full, with DropNewest, whatever its priority [OVERFLOW-007, OVERFLOW-009]', () => {
    const h = withQueue(mode, { maxQueueSize: 1, overflowStrategy: OverflowStrategy.DropNewest });
    h.publish(1, 'q', 'm1');
    const critical = { priority: Priority.Critical };
    expect(h.publish(1, 'q', 'm2', critical)).toEqual(['1: publish q m2 QUEUE_FULL']);
    expect(h.subscribe(2, 'q', 2)).toEqual(['2: subscribe q ok', '2 <- q m1']);
  });

  it('lets a Publish wait for room, with BlockPublisher [OVERFLOW-010, OVERFLOW-011]', () => {
    const h = withQueue(mode, { maxQueueSize: 1, overflowStrategy: OverflowStrategy.BlockPublisher });
    h.publish(1, 'q', 'm1');
    expect(h.publish(1, 'q', 'm2')).toEqual([]);
    const lines = h.subscribe(2, 'q', 2);
    expect(lines.slice(0, 2)).toEqual(['2: subscribe q ok', '2 <- q m1']);
    expect([...lines.slice(2)].sort()).toEqual(['1: publish q m2 ok', '2 <- q m2']);
  });

  it('dead-letters what is published when it is full, with RedirectToDlq [OVERFLOW-022, OVERFLOW-023]', () => {
    const overflowStrategy = OverflowStrategy.RedirectToDlq;
    const h = withQueue(mode, { maxQueueSize: 1, overflowStrategy, enableDeadLetterQueue: true });
    h.publishAll(1, 'q', ids(2));
    expect(h.subscribe(2, 'q.dlq')).toEqual([
      '2: subscribe q.dlq ok',
      '2 <- q.dlq m2 (QueueOverflow in q after 0)',
    ]);
    expect(h.subscribe(2, 'q')).toEqual(['2: subscribe q ok', '2 <- q m1']);
  });

  it('lets waiting messages expire [TTL-001, TTL-007]', () => {
    const h = withQueue(mode, { messageTtlMs: 10_000, enableDeadLetterQueue: true });
    h.publish(1, 'q', 'm1');
    h.advance(10_000);
    expect(h.waiting('q')).toBe(0);
    expect(h.subscribe(2, 'q')).toEqual(['2: subscribe q ok']);
    expect(h.waiting('q.dlq')).toBe(1);
  });
});

describe.each(Object.entries({ RoundRobin, FanOutWithAck, PriorityBased }))(
  'a message of a queue with acks, %s,',
  (_, mode) => {
    it('waits again when its only subscriber disconnects [DELIVERY-038, DELIVERY-006]', () => {
      const h = withQueue(mode);
      h.subscribe(2, 'q');
      h.publish(1, 'q', 'm1');
      h.disconnect(2);
      expect(h.waiting('q')).toBe(1);
      expect(h.subscribe(1, 'q')).toEqual(['1: subscribe q ok', '1 <- q m1 (attempt 2)']);
    });

    it('does not come again after its ack [DELIVERY-001]', () => {
      const h = withQueue(mode);
      h.subscribe(2, 'q');
      h.publish(1, 'q', 'm1');
      expect(h.ack(2, 'm1')).toEqual([]);
      h.disconnect(2);
      expect(h.waiting('q')).toBe(0);
      expect(h.broker.stats().queuedBytes).toBe(0);
    });

    it('does not come again after the ack of a later attempt [DELIVERY-001]', () => {
      const h = withQueue(mode, { maxRetryAttempts: 9 });
      h.subscribe(2, 'q', 2);
      h.publish(1, 'q', 'm1');
      expect(h.advance(31_000)).toEqual(['2 <- q m1 (attempt 2)']);
      expect(h.advance(32_000)).toEqual(['2 <- q m1 (attempt 3)']);
      h.ack(2, 'm1');
      expect(h.advance(120_000)).toEqual([]);
      expect(h.waiting('q')).toBe(0);
    });

    it('is dead-lettered after maxRetryAttempts attempts [RETRY-007, RETRY-008]', () => {
      const h = withQueue(mode, { maxRetryAttempts: 2, enableDeadLetterQueue: true });
      h.subscribe(2, 'q');
      h.publish(1, 'q', 'm1');
      expect(h.advance(31_000)).toEqual(['2 <- q m1 (attempt 2)']);
      expect(h.advance(60_000)).toEqual([]);
      expect(h.waiting('q.dlq')).toBe(1);
    });

    it('is dead-lettered at once when it is refused for good [NACK-005]', () => {
      const h = withQueue(mode, { maxRetryAttempts: 3, enableDeadLetterQueue: true });
      h.subscribe(2, 'q');
      h.publish(1, 'q', 'm1');
      expect(h.nack(2, 'm1', 'DeserializationError')).toEqual([]);
      expect(h.waiting('q.dlq')).toBe(1);
      expect(h.advance(120_000)).toEqual([]);
    });
  },
);

it('a message without acks is not kept when its subscriber disconnects [DELIVERY-025]', () => {
  const h = withQueue(FanOutWithoutAck);
  h.subscribe(2, 'q');
  h.publish(1, 'q', 'm1');
  h.disconnect(2);
  expect(h.waiting('q')).toBe(0);
});
