// What follows an attempt that failed: the pauses, who gets the next one, and the last one. Proves RETRY and NACK.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import type { BrokerHarness } from '../../testing/broker-harness.ts';
import { ids, testCore } from '../../testing/core-harness.ts';

/** Connection 1 subscribed to q, and m1 in flight to it; connection 2 published it. */
function withOneInFlight(options: Parameters<BrokerHarness['createQueue']>[2] = {}): BrokerHarness {
  const h = testCore();
  const [subscriber, publisher] = h.connectAll(2);
  h.createQueue(publisher, 'q', options);
  h.subscribe(subscriber, 'q');
  h.publish(publisher, 'q', 'm1');
  return h;
}

/** When each delivery came, in milliseconds from now on, for so long. */
function timesOfDeliveries(h: BrokerHarness, forMs: number, stepMs: number): number[] {
  const start = h.now;
  const times: number[] = [];
  while (h.now < start + forMs) {
    const lines = h.advance(stepMs);
    times.push(...lines.filter((line) => line.includes('<-')).map(() => h.now - start));
  }
  return times;
}

describe('the first attempt', () => {
  it('is made immediately, as soon as a subscriber has room [RETRY-015]', () => {
    const h = testCore();
    const [subscriber, publisher] = h.connectAll(2);
    h.subscribe(subscriber, 'q', 1);
    expect(h.publish(publisher, 'q', 'm1')).toEqual(['2: publish q m1 ok', '1 <- q m1']);
    expect(h.publish(publisher, 'q', 'm2')).toEqual(['2: publish q m2 ok']);
    expect(h.ack(subscriber, 'm1')).toEqual(['1 <- q m2']);
  });
});

describe('a delivery without ack', () => {
  it('is sent again ackTimeout + 1 s, 2 s, 4 s, .. later, at most 2 min [RETRY-001, RETRY-002, RETRY-003, RETRY-004]', () => {
    const h = withOneInFlight({ maxRetryAttempts: 10 });
    const times = timesOfDeliveries(h, 900_000, 1000);
    const gaps = times.map((time, index) => time - (times[index - 1] ?? 0) - 30_000);
    expect(gaps).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 120_000, 120_000]);
  });

  it('is sent again not a millisecond early [RETRY-013]', () => {
    const h = withOneInFlight();
    expect(h.advance(30_999)).toEqual([]);
    expect(h.advance(1)).toEqual(['1 <- q m1 (attempt 2)']);
  });

  it('is discarded after its last attempt, and counted [RETRY-007, RETRY-009, RETRY-010, DLQ-020]', () => {
    const h = withOneInFlight({ maxRetryAttempts: 3 });
    expect(timesOfDeliveries(h, 3_600_000, 1000)).toHaveLength(2);
    expect(h.broker.stats()).toMatchObject({ discardedCount: 1, inFlightCount: 0, retryCount: 2 });
    expect(h.broker.queueNames()).toEqual(['q']);
  });

  it('is not moved by the wall clock [RETRY-016]', () => {
    const h = withOneInFlight();
    h.wallShift = -86_400_000;
    expect(h.advance(30_999)).toEqual([]);
    h.wallShift = 86_400_000;
    expect(h.advance(1)).toEqual(['1 <- q m1 (attempt 2)']);
  });

  it('is recorded as failed, once per attempt', () => {
    const h = withOneInFlight();
    h.advance(70_000);
    const failed = h.records.filter((record) => record.kind === 'attemptFailed');
    expect(failed.map((record) => record.failedAttempts)).toEqual([1, 2]);
  });
});

