// A publish to a full queue, strategy by strategy. Proves OVERFLOW.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { Priority } from '../../model/priority.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { BrokerHarness } from '../../testing/broker-harness.ts';
import { ids, testCore } from '../../testing/core-harness.ts';
import type { BrokerSettings } from '../interface/settings.ts';

const { BlockPublisher, DropNewest, DropOldest, RedirectToDlq } = OverflowStrategy;

/** Queue q of 2 messages, full with m1 and m2, and three connections. */
function withFullQueue(
  options: Partial<QueueOptions>,
  settings: Partial<BrokerSettings> = {},
): BrokerHarness {
  const h = testCore(settings);
  const [a] = h.connectAll(3);
  h.createQueue(a, 'q', { maxQueueSize: 2, ...options });
  h.publishAll(a, 'q', ids(2));
  return h;
}

describe('a queue', () => {
  it.each(Object.entries(OverflowStrategy))(
    'is not full for a message that a subscriber takes at once: %s [OVERFLOW-001]',
    (_, overflowStrategy) => {
      const h = testCore();
      const [a, b] = h.connectAll(2);
      h.createQueue(a, 'q', { maxQueueSize: 1, overflowStrategy, enableDeadLetterQueue: true });
      h.subscribe(b, 'q', 3);
      for (const id of ids(3))
        expect(h.publish(a, 'q', id)).toEqual([`1: publish q ${id} ok`, `2 <- q ${id}`]);
      expect(h.broker.queueInfo('q.dlq')?.messageCount).toBe(0);
    },
  );

  it('is full for a message that not every member of a fan-out takes at once [OVERFLOW-001, QUEUE-029]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    const mode = DeliveryMode.FanOutWithAck;
    h.createQueue(c, 'q', { mode, maxQueueSize: 1, overflowStrategy: DropNewest });
    h.subscribe(a, 'q');
    h.subscribe(b, 'q', 1);
    h.publishAll(c, 'q', ids(2));
    expect(h.publish(c, 'q', 'm3')).toEqual(['3: publish q m3 QUEUE_FULL']);
    h.ack(b, 'm1');
    h.ack(b, 'm2');
    expect(h.publish(c, 'q', 'm3')).toEqual(['3: publish q m3 ok', '1 <- q m3', '2 <- q m3']);
  });
});

describe('DropOldest', () => {
  it('discards the message published first, counts it, and takes the new one [OVERFLOW-002, OVERFLOW-004, OVERFLOW-006]', () => {
    const h = withFullQueue({ overflowStrategy: DropOldest });
    expect(h.publish(1, 'q', 'm3')).toEqual(['1: publish q m3 ok']);
    expect(h.broker.stats().discardedCount).toBe(1);
    expect(h.subscribe(2, 'q')).toEqual(['2: subscribe q ok', '2 <- q m2', '2 <- q m3']);
  });

  it('asks for age, not for priority [OVERFLOW-003]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { mode: DeliveryMode.PriorityBased, maxQueueSize: 2 });
    h.publish(a, 'q', 'm1', { priority: Priority.Critical });
    h.publish(a, 'q', 'm2', { priority: Priority.Low });
    h.publish(a, 'q', 'm3', { priority: Priority.Low });
    expect(h.subscribe(b, 'q')).toEqual(['2: subscribe q ok', '2 <- q m2', '2 <- q m3']);
  });

  it('dead-letters nothing [OVERFLOW-005]', () => {
    const h = withFullQueue({ overflowStrategy: DropOldest, enableDeadLetterQueue: true });
    h.publish(1, 'q', 'm3');
    expect(h.waiting('q.dlq')).toBe(0);
  });
});

describe('DropNewest', () => {
  it('refuses the new message and leaves the others [OVERFLOW-007, OVERFLOW-008, OVERFLOW-009]', () => {
    const h = withFullQueue({ overflowStrategy: DropNewest });
    expect(h.publish(1, 'q', 'm3')).toEqual(['1: publish q m3 QUEUE_FULL']);
    expect(h.subscribe(2, 'q')).toEqual(['2: subscribe q ok', '2 <- q m1', '2 <- q m2']);
    expect(h.broker.stats()).toMatchObject({ publishedCount: 2, discardedCount: 0 });
  });
});

