// Dead letter queues: how they come to be, what they carry, and that nothing is dead-lettered twice. Proves DLQ.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { Priority } from '../../model/priority.ts';
import { defaultQueueOptions, type QueueOptions } from '../../model/queue-options.ts';
import type { BrokerHarness } from '../../testing/broker-harness.ts';
import { ids, testCore } from '../../testing/core-harness.ts';

/** Queue q with a dead letter queue and one attempt, subscribed by connection 1, which refuses what it gets. */
function withRefusals(options: Partial<QueueOptions> = {}): BrokerHarness {
  const h = testCore();
  const [refuser, publisher] = h.connectAll(2);
  h.createQueue(publisher, 'q', { enableDeadLetterQueue: true, maxRetryAttempts: 1, ...options });
  h.subscribe(refuser, 'q');
  return h;
}

/** Connection 2 publishes to q, and connection 1 refuses it for good. */
function deadLetter(h: BrokerHarness, id: string): string[] {
  h.publish(2, 'q', id);
  return h.nack(1, id);
}

describe('a dead letter queue', () => {
  it('is made together with its source, with the options that belong to it [DLQ-003, DLQ-004, DLQ-006]', () => {
    const h = testCore({ enableAutoCreate: false, defaultDeliveryMode: DeliveryMode.FanOutWithAck });
    h.createQueue(h.connect(), 'q', { enableDeadLetterQueue: true, maxQueueSize: 5, messageTtlMs: 1000 });
    expect(h.broker.queueInfo('q.dlq')?.options).toEqual({ ...defaultQueueOptions, maxQueueSize: 5 });
    expect(h.broker.queueInfo('q')?.options.deadLetterQueueName).toBeUndefined();
  });

  it('has the name that was given [DLQ-002]', () => {
    const h = withRefusals({ deadLetterQueueName: 'failures' });
    deadLetter(h, 'm1');
    expect(h.waiting('failures')).toBe(1);
    expect(h.broker.queueNames()).toEqual(['q', 'failures']);
  });

  it('that exists is used as it is [DLQ-007]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'failures', { mode: DeliveryMode.FanOutWithAck, maxQueueSize: 3 });
    h.createQueue(a, 'q', { enableDeadLetterQueue: true, deadLetterQueueName: 'failures' });
    expect(h.broker.queueInfo('failures')?.options).toMatchObject({ mode: 1, maxQueueSize: 3 });
  });

  it('is made again when a dead letter needs it, with the options that belong to it [DLQ-005, DLQ-006]', () => {
    const h = withRefusals({ maxQueueSize: 5 });
    h.deleteQueue(2, 'q.dlq');
    deadLetter(h, 'm1');
    expect(h.waiting('q.dlq')).toBe(1);
    expect(h.broker.queueInfo('q.dlq')?.options).toEqual({ ...defaultQueueOptions, maxQueueSize: 5 });
  });

  it('delivers the dead letters, which have left their source [DLQ-001, DLQ-018, DLQ-019, RETRY-008]', () => {
    const h = withRefusals({ maxRetryAttempts: 2 });
    h.subscribe(2, 'q.dlq');
    h.publish(2, 'q', 'm1');
    expect(h.advance(31_000)).toEqual(['1 <- q m1 (attempt 2)']);
    expect(h.advance(30_000)).toEqual(['2 <- q.dlq m1 (MaxRetriesExceeded in q after 2)']);
    expect(h.waiting('q')).toBe(0);
    expect(h.broker.stats()).toMatchObject({ deadLetteredCount: 1, discardedCount: 0 });
  });

  it('keeps content and tells when [DLQ-012, DLQ-016]', () => {
    const h = withRefusals();
    h.advance(1000);
    h.publish(2, 'q', 'm1', { byteLength: 77 });
    h.advance(12_345);
    h.nack(1, 'm1');
    h.subscribe(2, 'q.dlq');
    expect(h.effects.at(-1)).toMatchObject({
      content: { byteLength: 77 },
      deadLetter: { reason: 'HandlerException', source: 'q', attempts: 1, deadLetteredWallAt: h.wallNow },
    });
  });

  it('is told to the store in one record, out of one queue and into the other [DLQ-019]', () => {
    const h = withRefusals();
    deadLetter(h, 'm1');
    expect(h.records.at(-1)).toMatchObject({
      kind: 'deadLettered',
      from: { generation: 1, sequence: 1 },
      to: { generation: 2, sequence: 2, id: 'm1', deadLetter: { source: 'q' } },
    });
  });
});

