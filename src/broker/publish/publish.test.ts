// Publishing: what the answer promises, repeats, sizes and memory. Proves PUBLISH and LIMIT where the core is concerned.

import { describe, expect, it } from 'vitest';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { ids, testCore } from '../../testing/core-harness.ts';

describe('Publish', () => {
  it('is answered, and the message waits [PUBLISH-001, PUBLISH-002, DELIVERY-034]', () => {
    const h = testCore();
    expect(h.publish(h.connect(), 'q', 'm1')).toEqual(['1: publish q m1 ok']);
    expect(h.waiting('q')).toBe(1);
    expect(h.broker.stats().publishedCount).toBe(1);
  });

  it('gives the store a record of the new queue and one of the message', () => {
    const h = testCore();
    h.publish(h.connect(), 'q', 'm1');
    expect(h.records).toMatchObject([
      { kind: 'queueCreated', name: 'q', generation: 1, createdWallAt: h.wallNow },
      { kind: 'messageAdded', generation: 1, sequence: 1, id: 'm1', acceptedWallAt: h.wallNow },
    ]);
  });

  it('is answered before the message is delivered to its own connection [PUBLISH-001, PUBLISH-004]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q');
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 ok', '1 <- q m1']);
  });
});

describe('a repeat', () => {
  it('of a waiting message adds none and counts nothing [PUBLISH-005, PUBLISH-009]', () => {
    const h = testCore();
    const a = h.connect();
    h.publish(a, 'q', 'm1');
    expect(h.publish(a, 'q', 'm1', { byteLength: 7 })).toEqual(['1: publish q m1 ok']);
    expect(h.waiting('q')).toBe(1);
    expect(h.broker.stats().publishedCount).toBe(1);
  });

  it('of a message in flight, or in the pause before its next attempt, adds none [PUBLISH-006]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 ok']);
    h.advance(30_500);
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 ok']);
    expect(h.waiting('q')).toBe(0);
  });

  it('leaves the content of the first one [PUBLISH-008]', () => {
    const h = testCore();
    const a = h.connect();
    h.publish(a, 'q', 'm1', { byteLength: 11 });
    h.publish(a, 'q', 'm1', { byteLength: 22 });
    h.subscribe(a, 'q');
    expect(h.effects.at(-1)).toMatchObject({ kind: 'deliver', content: { byteLength: 11 } });
  });

  it('is looked for in the same queue only [PUBLISH-010]', () => {
    const h = testCore();
    const a = h.connect();
    h.publish(a, 'q', 'm1');
    h.publish(a, 'r', 'm1');
    expect([h.waiting('q'), h.waiting('r')]).toEqual([1, 1]);
  });

  it('pushes nothing out of a full queue [PUBLISH-009]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { maxQueueSize: 2 });
    h.publishAll(a, 'q', ['m1', 'm2', 'm1']);
    expect(h.waiting('q')).toBe(2);
    expect(h.broker.stats().discardedCount).toBe(0);
  });

  it('of a settled message is a new message [PUBLISH-011]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    h.ack(a, 'm1');
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 ok', '1 <- q m1']);
  });

  it('of a dead letter is a new message [PUBLISH-012]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { enableDeadLetterQueue: true, maxRetryAttempts: 1 });
    h.subscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    h.nack(a, 'm1');
    h.unsubscribe(a, 'q');
    h.publish(a, 'q', 'm1');
    h.publish(a, 'q.dlq', 'm1');
    expect([h.waiting('q'), h.waiting('q.dlq')]).toEqual([1, 2]);
  });

  it('of a blocked publish gets the answer of the first, and not before it [PUBLISH-007]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { maxQueueSize: 1, overflowStrategy: OverflowStrategy.BlockPublisher });
    h.publishAll(a, 'q', ids(2));
    expect(h.publish(b, 'q', 'm2')).toEqual([]);
    expect(h.subscribe(b, 'q', 1)).toEqual([
      '2: subscribe q ok',
      '2 <- q m1',
      '1: publish q m2 ok',
      '2: publish q m2 ok',
    ]);
    expect(h.broker.stats().publishedCount).toBe(2);
  });
});

