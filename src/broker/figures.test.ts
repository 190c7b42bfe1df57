// The figures of queues and of their subscribers: what is counted where, how old the oldest message is, and what a new core takes over.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import type { QueueFigures } from '../model/queue-info.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import { BrokerHarness, testSettings } from '../testing/broker-harness.ts';
import { ids, testCore } from '../testing/core-harness.ts';
import { anyContent } from '../testing/test-content.ts';
import { Broker } from './broker.ts';
import type { EarlierCore } from './interface/earlier-core.ts';
import type { MessageContent } from './interface/message-content.ts';
import type { RecoveredRecord } from './interface/store-record.ts';

const NOW = Date.UTC(2026, 0, 1);

function figuresOf({ broker }: BrokerHarness, queue: string): QueueFigures {
  const figures = broker.queueFigures().find(({ name }) => name === queue);
  if (figures === undefined) throw new Error(`There is no queue ${queue}.`);
  return figures;
}

/** Entered, delivered, acknowledged. */
function counts(h: BrokerHarness, queue: string): readonly number[] {
  const { enteredCount, deliveredCount, acknowledgedCount } = figuresOf(h, queue);
  return [enteredCount, deliveredCount, acknowledgedCount];
}

describe('the figures of all queues', () => {
  it('come in the order of creation and say what QueueInfo says', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'z', { enableDeadLetterQueue: true });
    h.publishAll(a, 'a', ids(2));
    const figures = h.broker.queueFigures();
    expect(figures.map(({ name }) => name)).toEqual(['z', 'z.dlq', 'a']);
    for (const one of figures) expect(one).toMatchObject({ ...h.broker.queueInfo(one.name) });
  });

  it('are none where there is no queue', () => {
    expect(testCore().broker.queueFigures()).toEqual([]);
  });

  it('have another id for a queue that was created again', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q');
    const before = figuresOf(h, 'q').id;
    h.publish(a, 'q', 'm1');
    h.deleteQueue(a, 'q');
    h.createQueue(a, 'q');
    expect(figuresOf(h, 'q').id).not.toBe(before);
    expect(counts(h, 'q')).toEqual([0, 0, 0]);
  });
});