describe('RedirectToDlq', () => {
  it('takes the new message into the dead letter queue [OVERFLOW-022, OVERFLOW-023, OVERFLOW-024]', () => {
    const h = withFullQueue({ overflowStrategy: RedirectToDlq, enableDeadLetterQueue: true });
    h.subscribe(2, 'q.dlq');
    expect(h.publish(1, 'q', 'm3')).toEqual([
      '1: publish q m3 ok',
      '2 <- q.dlq m3 (QueueOverflow in q after 0)',
    ]);
    expect(h.waiting('q')).toBe(2);
    expect(h.broker.stats()).toMatchObject({ publishedCount: 3, deadLetteredCount: 1 });
  });

  it('makes the dead letter queue again where it was deleted [DLQ-005]', () => {
    const h = withFullQueue({ overflowStrategy: RedirectToDlq, enableDeadLetterQueue: true });
    h.deleteQueue(1, 'q.dlq');
    h.publish(1, 'q', 'm3');
    expect(h.waiting('q.dlq')).toBe(1);
  });
});

describe('BlockPublisher', () => {
  it('answers when there is room, in the order of arrival [OVERFLOW-010, OVERFLOW-011, OVERFLOW-014]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher });
    expect(h.publish(1, 'q', 'm3')).toEqual([]);
    expect(h.publish(2, 'q', 'm4')).toEqual([]);
    expect(h.publish(1, 'q', 'm5')).toEqual([]);
    expect(h.subscribe(3, 'q', 1)).toEqual(['3: subscribe q ok', '3 <- q m1', '1: publish q m3 ok']);
    expect(h.ack(3, 'm1')).toEqual(['3 <- q m2', '2: publish q m4 ok']);
    expect(h.waiting('q')).toBe(2);
  });

  it('loses nothing [OVERFLOW-012]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher });
    h.publishAll(1, 'q', ids(50, 'n'));
    h.subscribe(2, 'q');
    for (const id of [...ids(2), ...ids(50, 'n')]) h.ack(2, id);
    const stats = h.broker.stats();
    expect(stats).toMatchObject({
      publishedCount: 52,
      acknowledgedCount: 52,
      discardedCount: 0,
      queuedBytes: 0,
    });
  });

  it('serves everything else of the connection [OVERFLOW-013, OVERFLOW-015, OVERFLOW-016, OVERFLOW-017]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher });
    h.publish(1, 'q', 'm3');
    expect(h.publish(1, 'r', 'm1')).toEqual(['1: publish r m1 ok']);
    expect(h.listQueues(1)).toEqual(['1: listQueues [q, r]']);
    expect(h.publish(1, 'r', 'm2')).toEqual(['1: publish r m2 ok']);
    expect(h.publish(2, 'r', 'm3')).toEqual(['2: publish r m3 ok']);
    h.subscribe(1, 'q', 1);
    expect(h.ack(1, 'm1')).toEqual(['1 <- q m2']);
  });

  it('puts a new publish behind those that wait [OVERFLOW-014]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher });
    h.publishAll(1, 'q', ['m3', 'm4']);
    expect(h.subscribe(2, 'q', 2)).toContain('1: publish q m4 ok');
    h.publish(1, 'q', 'm5');
    expect(h.ack(2, 'm1')).toEqual(['2 <- q m3', '1: publish q m5 ok']);
  });

  it('takes along what a publisher that leaves has blocked [OVERFLOW-018]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher });
    h.publish(2, 'q', 'm3');
    h.publish(1, 'q', 'm4');
    h.disconnect(2);
    expect(h.subscribe(3, 'q')).toEqual([
      '3: subscribe q ok',
      '3 <- q m1',
      '3 <- q m2',
      '1: publish q m4 ok',
      '3 <- q m4',
    ]);
    expect(h.broker.stats().publishedCount).toBe(3);
  });

  it('leaves a blocked publish to whoever repeated it [PUBLISH-007]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher });
    h.publish(1, 'q', 'm3', { byteLength: 11 });
    h.publish(2, 'q', 'm3', { byteLength: 22 });
    h.publish(1, 'q', 'm3');
    h.disconnect(1);
    expect(h.subscribe(3, 'q', 1)).toEqual(['3: subscribe q ok', '3 <- q m1', '2: publish q m3 ok']);
  });

  it('forgets a repeat whose connection ends [OVERFLOW-018]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher });
    h.publish(1, 'q', 'm3');
    h.publish(2, 'q', 'm3');
    h.disconnect(2);
    expect(h.subscribe(3, 'q', 1)).toEqual(['3: subscribe q ok', '3 <- q m1', '1: publish q m3 ok']);
  });

  it('counts the age of a message from its entry [OVERFLOW-019]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher, messageTtlMs: 1000 });
    h.advance(600);
    h.publish(1, 'q', 'm3');
    expect(h.advance(400)).toEqual(['1: publish q m3 ok']);
    h.advance(999);
    expect(h.waiting('q')).toBe(1);
    h.advance(1);
    expect(h.waiting('q')).toBe(0);
  });

  it('refuses more publishes of a connection than may be blocked [OVERFLOW-020]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher }, { maxBlockedPublishes: 2 });
    h.publishAll(1, 'q', ['m3', 'm3']);
    expect(h.publish(1, 'q', 'm3')).toEqual(['1: publish q m3 QUEUE_FULL']);
    expect(h.publish(1, 'q', 'm4')).toEqual(['1: publish q m4 QUEUE_FULL']);
    expect(h.publish(2, 'q', 'm4')).toEqual([]);
    expect(h.subscribe(3, 'q', 1)).toEqual([
      '3: subscribe q ok',
      '3 <- q m1',
      '1: publish q m3 ok',
      '1: publish q m3 ok',
    ]);
    expect(h.publish(1, 'q', 'm5')).toEqual([]);
  });

  it('refuses more bytes of a connection than may be blocked [OVERFLOW-021]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher }, { maxBlockedBytes: 250 });
    h.publish(1, 'q', 'm3', { byteLength: 150 });
    expect(h.publish(1, 'q', 'm4', { byteLength: 101 })).toEqual(['1: publish q m4 QUEUE_FULL']);
    expect(h.publish(1, 'q', 'm4', { byteLength: 100 })).toEqual([]);
  });

  it('has room for as many bytes again when there was room for those before [OVERFLOW-021]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher }, { maxBlockedBytes: 250 });
    for (const id of ['m3', 'm4', 'm5']) {
      expect(h.publish(1, 'q', id, { byteLength: 250 })).toEqual([]);
      expect(h.purgeQueue(2, 'q')).toContain(`1: publish q ${id} ok`);
      h.publish(2, 'q', `behind ${id}`);
    }
  });

  it('counts blocked messages as held [LIMIT-013]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher }, { maxQueuedBytes: 3 * 484 });
    expect(h.publish(1, 'q', 'm3')).toEqual([]);
    expect(h.publish(1, 'r', 'm1')).toEqual(['1: publish r m1 MEMORY_LIMIT']);
  });
});

