// Creating, deleting, describing and listing queues. Implements nothing; proves QUEUE where the core is concerned.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import { defaultQueueOptions, type QueueOptions } from '../model/queue-options.ts';
import { ids, testCore } from '../testing/core-harness.ts';

describe('CreateQueue', () => {
  it('makes a queue with the options given [QUEUE-001]', () => {
    const h = testCore();
    const a = h.connect();
    const options = { mode: DeliveryMode.PriorityBased, maxQueueSize: 7, messageTtlMs: 5000 };
    expect(h.createQueue(a, 'q', options)).toEqual(['1: createQueue q ok']);
    expect(h.broker.queueInfo('q')?.options).toEqual({ ...defaultQueueOptions, ...options });
  });

  it("makes a queue with the server's defaults when no options are given [QUEUE-008]", () => {
    const h = testCore({ defaultDeliveryMode: DeliveryMode.FanOutWithAck, defaultMaxQueueSize: 12 });
    h.createQueue(h.connect(), 'q');
    expect(h.broker.queueInfo('q')?.options).toEqual({
      ...defaultQueueOptions,
      mode: DeliveryMode.FanOutWithAck,
      maxQueueSize: 12,
    });
  });

  it('succeeds without options on a queue that exists, and leaves it as it is [QUEUE-009, QUEUE-010, CONN-040]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { maxQueueSize: 3 });
    expect(h.createQueue(a, 'q')).toEqual(['1: createQueue q ok']);
    expect(h.broker.queueInfo('q')?.options.maxQueueSize).toBe(3);
  });

  it('succeeds with options that equal the live ones [QUEUE-011]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { maxQueueSize: 3, messageTtlMs: 10 });
    expect(h.createQueue(a, 'q', { maxQueueSize: 3, messageTtlMs: 10 })).toEqual(['1: createQueue q ok']);
  });

  it('takes an absent dead letter name for <queue>.dlq [QUEUE-013]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { enableDeadLetterQueue: true });
    const named = { enableDeadLetterQueue: true, deadLetterQueueName: 'q.dlq' };
    expect(h.createQueue(a, 'q', named)).toEqual(['1: createQueue q ok']);
  });

  const differences: readonly Partial<QueueOptions>[] = [
    { mode: DeliveryMode.FanOutWithAck },
    { maxQueueSize: 9 },
    { messageTtlMs: 1000 },
    { enableDeadLetterQueue: true },
    { deadLetterQueueName: 'elsewhere' },
    { overflowStrategy: OverflowStrategy.DropNewest },
    { maxRetryAttempts: 4 },
  ];
  it.each(differences)('is refused when the live queue differs: %o [QUEUE-012, ERROR-001]', (difference) => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', {});
    expect(h.createQueue(a, 'q', difference)).toEqual(['1: createQueue q QUEUE_EXISTS']);
    expect(h.broker.queueInfo('q')?.options).toEqual(defaultQueueOptions);
  });

  it('is refused over the limit of queues, a dead letter queue counting too [LIMIT-016]', () => {
    const h = testCore({ maxQueues: 2 });
    const a = h.connect();
    h.createQueue(a, 'q');
    expect(h.createQueue(a, 'r', { enableDeadLetterQueue: true })).toEqual([
      '1: createQueue r LIMIT_EXCEEDED',
    ]);
    expect(h.createQueue(a, 'r')).toEqual(['1: createQueue r ok']);
    expect(h.createQueue(a, 's')).toEqual(['1: createQueue s LIMIT_EXCEEDED']);
    expect(h.publish(a, 's', 'm1')).toEqual(['1: publish s m1 LIMIT_EXCEEDED']);
    expect(h.broker.queueNames()).toEqual(['q', 'r']);
  });
});