describe('a queue counts', () => {
  it('each new message once, whether it waits or goes out at once', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.publishAll(a, 'q', ['m1', 'm1', 'm2']);
    h.subscribe(b, 'q');
    h.publish(a, 'q', 'm3');
    h.publish(a, 'r', 'm1');
    expect(counts(h, 'q')).toEqual([3, 3, 0]);
    expect(counts(h, 'r')).toEqual([1, 0, 0]);
  });

  it('acks that end a delivery, and every attempt as a delivery', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.subscribe(b, 'q');
    h.publishAll(a, 'q', ids(2));
    for (const id of ['m1', 'm1', 'unknown']) h.ack(b, id);
    h.nack(b, 'm2');
    h.advance(1000);
    expect(counts(h, 'q')).toEqual([2, 3, 1]);
    expect(figuresOf(h, 'q')).toMatchObject({ inFlightCount: 1, messageCount: 0 });
  });

  it('each copy of a fan-out', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    for (const [queue, mode] of [
      ['with', DeliveryMode.FanOutWithAck],
      ['without', DeliveryMode.FanOutWithoutAck],
    ] as const) {
      h.createQueue(a, queue, { mode });
      for (const subscriber of [b, c]) h.subscribe(subscriber, queue);
      h.publish(a, queue, 'm1');
    }
    h.ack(b, 'm1', 'with');
    expect(counts(h, 'with')).toEqual([1, 2, 1]);
    expect(counts(h, 'without')).toEqual([1, 2, 0]);
    expect([figuresOf(h, 'with').inFlightCount, figuresOf(h, 'without').inFlightCount]).toEqual([1, 0]);
  });

  it('a blocked publish when there is room for it, and not before', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { maxQueueSize: 1, overflowStrategy: OverflowStrategy.BlockPublisher });
    h.publishAll(a, 'q', ids(2));
    expect(counts(h, 'q')).toEqual([1, 0, 0]);
    h.subscribe(b, 'q');
    expect(counts(h, 'q')).toEqual([2, 2, 0]);
  });

  it('dead letters that it gets, and shows how many it has', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { enableDeadLetterQueue: true });
    h.subscribe(b, 'q');
    h.publishAll(a, 'q', ids(2));
    for (const id of ids(2)) h.nack(b, id, 'DeserializationError');
    h.publish(a, 'q.dlq', 'no-letter');
    expect(counts(h, 'q')).toEqual([2, 2, 0]);
    expect(counts(h, 'q.dlq')).toEqual([3, 0, 0]);
    expect(figuresOf(h, 'q.dlq')).toMatchObject({ deadLetterCount: 2, messageCount: 3 });
    h.subscribe(b, 'q.dlq');
    h.ack(b, 'm1');
    expect(figuresOf(h, 'q.dlq')).toMatchObject({ deadLetterCount: 1, inFlightCount: 2 });
  });

  it('a requeued message in its source once more', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { enableDeadLetterQueue: true });
    h.subscribe(b, 'q', 1);
    h.publish(a, 'q', 'm1');
    h.nack(b, 'm1', 'DeserializationError');
    h.requeueMessage(a, 'q.dlq', 'm1');
    expect(counts(h, 'q')).toEqual([2, 2, 0]);
    expect(counts(h, 'q.dlq')).toEqual([1, 0, 0]);
  });

  it('a message that the full queue redirects in the dead letter queue', () => {
    const h = testCore();
    const a = h.connect();
    const options = { maxQueueSize: 1, overflowStrategy: OverflowStrategy.RedirectToDlq };
    h.createQueue(a, 'q', { ...options, enableDeadLetterQueue: true });
    h.publishAll(a, 'q', ids(3));
    expect([counts(h, 'q'), counts(h, 'q.dlq')]).toEqual([
      [1, 0, 0],
      [2, 0, 0],
    ]);
  });
});

describe('the oldest waiting message', () => {
  it('is the one that was accepted first, whatever is sent first', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    const firstAt = h.wallNow;
    h.createQueue(a, 'q', { mode: DeliveryMode.PriorityBased });
    expect(figuresOf(h, 'q').oldestWallAt).toBeUndefined();
    h.publish(a, 'q', 'm1', { priority: 0 });
    h.advance(1_000);
    h.publish(a, 'q', 'm2', { priority: 3 });
    h.advance(1_000);
    expect(figuresOf(h, 'q').oldestWallAt).toBe(firstAt);
    h.subscribe(b, 'q', 1);
    expect(figuresOf(h, 'q').oldestWallAt).toBe(firstAt);
    h.ack(b, 'm2');
    expect(figuresOf(h, 'q').oldestWallAt).toBeUndefined();
  });

  it('is known to the whole millisecond', () => {
    const h = testCore();
    h.now = 0.75;
    h.publish(h.connect(), 'q', 'm1');
    h.now = 9.5;
    h.tick();
    expect(figuresOf(h, 'q').oldestWallAt).toBe(Math.round(h.wallNow - 8.75));
  });

  it('counts from the instant at which it was dead-lettered', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { enableDeadLetterQueue: true });
    h.subscribe(b, 'q');
    h.publish(a, 'q', 'm1');
    h.advance(5_000);
    const letterAt = h.wallNow;
    h.nack(b, 'm1', 'DeserializationError');
    h.advance(5_000);
    expect(figuresOf(h, 'q.dlq').oldestWallAt).toBe(letterAt);
  });
});