describe('the next attempt', () => {
  it.each([
    ['RoundRobin', DeliveryMode.RoundRobin],
    ['PriorityBased', DeliveryMode.PriorityBased],
  ] as const)('goes to another subscriber in %s [RETRY-011]', (_, mode) => {
    const h = withOneInFlight({ mode });
    h.subscribe(2, 'q');
    expect(h.advance(31_000)).toEqual(['2 <- q m1 (attempt 2)']);
    expect(h.advance(32_000)).toEqual(['1 <- q m1 (attempt 3)']);
  });

  it('goes to the same one where the other has no room, window or not [RETRY-011, DELIVERY-004]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(a, 'q', 1);
    h.publish(b, 'q', 'm1');
    h.subscribe(b, 'q', 1);
    h.publishAll(b, 'q', ids(2, 'n'));
    expect(h.nack(a, 'm1')).toEqual([]);
    expect(h.advance(1000)).toEqual(['1 <- q m1 (attempt 2)']);
  });

  it('waits in its old place when nobody can take it [DELIVERY-006, DELIVERY-009]', () => {
    const h = withOneInFlight();
    h.publish(2, 'q', 'm2');
    h.nack(1, 'm1');
    h.writable(1, false);
    h.publish(2, 'q', 'm3');
    expect(h.advance(1000)).toEqual([]);
    expect(h.waiting('q')).toBe(2);
    expect(h.writable(1, true)).toEqual(['1 <- q m1 (attempt 2)', '1 <- q m3']);
  });

  it('enters a full queue when nobody can take it [QUEUE-030]', () => {
    const h = withOneInFlight({ maxQueueSize: 1, overflowStrategy: OverflowStrategy.DropNewest });
    h.nack(1, 'm1');
    h.writable(1, false);
    h.publish(2, 'q', 'm2');
    expect(h.waiting('q')).toBe(1);
    h.advance(1000);
    expect(h.waiting('q')).toBe(2);
    expect(h.publish(2, 'q', 'm3')).toEqual(['2: publish q m3 QUEUE_FULL']);
    expect(h.writable(1, true)).toEqual(['1 <- q m1 (attempt 2)', '1 <- q m2']);
  });

  it('goes before younger messages that are due at the same time [DELIVERY-009]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.subscribe(a, 'q', 1);
    h.publish(c, 'q', 'm1');
    h.subscribe(b, 'q', 1);
    h.publishAll(c, 'q', ['m2', 'm3']);
    h.nack(a, 'm1');
    h.nack(b, 'm2');
    expect(h.advance(1000)).toEqual(['1 <- q m1 (attempt 2)', '2 <- q m2 (attempt 2)']);
  });
});

describe('a negative ack', () => {
  it('pauses for the retry delay alone [NACK-003]', () => {
    const h = withOneInFlight();
    h.nack(1, 'm1');
    expect(h.advance(999)).toEqual([]);
    expect(h.advance(1)).toEqual(['1 <- q m1 (attempt 2)']);
    h.nack(1, 'm1');
    expect(h.advance(1999)).toEqual([]);
    expect(h.advance(1)).toEqual(['1 <- q m1 (attempt 3)']);
  });

  it('of the last attempt dead-letters at once, for the last reason [NACK-006, NACK-007]', () => {
    const h = withOneInFlight({ maxRetryAttempts: 2, enableDeadLetterQueue: true });
    h.subscribe(2, 'q.dlq');
    h.advance(31_000);
    expect(h.nack(1, 'm1')).toEqual(['2 <- q.dlq m1 (HandlerException in q after 2)']);
  });

  it('for a payload that does not parse dead-letters at once [NACK-005]', () => {
    const h = withOneInFlight({ enableDeadLetterQueue: true });
    h.subscribe(2, 'q.dlq');
    const lines = h.nack(1, 'm1', 'DeserializationError');
    expect(lines).toEqual(['2 <- q.dlq m1 (DeserializationError in q after 1)']);
  });

  it('during the pause is about the attempt that has failed already [DELIVERY-008]', () => {
    const h = withOneInFlight({ maxRetryAttempts: 2, enableDeadLetterQueue: true });
    h.subscribe(2, 'q.dlq');
    h.advance(30_000);
    expect(h.nack(1, 'm1')).toEqual([]);
    expect(h.nack(1, 'm1', 'DeserializationError')).toEqual([
      '2 <- q.dlq m1 (DeserializationError in q after 1)',
    ]);
  });

  it('of an unknown delivery, or from somebody else, is ignored [NACK-010]', () => {
    const h = withOneInFlight();
    h.nack(2, 'm1');
    h.nack(1, 'm2');
    h.nack(1, 'm1', 'HandlerException', 'elsewhere');
    expect(h.advance(30_999)).toEqual([]);
  });

  it('neither widens nor narrows the window [DELIVERY-043, DELIVERY-044]', () => {
    const h = withOneInFlight();
    h.nack(1, 'm1');
    h.publishAll(2, 'q', ids(9, 'n'));
    expect(h.broker.stats().inFlightCount).toBe(8);
  });
});
