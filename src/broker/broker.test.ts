// What holds for the core as a whole: one answer per command, a deadline for everything that will happen, slices of bounded
// size, inputs that come too late. Rules of single areas are proved in the tests beside this one.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { defaultQueueOptions, type QueueOptions } from '../model/queue-options.ts';
import { BrokerHarness, testSettings } from '../testing/broker-harness.ts';
import { ids, testCore } from '../testing/core-harness.ts';
import { Broker } from './broker.ts';

/** The core alone: the model beside it would take hours with so many messages. */
function largeBroker(): BrokerHarness {
  return new BrokerHarness(new Broker(testSettings));
}

describe('nextDeadline', () => {
  it('is absent where nothing will happen by itself', () => {
    const h = testCore();
    const a = h.connect();
    h.publish(a, 'q', 'm1');
    expect(h.broker.nextDeadline()).toBeUndefined();
    h.subscribe(a, 'q');
    h.ack(a, 'm1');
    expect(h.broker.nextDeadline()).toBeUndefined();
  });

  it('is the ack timeout, then the end of the pause, then the expiry [RETRY-003, TTL-005]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { messageTtlMs: 40_000 });
    h.subscribe(a, 'q');
    h.advance(500);
    h.publish(a, 'q', 'm1');
    expect(h.broker.nextDeadline()).toBeLessThanOrEqual(30_500);
    h.advance(30_000);
    expect(h.broker.nextDeadline()).toBeLessThanOrEqual(31_500);
    h.unsubscribe(a, 'q');
    h.advance(1000);
    expect(h.waiting('q')).toBe(1);
    expect(h.broker.nextDeadline()).toBe(40_500);
  });

  it('does not stay behind when what it was for is gone', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { messageTtlMs: 1000 });
    h.publish(a, 'q', 'm1');
    h.deleteQueue(a, 'q');
    h.advance(1000);
    expect(h.broker.nextDeadline()).toBeUndefined();
  });
});

describe('an input that comes too late', () => {
  it('is about a connection that has ended: acks and reports of its socket are ignored [DELIVERY-058]', () => {
    const broker = new Broker(testSettings);
    const time = { now: 0, wallNow: 0 };
    broker.step({ kind: 'connected', connection: 1 }, time);
    broker.step({ kind: 'disconnected', connection: 1 }, time);
    broker.step({ kind: 'acknowledge', connection: 1, id: 'm1' }, time);
    broker.step({ kind: 'negativeAcknowledge', connection: 1, id: 'm1', reason: 'HandlerException' }, time);
    broker.step({ kind: 'writable', connection: 1, writable: true }, time);
    broker.step({ kind: 'disconnected', connection: 1 }, time);
    expect(broker.takeOutputs()).toEqual({ records: [], effects: [] });
  });
});

describe('takeOutputs', () => {
  it('gives everything once', () => {
    const broker = new Broker(testSettings);
    const time = { now: 0, wallNow: 0 };
    broker.step({ kind: 'connected', connection: 1 }, time);
    broker.step({ kind: 'listQueues', connection: 1, token: 'a' }, time);
    broker.step({ kind: 'listQueues', connection: 1, token: 'b' }, time);
    expect(broker.takeOutputs().effects).toHaveLength(2);
    expect(broker.takeOutputs()).toEqual({ records: [], effects: [] });
  });
});

describe('very many messages', () => {
  /** Queue q with so many messages and options. */
  function withBacklog(count: number, options: Partial<QueueOptions>): BrokerHarness {
    const h = largeBroker();
    const a = h.connect();
    h.createQueue(a, 'q', { ...defaultQueueOptions, maxQueueSize: 1_000_000, ...options });
    for (const id of ids(count)) h.publish(a, 'q', id);
    return h;
  }

  it('expire in slices, none of which is delivered meanwhile [TTL-001, TTL-005]', () => {
    const h = withBacklog(2_500, { messageTtlMs: 1000 });
    h.now += 1000;
    h.tick();
    expect(h.waiting('q')).toBe(1_500);
    expect(h.broker.nextDeadline()).toBeLessThanOrEqual(h.now);
    expect(h.subscribe(h.connect(), 'q')).toEqual(['2: subscribe q ok']);
    h.tick();
    h.tick();
    expect(h.waiting('q')).toBe(0);
    expect(h.effects.filter((effect) => effect.kind === 'deliver')).toEqual([]);
    expect(h.broker.stats().discardedCount).toBe(2_500);
  });

  it('time out in slices, each once [RETRY-007]', () => {
    const h = withBacklog(6_400, { maxRetryAttempts: 1 });
    for (let count = 0; count < 25; count += 1) h.subscribe(h.connect(), 'q', 256);
    expect(h.broker.stats().inFlightCount).toBe(6_400);
    h.now += testSettings.ackTimeoutMs;
    h.tick();
    expect(h.broker.stats().discardedCount).toBe(1_000);
    h.advance(0);
    expect(h.broker.stats()).toMatchObject({ discardedCount: 6_400, inFlightCount: 0, queuedBytes: 0 });
  });

  it('are purged in slices, and who asked is told after the last one [DASH-018]', () => {
    const h = withBacklog(2_500, {});
    expect(h.purgeQueue(1, 'q')).toEqual([]);
    expect(h.waiting('q')).toBe(1_500);
    h.publish(1, 'q', 'late');
    expect(h.advance(0)).toEqual(['1: purgeQueue q ok']);
    expect(h.waiting('q')).toBe(1);
    expect(h.broker.stats()).toMatchObject({ purgedCount: 2_500, discardedCount: 0 });
  });

  it('are left by a purge that the end of the broker interrupts, and who asked is told', () => {
    const h = withBacklog(2_500, {});
    h.purgeQueue(1, 'q');
    expect(h.drain()).toEqual(['1: purgeQueue q SHUTTING_DOWN', '1: close']);
    expect(h.waiting('q')).toBe(1_500);
  });

  it('are gone when their queue is deleted amid a purge', () => {
    const h = withBacklog(2_500, {});
    h.purgeQueue(1, 'q');
    expect(h.deleteQueue(1, 'q')).toEqual(['1: deleteQueue q ok']);
    expect(h.advance(0)).toEqual(['1: purgeQueue q ok']);
    expect(h.broker.stats()).toMatchObject({ purgedCount: 1_000, queuedBytes: 0 });
  });

  it('are let go in slices by a member of a fan-out that leaves', () => {
    const h = largeBroker();
    const [slow, quick] = h.connectAll(2);
    h.createQueue(quick, 'q', { mode: DeliveryMode.FanOutWithAck, maxQueueSize: 1_000_000 });
    h.subscribe(slow, 'q', 1);
    h.subscribe(quick, 'q', 256);
    for (const id of ids(2_501)) {
      h.publish(quick, 'q', id);
      h.ack(quick, id);
    }
    expect(h.waiting('q')).toBe(2_500);
    h.disconnect(slow);
    expect(h.waiting('q')).toBe(1_500);
    h.advance(0);
    expect(h.broker.stats()).toMatchObject({ acknowledgedCount: 2_501, inFlightCount: 0, queuedBytes: 0 });
  });

  it('leave with their queue in one record [QUEUE-014]', () => {
    const h = withBacklog(20_000, {});
    h.records.length = 0;
    h.deleteQueue(1, 'q');
    expect(h.records).toEqual([{ kind: 'queueDeleted', generation: 1 }]);
    expect(h.broker.stats().queuedBytes).toBe(0);
  });
});