describe('the figures of subscribers', () => {
  it('come in the order of subscribing, with window and deliveries in flight, as many as were asked for', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.subscribe(c, 'q', 2);
    h.subscribe(b, 'q');
    h.publishAll(a, 'q', ids(5));
    const all = [
      { connection: c, inFlightCount: 2, window: 2 },
      { connection: b, inFlightCount: 3, window: 8 },
    ];
    expect(h.broker.subscriberFigures('q', 9)).toEqual(all);
    expect(h.broker.subscriberFigures('q', 1)).toEqual(all.slice(0, 1));
    expect(h.broker.subscriberFigures('q', 0)).toEqual([]);
    h.disconnect(c);
    expect(h.broker.subscriberFigures('q', 9)).toMatchObject([{ connection: b }]);
  });

  it('have no window where nothing is acknowledged', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { mode: DeliveryMode.FanOutWithoutAck });
    h.subscribe(a, 'q', 2);
    h.publishAll(a, 'q', ids(3));
    expect(h.broker.subscriberFigures('q', 9)).toEqual([
      { connection: a, inFlightCount: 0, window: undefined },
    ]);
  });

  it('are none where there is no queue, also while subscriptions wait for it', () => {
    const h = testCore();
    const a = h.connect();
    expect(h.broker.subscriberFigures('q', 9)).toEqual([]);
    h.subscribe(a, 'q');
    h.deleteQueue(a, 'q');
    expect(h.broker.subscriberFigures('q', 9)).toEqual([]);
  });
});

function storedQueue(generation: number, name: string): RecoveredRecord<MessageContent> {
  return { kind: 'queue', generation, name, options: defaultQueueOptions, createdWallAt: 5 };
}

function storedMessage(sequence: number, acceptedWallAt: number): RecoveredRecord<MessageContent> {
  const message = { id: `m${sequence}`, priority: 1, content: anyContent(10), failedAttempts: 0 } as const;
  return { kind: 'message', generation: 1, sequence, acceptedWallAt, ...message };
}

/** A core that has taken up the records when the wall clock was at NOW. */
function recovered(
  records: readonly RecoveredRecord<MessageContent>[],
  earlier?: EarlierCore,
): BrokerHarness {
  const broker = new Broker(testSettings, earlier);
  for (const record of records) broker.recover(record, { now: 0, wallNow: NOW });
  return new BrokerHarness(broker);
}

describe('after a recovery', () => {
  it('the oldest message is as old as it is, and what was there has not entered', () => {
    const h = recovered([storedQueue(1, 'q'), storedMessage(1, NOW - 86_400_001), storedMessage(2, NOW - 5)]);
    expect(figuresOf(h, 'q').oldestWallAt).toBe(NOW - 86_400_001);
    expect(counts(h, 'q')).toEqual([0, 0, 0]);
    const a = h.connect();
    h.subscribe(a, 'q', 1);
    h.ack(a, 'm1');
    expect(counts(h, 'q')).toEqual([0, 2, 1]);
  });

  it('counters go on from those of the core before, and no id is used again', () => {
    const before = recovered([]);
    const a = before.connect();
    before.publishAll(a, 'q', ids(2));
    before.subscribe(a, 'q', 1);
    before.ack(a, 'm1');
    before.createQueue(a, 'lost');
    const lost = figuresOf(before, 'lost').id;
    const { id } = figuresOf(before, 'q');
    const broker = before.broker;
    if (!(broker instanceof Broker)) throw new Error('It is another one.');
    const after = recovered([storedQueue(id, 'q')], broker.asEarlierCore());
    expect(figuresOf(after, 'q')).toMatchObject({ id, inFlightCount: 0 });
    expect(counts(after, 'q')).toEqual([2, 2, 1]);
    after.publish(after.connect(), 'new', 'm1');
    expect(figuresOf(after, 'new').id).toBeGreaterThan(lost);
    expect(counts(after, 'new')).toEqual([1, 0, 0]);
    expect(after.broker.stats()).toMatchObject({ publishedCount: 3, inFlightCount: 0 });
  });
});
