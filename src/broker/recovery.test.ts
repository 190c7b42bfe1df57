// A core that begins from what a store has kept: what it does with ages, attempts and clocks, and what it refuses to believe.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { defaultQueueOptions, type QueueOptions } from '../model/queue-options.ts';
import { BrokerHarness, testSettings } from '../testing/broker-harness.ts';
import { anyContent } from '../testing/test-content.ts';
import { Broker } from './broker.ts';
import type { MessageContent } from './interface/message-content.ts';
import type { RecoveredRecord } from './interface/store-record.ts';

const NOW = Date.UTC(2026, 0, 1);

type KeptMessage = Extract<RecoveredRecord<MessageContent>, { readonly kind: 'message' }>;

function queue(
  options: Partial<QueueOptions> = {},
  generation = 1,
  name = 'q',
): RecoveredRecord<MessageContent> {
  return {
    kind: 'queue',
    generation,
    name,
    options: { ...defaultQueueOptions, ...options },
    createdWallAt: 5,
  };
}

function message(sequence: number, fields: Partial<KeptMessage> = {}): KeptMessage {
  const content = anyContent(10);
  const accepted = {
    id: `m${sequence}`,
    priority: 1,
    content,
    acceptedWallAt: NOW,
    failedAttempts: 0,
  } as const;
  return { kind: 'message', generation: 1, sequence, ...accepted, ...fields };
}

/** A core that has taken up the records at the harness's first instant. */
function recovered(...records: readonly RecoveredRecord<MessageContent>[]): BrokerHarness {
  const broker = new Broker(testSettings);
  for (const record of records) broker.recover(record, { now: 0, wallNow: NOW });
  return new BrokerHarness(broker);
}

describe('a recovered message', () => {
  it('is as old as it is, the time without a broker included [TTL-002, TTL-004]', () => {
    const ttl = { messageTtlMs: 10_000 };
    const h = recovered(queue(ttl), message(1, { acceptedWallAt: NOW - 9_000 }), message(2));
    expect(h.broker.nextDeadline()).toBe(1_000);
    h.advance(999);
    expect(h.waiting('q')).toBe(2);
    h.advance(1);
    expect(h.waiting('q')).toBe(1);
    h.advance(9_000);
    expect(h.waiting('q')).toBe(0);
  });

  it('expires before anything else happens when it became too old meanwhile [TTL-001, TTL-010]', () => {
    const ttl = { messageTtlMs: 10_000, enableDeadLetterQueue: true };
    const h = recovered(
      queue(ttl),
      queue({}, 2, 'q.dlq'),
      message(1, { acceptedWallAt: NOW - 10_000 }),
      message(2, { acceptedWallAt: NOW - 9_999 }),
    );
    const a = h.connect();
    expect(h.subscribe(a, 'q')).toEqual([`${a}: subscribe q ok`, `${a} <- q m2`]);
    expect(h.subscribe(a, 'q.dlq')).toEqual([
      `${a}: subscribe q.dlq ok`,
      `${a} <- q.dlq m1 (MessageExpired in q after 0)`,
    ]);
    expect(h.records.map(({ kind }) => kind)).toEqual(['deadLettered']);
  });

  it('is new when the clock was set back, and never older than one that came before it', () => {
    const ttl = { messageTtlMs: 10_000 };
    const h = recovered(
      queue(ttl),
      message(1, { acceptedWallAt: NOW + 5_000 }),
      message(2, { acceptedWallAt: NOW - 9_000 }),
    );
    h.advance(9_999);
    expect(h.waiting('q')).toBe(2);
    h.advance(1);
    expect(h.waiting('q')).toBe(0);
  });

  it('has the attempts left that it had [DURABLE-011]', () => {
    const h = recovered(queue({ maxRetryAttempts: 3 }), message(1, { failedAttempts: 2 }));
    const a = h.connect();
    expect(h.subscribe(a, 'q').at(-1)).toBe(`${a} <- q m1 (attempt 3)`);
    h.nack(a, 'm1');
    expect(h.broker.queueInfo('q')?.messageCount).toBe(0);
    expect(h.broker.stats()).toMatchObject({ discardedCount: 1, inFlightCount: 0, queuedBytes: 0 });
  });

  it('counts for repeats and for the limit of bytes, as any other', () => {
    const h = recovered(queue(), message(1));
    const a = h.connect();
    expect(h.publish(a, 'q', 'm1')).toEqual([`${a}: publish q m1 ok`]);
    expect(h.waiting('q')).toBe(1);
    expect(h.broker.stats()).toMatchObject({ publishedCount: 0, queuedBytes: 10 + 384 });
  });

  it('has its priority, a dead letter too [DELIVERY-031]', () => {
    const deadLetter = {
      reason: 'QueueOverflow',
      source: 's',
      attempts: 0,
      deadLetteredWallAt: NOW,
    } as const;
    const mode = DeliveryMode.PriorityBased;
    const h = recovered(queue({ mode }), message(1, { deadLetter }), message(2, { priority: 3, deadLetter }));
    const lines = h.subscribe(h.connect(), 'q');
    expect(lines.map((line) => line.split(' ')[3])).toEqual(['ok', 'm2', 'm1']);
  });

  it('may exceed the size of its queue; a publish then finds it full [QUEUE-030]', () => {
    const h = recovered(queue({ maxQueueSize: 1, overflowStrategy: 1 }), message(1), message(2));
    const a = h.connect();
    expect(h.waiting('q')).toBe(2);
    expect(h.publish(a, 'q', 'm3')).toEqual([`${a}: publish q m3 QUEUE_FULL`]);
  });

  it('goes to the subscribers then present, whoever had a copy before [DELIVERY-023]', () => {
    const h = recovered(queue({ mode: 1 }), message(1));
    const [a, b] = h.connectAll(2);
    expect(h.subscribe(a, 'q')).toEqual([`${a}: subscribe q ok`, `${a} <- q m1`]);
    expect(h.subscribe(b, 'q')).toEqual([`${b}: subscribe q ok`]);
    expect(h.ack(a, 'm1')).toEqual([]);
    expect(h.records).toEqual([{ kind: 'messageRemoved', generation: 1, sequence: 1 }]);
  });
});

describe('a core refuses to recover', () => {
  it.each([
    ['a message without its queue', [message(1)]],
    ['a queue twice', [queue(), queue()]],
    ['two queues of one name', [queue(), queue({}, 2)]],
    ['messages out of order', [queue(), message(2), message(1)]],
    ['two messages of one id in a queue', [queue(), message(1), message(2, { id: 'm1' })]],
  ])('%s', (_, records) => {
    expect(() => recovered(...records)).toThrow(/stored/);
  });

  it('after it has begun', () => {
    const broker = new Broker(testSettings);
    broker.step({ kind: 'tick' }, { now: 0, wallNow: NOW });
    expect(() => broker.recover(queue(), { now: 0, wallNow: NOW })).toThrow(/has begun/);
  });
});
