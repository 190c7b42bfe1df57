// The count of failed attempts, and the delays that follow from it, where something comes between two attempts. Proves RETRY, NACK, DLQ and
// DELIVERY where a broker that counted otherwise would send a message too often, too seldom or at another time.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import type { BrokerHarness } from '../../testing/broker-harness.ts';
import { testCore } from '../../testing/core-harness.ts';

const letters = { enableDeadLetterQueue: true } as const;
const modesWithAck = Object.entries(DeliveryMode).filter(([name]) => name !== 'FanOutWithoutAck');

/** How often message m1 was sent from queue q within the time. */
function sendingsWithin(h: BrokerHarness, ms: number): number {
  return h.advance(ms).filter((line) => line.includes('<- q m1')).length;
}

describe('failed attempts are counted', () => {
  it('over all subscribers [RETRY-007]', () => {
    const h = testCore();
    const [a, b, publisher] = h.connectAll(3);
    h.createQueue(publisher, 'q', { ...letters, maxRetryAttempts: 3 });
    h.subscribe(a, 'q');
    h.subscribe(b, 'q');
    h.publish(publisher, 'q', 'm1');
    expect(sendingsWithin(h, 600_000)).toBe(2);
    expect(h.waiting('q.dlq')).toBe(1);
  });

  it('on from before a connection that ended [RETRY-007]', () => {
    const h = testCore();
    const [a, b, publisher] = h.connectAll(3);
    h.createQueue(publisher, 'q', { ...letters, maxRetryAttempts: 2 });
    h.subscribe(a, 'q');
    h.publish(publisher, 'q', 'm1');
    h.advance(31_000);
    h.disconnect(a);
    expect(h.subscribe(b, 'q')).toContain('2 <- q m1 (attempt 3)');
    expect(sendingsWithin(h, 600_000)).toBe(0);
    expect(h.waiting('q.dlq')).toBe(1);
  });

  it('on from before an Unsubscribe [RETRY-007]', () => {
    const h = testCore();
    const [a, b, publisher] = h.connectAll(3);
    h.createQueue(publisher, 'q', { ...letters, maxRetryAttempts: 3 });
    h.subscribe(a, 'q');
    h.publish(publisher, 'q', 'm1');
    h.advance(31_000);
    h.unsubscribe(a, 'q');
    h.subscribe(b, 'q');
    expect(sendingsWithin(h, 600_000)).toBe(1);
    expect(h.waiting('q.dlq')).toBe(1);
  });

  it('for each copy of a FanOutWithAck message [RETRY-001]', () => {
    const h = testCore();
    const [a, b, publisher] = h.connectAll(3);
    h.createQueue(publisher, 'q', { mode: DeliveryMode.FanOutWithAck, maxRetryAttempts: 2 });
    h.subscribe(a, 'q');
    h.subscribe(b, 'q');
    h.publish(publisher, 'q', 'm1');
    expect(h.advance(31_000)).toEqual(['1 <- q m1 (attempt 2)', '2 <- q m1 (attempt 2)']);
  });

  it.each(modesWithAck)('of a %s message that becomes a dead letter [DLQ-015]', (_name, mode) => {
    const h = testCore();
    const [a, publisher] = h.connectAll(2);
    h.createQueue(publisher, 'q', { ...letters, mode, maxRetryAttempts: 2 });
    h.subscribe(a, 'q');
    h.publish(publisher, 'q', 'm1');
    h.advance(120_000);
    h.subscribe(publisher, 'q.dlq');
    expect(h.effects.at(-1)).toMatchObject({ deadLetter: { reason: 'MaxRetriesExceeded', attempts: 2 } });
  });

  it('of a message that expires afterwards [DLQ-015]', () => {
    const h = testCore();
    const [a, publisher] = h.connectAll(2);
    h.createQueue(publisher, 'q', { ...letters, messageTtlMs: 60_000 });
    h.subscribe(a, 'q');
    h.publish(publisher, 'q', 'm1');
    h.advance(31_000);
    h.disconnect(a);
    h.advance(60_000);
    h.subscribe(publisher, 'q.dlq');
    expect(h.effects.at(-1)).toMatchObject({ deadLetter: { reason: 'MessageExpired', attempts: 1 } });
  });
});

describe('the next attempt is due', () => {
  it('whatever else the connection acknowledges [RETRY-003]', () => {
    const h = testCore();
    const [a, publisher] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publish(publisher, 'q', 'm1');
    for (const id of ['m2', 'm3', 'm4']) {
      h.publish(publisher, 'q', id);
      h.advance(8000);
      h.ack(a, id);
    }
    expect(sendingsWithin(h, 7000)).toBe(1);
  });

  it('after the failures of its message, not after those of the subscription [RETRY-003]', () => {
    const h = testCore();
    const [a, publisher] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publishAll(publisher, 'q', ['m1', 'm2', 'm3']);
    expect(h.advance(31_000)).toHaveLength(3);
  });

  it('maxRetryDelay after each failure from the 32nd on [NACK-003]', () => {
    const h = testCore();
    const [a, publisher] = h.connectAll(2);
    h.createQueue(publisher, 'q', { maxRetryAttempts: 100 });
    h.subscribe(a, 'q');
    h.publish(publisher, 'q', 'm1');
    for (let failures = 1; failures < 31; failures += 1) {
      h.nack(a, 'm1');
      h.advance(120_000);
    }
    for (let failures = 31; failures < 36; failures += 1) {
      h.nack(a, 'm1');
      expect(sendingsWithin(h, 119_999)).toBe(0);
      expect(sendingsWithin(h, 1)).toBe(1);
    }
  });

  it('retryDelay after a negative acknowledgment, however late it came [NACK-003]', () => {
    const h = testCore();
    const [a, publisher] = h.connectAll(2);
    h.subscribe(a, 'q');
    h.publish(publisher, 'q', 'm1');
    h.advance(20_000);
    h.nack(a, 'm1');
    expect(sendingsWithin(h, 999)).toBe(0);
    expect(sendingsWithin(h, 1)).toBe(1);
  });
});

describe('the window of a subscription', () => {
  it('is that of its own Subscribe, not of one before an Unsubscribe [DELIVERY-046]', () => {
    const h = testCore();
    const [a, publisher] = h.connectAll(2);
    h.subscribe(a, 'q', 1);
    h.unsubscribe(a, 'q');
    h.publishAll(publisher, 'q', ['m1', 'm2', 'm3']);
    expect(h.subscribe(a, 'q', 2)).toEqual(['1: subscribe q ok', '1 <- q m1', '1 <- q m2']);
  });

  it('stays as it is at a second Subscribe with another maxInFlight [DELIVERY-064]', () => {
    const h = testCore();
    const [a, publisher] = h.connectAll(2);
    h.subscribe(a, 'q', 1);
    h.publishAll(publisher, 'q', ['m1', 'm2', 'm3']);
    expect(h.subscribe(a, 'q', 3)).toEqual(['1: subscribe q ok']);
  });

  it.each([
    ['is refused for good', (h: BrokerHarness) => h.nack(1, 'm1', 'DeserializationError')],
    ['has failed for the last time', (h: BrokerHarness) => h.advance(30_000)],
  ])('has room again when a message %s [DELIVERY-046]', (_, end) => {
    const h = testCore();
    const [a, publisher] = h.connectAll(2);
    h.createQueue(publisher, 'q', { maxRetryAttempts: 1 });
    h.subscribe(a, 'q', 1);
    h.publishAll(publisher, 'q', ['m1', 'm2']);
    expect(end(h)).toEqual(['1 <- q m2']);
  });
});