describe('a dead letter', () => {
  it('always enters, and pushes the oldest out of a full queue [DLQ-008, DLQ-009]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    const overflowStrategy = OverflowStrategy.BlockPublisher;
    h.createQueue(b, 'failures', { maxQueueSize: 2, overflowStrategy });
    const options = { enableDeadLetterQueue: true, deadLetterQueueName: 'failures', maxRetryAttempts: 1 };
    h.createQueue(b, 'q', options);
    h.subscribe(a, 'q');
    h.publishAll(b, 'failures', ['f1', 'f2', 'f3']);
    deadLetter(h, 'm1');
    expect(h.broker.stats()).toMatchObject({ deadLetteredCount: 1, discardedCount: 1 });
    expect(h.subscribe(b, 'failures', 2)).toEqual([
      '2: subscribe failures ok',
      '2 <- failures f2',
      '2 <- failures m1 (HandlerException in q after 1)',
      '2: publish failures f3 ok',
    ]);
  });

  it('that fails again is discarded [DLQ-010, DLQ-017]', () => {
    const h = withRefusals({ deadLetterQueueName: 'second' });
    h.createQueue(2, 'first', {
      enableDeadLetterQueue: true,
      deadLetterQueueName: 'q',
      maxRetryAttempts: 1,
    });
    h.subscribe(2, 'first');
    h.publish(2, 'first', 'm1');
    expect(h.nack(2, 'm1')).toEqual(['1 <- q m1 (HandlerException in first after 1)']);
    h.nack(1, 'm1');
    expect(h.waiting('second')).toBe(0);
    expect(h.broker.stats()).toMatchObject({ deadLetteredCount: 1, discardedCount: 1, queuedBytes: 0 });
  });

  it('goes round no circle [DLQ-010]', () => {
    const h = withRefusals({ deadLetterQueueName: 'r' });
    h.deleteQueue(2, 'r');
    h.createQueue(2, 'r', { enableDeadLetterQueue: true, deadLetterQueueName: 'q', maxRetryAttempts: 1 });
    h.subscribe(2, 'r');
    expect(deadLetter(h, 'm1')).toEqual(['2 <- r m1 (HandlerException in q after 1)']);
    expect(h.nack(2, 'm1')).toEqual([]);
    expect(h.broker.stats()).toMatchObject({ discardedCount: 1, inFlightCount: 0, queuedBytes: 0 });
  });

  it('starts counting attempts anew', () => {
    const h = withRefusals();
    h.subscribe(2, 'q.dlq');
    deadLetter(h, 'm1');
    expect(h.nack(2, 'm1')).toEqual([]);
    expect(h.advance(1000)).toEqual(['2 <- q.dlq m1 (attempt 2, HandlerException in q after 1)']);
  });

  it('pushes nothing out that a subscriber takes at once [DLQ-008, OVERFLOW-001]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'failures', { maxQueueSize: 1 });
    const options = { enableDeadLetterQueue: true, deadLetterQueueName: 'failures', messageTtlMs: 1000 };
    h.createQueue(a, 'q', options);
    h.publishAll(a, 'q', ids(3));
    h.subscribe(b, 'failures');
    expect(h.advance(1000)).toEqual(ids(3).map((id) => `2 <- failures ${id} (MessageExpired in q after 0)`));
    expect(h.broker.stats().discardedCount).toBe(0);
  });
});

describe('a PriorityBased dead letter queue', () => {
  it('delivers dead letters in the order of their priorities [DELIVERY-031]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'letters', { mode: DeliveryMode.PriorityBased });
    h.createQueue(a, 'q', {
      maxQueueSize: 1,
      overflowStrategy: OverflowStrategy.RedirectToDlq,
      enableDeadLetterQueue: true,
      deadLetterQueueName: 'letters',
    });
    h.publish(a, 'q', 'm1');
    h.publish(a, 'q', 'low', { priority: Priority.Low });
    h.publish(a, 'q', 'critical', { priority: Priority.Critical });
    expect(h.subscribe(a, 'letters')).toEqual([
      '1: subscribe letters ok',
      expect.stringContaining('1 <- letters critical'),
      expect.stringContaining('1 <- letters low'),
    ]);
  });
});