describe('impossible options', () => {
  const impossible: readonly (readonly [string, Partial<QueueOptions>, string])[] = [
    ['maxQueueSize 0', { maxQueueSize: 0 }, 'QUEUE-032'],
    ['maxQueueSize 2147483648', { maxQueueSize: 2_147_483_648 }, 'QUEUE-032'],
    ['maxQueueSize 1.5', { maxQueueSize: 1.5 }, 'QUEUE-032'],
    ['maxRetryAttempts 0', { maxRetryAttempts: 0 }, 'QUEUE-033'],
    ['maxRetryAttempts 2147483648', { maxRetryAttempts: 2_147_483_648 }, 'QUEUE-033'],
    ['messageTtl 0', { messageTtlMs: 0 }, 'QUEUE-034'],
    ['messageTtl below 0', { messageTtlMs: -1 }, 'QUEUE-034'],
    ['messageTtl over 10,000 days', { messageTtlMs: 864_000_000_001 }, 'QUEUE-035'],
    ['RedirectToDlq without one', { overflowStrategy: OverflowStrategy.RedirectToDlq }, 'QUEUE-037'],
    ['its own dead letters', { enableDeadLetterQueue: true, deadLetterQueueName: 'q' }, 'QUEUE-038'],
    ['a name with a space', { enableDeadLetterQueue: true, deadLetterQueueName: 'a b' }, 'QUEUE-039'],
    ['an empty name', { enableDeadLetterQueue: true, deadLetterQueueName: '' }, 'QUEUE-039'],
    ['a name too long', { deadLetterQueueName: 'x'.repeat(257) }, 'QUEUE-039'],
  ];
  for (const [what, options, id] of impossible) {
    it(`with ${what} are refused and make no queue [QUEUE-042, ${id}]`, () => {
      const h = testCore();
      expect(h.createQueue(h.connect(), 'q', options)).toEqual(['1: createQueue q INVALID_PAYLOAD']);
      expect(h.broker.queueNames()).toEqual([]);
    });
  }

  it('are also those that cannot be read [QUEUE-041, QUEUE-042]', () => {
    const h = testCore();
    const a = h.connect();
    expect(h.createUnreadable(a, 'q')).toEqual(['1: createQueue q INVALID_PAYLOAD']);
    expect(h.broker.queueNames()).toEqual([]);
    h.createQueue(a, 'q');
    expect(h.createUnreadable(a, 'q')).toEqual(['1: createQueue q QUEUE_EXISTS']);
  });

  it('are refused where the generated dead letter name is too long [QUEUE-040]', () => {
    const h = testCore();
    const a = h.connect();
    const name = 'x'.repeat(253);
    const lines = h.createQueue(a, name, { enableDeadLetterQueue: true });
    expect(lines).toEqual([`1: createQueue ${name} INVALID_PAYLOAD`]);
    expect(h.createQueue(a, name)).toEqual([`1: createQueue ${name} ok`]);
  });

  const possible: readonly Partial<QueueOptions>[] = [
    { maxQueueSize: 1, maxRetryAttempts: 1, messageTtlMs: 1 },
    { maxQueueSize: 2_147_483_647, maxRetryAttempts: 2_147_483_647, messageTtlMs: 864_000_000_000 },
    { enableDeadLetterQueue: true, deadLetterQueueName: 'Ünï-1_x.dlq' },
    { enableDeadLetterQueue: true, overflowStrategy: OverflowStrategy.RedirectToDlq },
  ];
  it.each(possible)('does not mean %o [QUEUE-001]', (options) => {
    const h = testCore();
    expect(h.createQueue(h.connect(), 'q', options)).toEqual(['1: createQueue q ok']);
  });
});