describe('a queue that holds more than its maximum, because messages were given back', () => {
  it('loses one message for each that DropOldest takes [OVERFLOW-002]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { maxQueueSize: 2, overflowStrategy: DropOldest });
    h.subscribe(b, 'q', 2);
    h.publishAll(a, 'q', ids(4));
    h.disconnect(b);
    h.publish(a, 'q', 'm5');
    expect(h.waiting('q')).toBe(4);
    const delivered = ['1 <- q m2 (attempt 2)', '1 <- q m3', '1 <- q m4', '1 <- q m5'];
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q ok', ...delivered]);
  });
});

describe('blocked publishes that are left', () => {
  it('enter in their order when the connection of another has ended [OVERFLOW-014]', () => {
    const h = testCore();
    const [a, b, c, d] = h.connectAll(4);
    h.createQueue(d, 'q', { maxQueueSize: 1, overflowStrategy: BlockPublisher });
    h.publish(d, 'q', 'm1');
    for (const [publisher, id] of [
      [a, 'm2'],
      [b, 'm3'],
      [c, 'm4'],
    ] as const)
      h.publish(publisher, 'q', id);
    h.disconnect(a);
    const delivered = h.subscribe(d, 'q').filter((line) => line.includes('<-'));
    expect(delivered).toEqual(['4 <- q m1', '4 <- q m3', '4 <- q m4']);
  });

  it('enter a queue that was purged [OVERFLOW-011]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher });
    h.publish(2, 'q', 'm3');
    expect(h.purgeQueue(1, 'q')).toEqual(['1: purgeQueue q ok', '2: publish q m3 ok']);
  });

  it('count towards the limit of their connection only until they enter [OVERFLOW-020]', () => {
    const h = withFullQueue({ overflowStrategy: BlockPublisher }, { maxBlockedPublishes: 1 });
    h.publish(2, 'q', 'm3');
    h.purgeQueue(1, 'q');
    h.publish(1, 'q', 'm4');
    expect(h.publish(2, 'q', 'm5')).toEqual([]);
  });
});