describe('a payload that cannot be taken', () => {
  it('is refused, and makes neither message nor queue [PUBLISH-003, PUBLISH-019]', () => {
    const h = testCore();
    const a = h.connect();
    expect(h.publish(a, 'q', 'm1', { invalid: true })).toEqual(['1: publish q m1 INVALID_PAYLOAD']);
    expect(h.broker.queueNames()).toEqual([]);
    h.publish(a, 'q', 'm1');
    expect(h.publish(a, 'q', 'm1', { invalid: true })).toEqual(['1: publish q m1 INVALID_PAYLOAD']);
    expect(h.waiting('q')).toBe(1);
  });

  it('is looked at after whether there is a queue', () => {
    const h = testCore({ enableAutoCreate: false });
    const a = h.connect();
    expect(h.publish(a, 'q', 'm1', { invalid: true })).toEqual(['1: publish q m1 QUEUE_NOT_FOUND']);
    h.createQueue(a, 'q');
    expect(h.publish(a, 'q', 'm1', { invalid: true })).toEqual(['1: publish q m1 INVALID_PAYLOAD']);
  });
});

describe('limits', () => {
  it('refuse a message that fits no frame [PUBLISH-003]', () => {
    const h = testCore({ maxContentBytes: 100 });
    const a = h.connect();
    expect(h.publish(a, 'q', 'm1', { byteLength: 101 })).toEqual(['1: publish q m1 MESSAGE_TOO_LARGE']);
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q ok']);
    expect(h.publish(a, 'q', 'm2', { byteLength: 100 })).toEqual(['1: publish q m2 ok', '1 <- q m2']);
  });

  it('count the longer name of the dead letter queue, in bytes, and never a shorter one', () => {
    const h = testCore({ maxContentBytes: 100 });
    const a = h.connect();
    h.createQueue(a, 'q', { enableDeadLetterQueue: true, deadLetterQueueName: 'äö' });
    h.createQueue(a, 'long', { enableDeadLetterQueue: true, deadLetterQueueName: 's' });
    expect(h.publish(a, 'q', 'm1', { byteLength: 98 })).toEqual(['1: publish q m1 MESSAGE_TOO_LARGE']);
    expect(h.publish(a, 'q', 'm1', { byteLength: 97 })).toEqual(['1: publish q m1 ok']);
    expect(h.publish(a, 'long', 'm1', { byteLength: 101 })).toEqual(['1: publish long m1 MESSAGE_TOO_LARGE']);
  });

  it('bound the bytes of all messages held, while deliveries and acks go on [LIMIT-013, LIMIT-014]', () => {
    const h = testCore({ maxQueuedBytes: 2 * (100 + 384) });
    const a = h.connect();
    h.publish(a, 'q', 'm1');
    h.publish(a, 'r', 'm1');
    expect(h.publish(a, 'q', 'm2')).toEqual(['1: publish q m2 MEMORY_LIMIT']);
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 ok']);
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q ok', '1 <- q m1']);
    expect(h.publish(a, 'q', 'm2')).toEqual(['1: publish q m2 MEMORY_LIMIT']);
    h.ack(a, 'm1');
    expect(h.publish(a, 'q', 'm2')).toEqual(['1: publish q m2 ok', '1 <- q m2']);
  });
});

describe('the bytes of evicted messages', () => {
  it('do not count towards maxQueuedBytes any more [LIMIT-013]', () => {
    const h = testCore({ maxQueuedBytes: 2 * (100 + 384) });
    const a = h.connect();
    h.createQueue(a, 'q', { maxQueueSize: 1, overflowStrategy: OverflowStrategy.DropOldest });
    for (const id of ids(5)) expect(h.publish(a, 'q', id)).toEqual([`1: publish q ${id} ok`]);
  });
});
