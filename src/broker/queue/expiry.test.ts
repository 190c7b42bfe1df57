// The time to live: what expires, when, and what is left alone. Proves TTL.

import { describe, expect, it } from 'vitest';
import { Priority } from '../../model/priority.ts';
import { defaultQueueOptions, type QueueOptions } from '../../model/queue-options.ts';
import { type BrokerHarness, testSettings } from '../../testing/broker-harness.ts';
import { ids, testCore } from '../../testing/core-harness.ts';
import { anyContent } from '../../testing/test-content.ts';
import { Broker } from '../broker.ts';

/** Queue q whose messages live for 10 s, and two connections. */
function withTtl(options: Partial<QueueOptions> = {}): BrokerHarness {
  const h = testCore();
  const [a] = h.connectAll(2);
  h.createQueue(a, 'q', { messageTtlMs: 10_000, ...options });
  return h;
}

describe('a waiting message', () => {
  it('expires on its own at its time, and is discarded and counted [TTL-001, TTL-002, TTL-005, TTL-008]', () => {
    const h = withTtl();
    h.publish(1, 'q', 'm1');
    h.advance(4000);
    h.publish(1, 'q', 'm2');
    h.advance(5999);
    expect(h.waiting('q')).toBe(2);
    h.advance(1);
    expect(h.waiting('q')).toBe(1);
    expect(h.broker.stats().discardedCount).toBe(1);
    expect(h.subscribe(2, 'q')).toEqual(['2: subscribe q ok', '2 <- q m2']);
  });

  it('is dead-lettered where there is a dead letter queue [TTL-007]', () => {
    const h = withTtl({ enableDeadLetterQueue: true });
    h.subscribe(2, 'q.dlq');
    h.publish(1, 'q', 'm1');
    expect(h.advance(10_000)).toEqual(['2 <- q.dlq m1 (MessageExpired in q after 0)']);
  });

  it('expires beside a subscriber without room too [TTL-005]', () => {
    const h = withTtl();
    h.subscribe(2, 'q', 1);
    h.publishAll(1, 'q', ids(3));
    h.advance(10_000);
    expect(h.waiting('q')).toBe(0);
    expect(h.ack(2, 'm1')).toEqual([]);
  });

  it('does not expire in a queue without messageTtl [TTL-012]', () => {
    const h = testCore();
    h.publish(h.connect(), 'q', 'm1');
    h.advance(100 * 86_400_000);
    expect(h.waiting('q')).toBe(1);
  });

  it('is not delivered over its age, however late the core is called [TTL-001]', () => {
    const h = withTtl();
    h.publish(1, 'q', 'm1');
    h.oversleep(10_000);
    expect(h.subscribe(2, 'q')).toEqual(['2: subscribe q ok']);
    expect(h.waiting('q')).toBe(0);
  });

  it('is not delivered over its age while very many expire [TTL-001, TTL-005]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { messageTtlMs: 1000, maxQueueSize: 30_000 });
    for (const id of ids(120)) h.publish(a, 'q', id);
    h.advance(999);
    h.subscribe(a, 'r');
    expect(h.advance(1)).toEqual([]);
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q ok']);
    expect(h.broker.stats().discardedCount).toBe(120);
  });

  it('that expires together with very many others waits for the steps before its own only [TTL-006]', () => {
    const broker = new Broker(testSettings);
    const options = { ...defaultQueueOptions, messageTtlMs: 1000 };
    const accepted = { now: 0, wallNow: 0 };
    const command = { connection: 1, token: undefined, queue: 'q' };
    broker.step({ kind: 'connected', connection: 1 }, accepted);
    broker.step({ ...command, kind: 'createQueue', options }, accepted);
    const message = { priority: Priority.Normal, content: anyContent(1) };
    for (const id of ids(3500)) broker.step({ ...command, ...message, kind: 'publish', id }, accepted);

    const due = { now: 1000, wallNow: 1000 };
    const left: number[] = [];
    while ((broker.nextDeadline() ?? Number.POSITIVE_INFINITY) <= due.now) {
      broker.step({ kind: 'tick' }, due);
      left.push(broker.queueInfo('q')?.messageCount ?? 0);
    }
    expect(left.at(-1)).toBe(0);
    expect(left.length).toBeLessThanOrEqual(4);
  });

  it('is not moved by the wall clock [RETRY-016]', () => {
    const h = withTtl();
    h.publish(1, 'q', 'm1');
    h.wallShift = 86_400_000;
    h.advance(9999);
    expect(h.waiting('q')).toBe(1);
  });
});

describe('a message in flight', () => {
  it('does not expire: an ack in time settles it [TTL-009]', () => {
    const h = withTtl();
    h.subscribe(2, 'q');
    h.publish(1, 'q', 'm1');
    h.advance(20_000);
    h.ack(2, 'm1');
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 1, discardedCount: 0 });
  });

  it('that would be sent again over its age expires then [TTL-010]', () => {
    const h = withTtl({ enableDeadLetterQueue: true });
    h.subscribe(2, 'q');
    h.subscribe(1, 'q.dlq');
    h.publish(1, 'q', 'm1');
    h.advance(9500);
    h.nack(2, 'm1');
    expect(h.advance(999)).toEqual([]);
    expect(h.advance(1)).toEqual(['1 <- q.dlq m1 (MessageExpired in q after 1)']);
  });

  it('that is given back over its age expires then [TTL-010]', () => {
    const h = withTtl({ enableDeadLetterQueue: true });
    h.subscribe(2, 'q');
    h.subscribe(1, 'q.dlq');
    h.publishAll(1, 'q', ids(2));
    h.advance(10_000);
    expect(h.disconnect(2)).toEqual(ids(2).map((id) => `1 <- q.dlq ${id} (MessageExpired in q after 0)`));
  });

  it('that is given back below its age expires at its time [TTL-005, TTL-010]', () => {
    const h = withTtl();
    h.subscribe(2, 'q');
    h.publish(1, 'q', 'm1');
    h.advance(9000);
    h.disconnect(2);
    h.advance(999);
    expect(h.waiting('q')).toBe(1);
    h.advance(1);
    expect(h.waiting('q')).toBe(0);
  });

  it('over its age with its last attempt failed has used up its attempts [TTL-011]', () => {
    const h = withTtl({ enableDeadLetterQueue: true, maxRetryAttempts: 1 });
    h.subscribe(2, 'q');
    h.subscribe(1, 'q.dlq');
    h.publish(1, 'q', 'm1');
    expect(h.advance(30_000)).toEqual(['1 <- q.dlq m1 (MaxRetriesExceeded in q after 1)']);
  });
});

describe('a dead letter', () => {
  it('counts its age from its dead-lettering [TTL-003]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'failures', { messageTtlMs: 10_000 });
    const options = { enableDeadLetterQueue: true, deadLetterQueueName: 'failures', maxRetryAttempts: 1 };
    h.createQueue(a, 'q', options);
    h.subscribe(b, 'q');
    h.publish(a, 'q', 'm1');
    h.advance(8000);
    h.nack(b, 'm1');
    h.advance(9999);
    expect(h.waiting('failures')).toBe(1);
    h.advance(1);
    expect(h.waiting('failures')).toBe(0);
  });
});