describe('DeleteQueue', () => {
  it('removes the queue with its messages [QUEUE-014]', () => {
    const h = testCore();
    const a = h.connect();
    h.publishAll(a, 'q', ids(3));
    expect(h.deleteQueue(a, 'q')).toEqual(['1: deleteQueue q ok']);
    expect(h.broker.queueNames()).toEqual([]);
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q ok']);
  });

  it('succeeds on a missing queue [QUEUE-015]', () => {
    const h = testCore();
    expect(h.deleteQueue(h.connect(), 'q')).toEqual(['1: deleteQueue q ok']);
  });

  it('keeps subscriptions, which come alive with a queue of that name, in subscribe order [QUEUE-016]', () => {
    const h = testCore();
    const [a, b, c] = h.connectAll(3);
    h.subscribe(c, 'q');
    h.subscribe(b, 'q');
    h.publish(a, 'q', 'm1');
    h.deleteQueue(a, 'q');
    h.createQueue(a, 'q', { mode: DeliveryMode.PriorityBased });
    expect(h.broker.queueInfo('q')?.subscriberCount).toBe(2);
    expect(h.publish(a, 'q', 'm2')).toEqual(['1: publish q m2 ok', '3 <- q m2']);
    expect(h.publish(a, 'q', 'm3')).toEqual(['1: publish q m3 ok', '2 <- q m3']);
  });

  it('ends what is in flight: no retry, no place taken, acks ignored [QUEUE-017, QUEUE-018, METRICS-014]', () => {
    const h = testCore();
    const a = h.connect();
    h.subscribe(a, 'q', 1);
    h.publish(a, 'q', 'm1');
    h.publish(a, 'other', 'm2');
    h.subscribe(a, 'other', 1);
    h.deleteQueue(a, 'q');
    h.deleteQueue(a, 'other');
    expect(h.broker.stats().inFlightCount).toBe(0);
    expect(h.ack(a, 'm2')).toEqual([]);
    expect(h.broker.stats().acknowledgedCount).toBe(0);
    // What was in flight is forgotten with the next tick.
    h.advance(1);
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 ok', '1 <- q m1']);
    h.ack(a, 'm1');
    expect(h.broker.stats().inFlightCount).toBe(0);
    expect(h.ack(a, 'm1')).toEqual([]);
    expect(h.broker.stats().acknowledgedCount).toBe(1);
    expect(h.advance(3_600_000)).toEqual([]);
  });

  it.each(Object.entries(DeliveryMode))(
    'refuses the publishes that were blocked on it when it is %s [QUEUE-019]',
    (_name, mode) => {
      const h = testCore();
      const [a, b] = h.connectAll(2);
      h.createQueue(a, 'q', { mode, maxQueueSize: 1, overflowStrategy: OverflowStrategy.BlockPublisher });
      h.publishAll(a, 'q', ids(2));
      h.publish(b, 'q', 'm2');
      expect(h.deleteQueue(b, 'q')).toEqual([
        '1: publish q m2 QUEUE_NOT_FOUND',
        '2: publish q m2 QUEUE_NOT_FOUND',
        '2: deleteQueue q ok',
      ]);
      expect(h.broker.stats().queuedBytes).toBe(0);
    },
  );

  it('leaves the dead letter queue [QUEUE-020]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q', { enableDeadLetterQueue: true });
    h.deleteQueue(a, 'q');
    expect(h.broker.queueNames()).toEqual(['q.dlq']);
  });
});

describe('QueueInfo and ListQueues', () => {
  it('tell what waits, who subscribed and since when the queue exists [QUEUE-021, QUEUE-026, QUEUE-027]', () => {
    const h = testCore();
    const a = h.connect();
    h.advance(5000);
    const createdWallAt = h.wallNow;
    h.createQueue(a, 'q');
    h.advance(5000);
    h.publishAll(a, 'q', ids(2));
    h.subscribe(a, 'q', 1);
    expect(h.queueInfo(a, 'q')).toEqual(['1: queueInfo q 1 waiting, 1 subscribed']);
    expect(h.broker.queueInfo('q')?.createdWallAt).toBe(createdWallAt);
  });

  it('know no queue that does not exist [QUEUE-024]', () => {
    const h = testCore();
    expect(h.queueInfo(h.connect(), 'q')).toEqual(['1: queueInfo q no such queue']);
  });

  it('name all queues [QUEUE-028]', () => {
    const h = testCore();
    const a = h.connect();
    expect(h.listQueues(a)).toEqual(['1: listQueues []']);
    h.publish(a, 'q', 'm1');
    h.subscribe(a, 'r');
    h.createQueue(a, 's', { enableDeadLetterQueue: true });
    expect(h.listQueues(a)).toEqual(['1: listQueues [q, r, s, s.dlq]']);
    h.deleteQueue(a, 'r');
    expect(h.listQueues(a)).toEqual(['1: listQueues [q, s, s.dlq]']);
  });
});

