// The id of a message can be used again, whichever way the message has ended. Proves PUBLISH-002, PUBLISH-011 and PUBLISH-012 where a broker
// that still knew the id would confirm the next message with it, and lose it.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { BrokerHarness } from '../../testing/broker-harness.ts';
import { testCore } from '../../testing/core-harness.ts';
import type { ConnectionId } from '../interface/input.ts';
import type { BrokerSettings } from '../interface/settings.ts';

type Case = {
  readonly name: string;
  readonly settings?: Partial<BrokerSettings>;
  readonly options?: Partial<QueueOptions>;
  /** Ends message m1 of queue q. Another message makes the queue full, where that is needed. */
  readonly end: (h: BrokerHarness, a: ConnectionId) => void;
};

const one = { maxQueueSize: 1 } as const;
const blocking = { ...one, overflowStrategy: OverflowStrategy.BlockPublisher } as const;
const letters = { enableDeadLetterQueue: true } as const;

const neverTaken: readonly Case[] = [
  {
    name: 'a full DropNewest queue refused it',
    options: { ...one, overflowStrategy: OverflowStrategy.DropNewest },
    end: (h, a) => h.publishAll(a, 'q', ['other', 'm1']),
  },
  {
    name: 'it was refused with MEMORY_LIMIT',
    settings: { maxQueuedBytes: 100 + 384 },
    end: (h, a) => {
      h.publishAll(a, 'q', ['other', 'm1']);
      h.subscribe(a, 'q');
      h.ack(a, 'other');
      h.unsubscribe(a, 'q');
    },
  },
  {
    name: 'too many publishes were blocked',
    settings: { maxBlockedPublishes: 1 },
    options: blocking,
    end: (h, a) => h.publishAll(a, 'q', ['other', 'blocked', 'm1']),
  },
  {
    name: 'its publisher left while it was blocked',
    options: blocking,
    end: (h, a) => {
      h.publish(a, 'q', 'other');
      const publisher = h.connect();
      h.publish(publisher, 'q', 'm1');
      h.disconnect(publisher);
    },
  },
];

const settled: readonly Case[] = [
  {
    name: 'DropOldest evicted it',
    options: { ...one, overflowStrategy: OverflowStrategy.DropOldest },
    end: (h, a) => h.publishAll(a, 'q', ['m1', 'other']),
  },
  {
    name: 'it expired',
    options: { messageTtlMs: 1000 },
    end: (h, a) => {
      h.publish(a, 'q', 'm1');
      h.advance(2000);
    },
  },
  {
    name: 'its last attempt failed',
    options: { maxRetryAttempts: 1 },
    end: (h, a) => {
      h.subscribe(a, 'q');
      h.publish(a, 'q', 'm1');
      h.nack(a, 'm1');
    },
  },
  {
    name: 'FanOutWithoutAck has sent it',
    options: { mode: DeliveryMode.FanOutWithoutAck },
    end: (h, a) => {
      h.subscribe(a, 'q');
      h.publish(a, 'q', 'm1');
    },
  },
  {
    name: 'every copy is acknowledged',
    options: { mode: DeliveryMode.FanOutWithAck },
    end: (h, a) => {
      const b = h.connect();
      h.subscribe(a, 'q');
      h.subscribe(b, 'q');
      h.publish(a, 'q', 'm1');
      h.ack(a, 'm1');
      h.ack(b, 'm1');
    },
  },
  {
    name: 'it was purged',
    end: (h, a) => {
      h.publish(a, 'q', 'm1');
      h.purgeQueue(a, 'q');
    },
  },
];

const deadLettered: readonly Case[] = [
  {
    name: 'it expired into the dead letter queue',
    options: { ...letters, messageTtlMs: 1000 },
    end: (h, a) => {
      h.publish(a, 'q', 'm1');
      h.advance(2000);
    },
  },
  {
    name: 'a subscriber refused it for good',
    options: letters,
    end: (h, a) => {
      h.subscribe(a, 'q');
      h.publish(a, 'q', 'm1');
      h.nack(a, 'm1', 'DeserializationError');
    },
  },
];

describe('the id of a message is free again', () => {
  it.each(neverTaken)('when $name [PUBLISH-002]', (each) => expectFree(each));
  it.each(settled)('when $name [PUBLISH-011]', (each) => expectFree(each));
  it.each(deadLettered)('when $name [PUBLISH-012]', (each) => expectFree(each));
});

function expectFree({ settings = {}, options = {}, end }: Case): void {
  const h = testCore(settings);
  const a = h.connect();
  h.createQueue(a, 'q', options);
  end(h, a);
  h.subscribe(a, 'q');
  for (const waiting of ['other', 'blocked']) h.ack(a, waiting);
  expect(h.publish(a, 'q', 'm1')).toContain('1: publish q m1 ok');
  expect(h.effects.at(-1)).toMatchObject({ kind: 'deliver', id: 'm1' });
}