describe('a missing queue', () => {
  it("is made with the server's defaults by publish and by subscribe [QUEUE-044, QUEUE-047]", () => {
    const h = testCore({ defaultMaxQueueSize: 5 });
    const a = h.connect();
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 ok']);
    expect(h.subscribe(a, 'r')).toEqual(['1: subscribe r ok']);
    for (const name of ['q', 'r']) {
      expect(h.broker.queueInfo(name)?.options).toEqual({ ...defaultQueueOptions, maxQueueSize: 5 });
    }
  });

  it('is not made by a publish whose payload is refused [PUBLISH-025]', () => {
    const h = testCore();
    const a = h.connect();
    expect(h.publish(a, 'q', 'm1', { invalid: true })).toEqual(['1: publish q m1 INVALID_PAYLOAD']);
    expect(h.broker.queueNames()).toEqual([]);
  });

  it('is not made by a publish for which there is no memory [PUBLISH-026]', () => {
    const h = testCore({ maxQueuedBytes: 100 + 384 });
    const a = h.connect();
    h.publish(a, 'full', 'm1');
    expect(h.publish(a, 'q', 'm2')).toEqual(['1: publish q m2 MEMORY_LIMIT']);
    expect(h.broker.queueNames()).toEqual(['full']);
  });

  it('is not made by a publish that fits no frame', () => {
    const h = testCore({ maxContentBytes: 100 });
    const a = h.connect();
    expect(h.publish(a, 'q', 'm1', { byteLength: 101 })).toEqual(['1: publish q m1 MESSAGE_TOO_LARGE']);
    expect(h.broker.queueNames()).toEqual([]);
    expect(h.publish(a, 'q', 'm2', { byteLength: 100 })).toEqual(['1: publish q m2 ok']);
  });

  it('is not found where queues are not made on their own [QUEUE-045, QUEUE-046, QUEUE-048]', () => {
    const h = testCore({ enableAutoCreate: false });
    const a = h.connect();
    expect(h.publish(a, 'q', 'm1')).toEqual(['1: publish q m1 QUEUE_NOT_FOUND']);
    expect(h.subscribe(a, 'q')).toEqual(['1: subscribe q QUEUE_NOT_FOUND']);
    expect(h.broker.queueNames()).toEqual([]);
  });
});

describe('the list of names', () => {
  it('is the same array until a queue is created or deleted', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'one');
    const before = h.broker.queueNames();
    expect(h.broker.queueNames()).toBe(before);
    h.createQueue(a, 'two');
    expect(h.broker.queueNames()).toEqual(['one', 'two']);
    h.step({
      kind: 'deleteQueue',
      connection: a,
      token: { words: 'deleteQueue', queue: 'one' },
      queue: 'one',
    });
    expect(h.broker.queueNames()).toEqual(['two']);
    expect(before).toEqual(['one']);
  });
});

describe('a queue that is created again', () => {
  it('has the time of its later creation [QUEUE-027]', () => {
    const h = testCore();
    const a = h.connect();
    h.createQueue(a, 'q');
    h.deleteQueue(a, 'q');
    h.advance(5000);
    h.createQueue(a, 'q');
    expect(h.broker.queueInfo('q')?.createdWallAt).toBe(h.wallNow);
  });
});

describe('a messageTtl that does not fit into 31 bits', () => {
  it('lets no message expire before it has passed [QUEUE-001]', () => {
    const h = testCore();
    const [a, b] = h.connectAll(2);
    h.createQueue(a, 'q', { messageTtlMs: 2 ** 31 });
    h.publish(a, 'q', 'm1');
    h.advance(60_000);
    expect(h.subscribe(b, 'q')).toEqual(['2: subscribe q ok', '2 <- q m1']);
  });
});
