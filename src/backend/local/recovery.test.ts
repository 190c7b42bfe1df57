// What a store gives back is checked before the broker takes it: queues that cannot be, contents that are no bytes, and contents that would not
// fit into a frame are refused.

import { describe, expect, it } from 'vitest';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { defaultQueueOptions, type QueueOptions } from '../../model/queue-options.ts';
import { StoreError } from '../../storage/storage-provider.ts';
import { testSettings } from '../../testing/broker-harness.ts';
import { TestedService } from '../../testing/tested-service.ts';

type Queue = Extract<RecoveredRecord, { readonly kind: 'queue' }>;
type Message = Extract<RecoveredRecord, { readonly kind: 'message' }>;

const orders: Queue = {
  kind: 'queue',
  generation: 1,
  name: 'orders',
  options: defaultQueueOptions,
  createdWallAt: 1_000,
};

function startWith(...records: readonly RecoveredRecord[]): Promise<void> {
  const store = { recover: () => records, commit: () => undefined, close: () => undefined };
  return new TestedService({ openStore: async () => store }).service.start();
}

describe('a recovery refuses', () => {
  it.each<readonly [object, string]>([
    [{ maxQueueSize: 0 }, 'maxQueueSize must be 1 to 2147483647'],
    [{ maxRetryAttempts: '3' }, 'maxRetryAttempts must be 1 to 2147483647'],
    [{ messageTtlMs: -1 }, 'messageTtl must be more than zero and at most 10000 days'],
    [{ mode: 9 }, 'there is no delivery mode 9'],
    [{ overflowStrategy: 'x' }, 'there is no overflow strategy x'],
    [{ enableDeadLetterQueue: 1 }, 'enableDeadLetterQueue must be true or false'],
    [
      { enableDeadLetterQueue: true, deadLetterQueueName: 'orders' },
      'a queue cannot be its own dead letter queue',
    ],
  ])('a queue with options %j, by its name and with the reason [DURABLE-016]', async (changed, reason) => {
    const options = { ...defaultQueueOptions, ...changed } as QueueOptions;
    const starting = startWith({ ...orders, options });
    await expect(starting).rejects.toThrow(`the store holds the impossible queue "orders": ${reason}; `);
    await expect(starting).rejects.toBeInstanceOf(StoreError);
  });

  it('a queue whose name is not a queue name [DURABLE-016]', async () => {
    await expect(startWith({ ...orders, name: 'a b' })).rejects.toThrow(
      'the store holds the impossible queue "a b": the name is not a queue name; ',
    );
  });

  it('a message whose content is not bytes [DURABLE-016]', async () => {
    const stored = { generation: 1, sequence: 7, id: 'm1', priority: 1, acceptedWallAt: 1_000 } as const;
    const content = { byteLength: 3 } as Uint8Array;
    const starting = startWith(orders, { kind: 'message', ...stored, content, failedAttempts: 0 });
    await expect(starting).rejects.toThrow(
      'message "m1" (sequence 7) with a content that is not a Uint8Array',
    );
    await expect(starting).rejects.toBeInstanceOf(StoreError);
  });
});

describe('a recovery, when no frame may have more than 100 bytes,', () => {
  const withLetters: Queue = {
    ...orders,
    options: { ...defaultQueueOptions, enableDeadLetterQueue: true },
  };
  const letters: Queue = { ...orders, generation: 2, name: 'orders.dlq' };
  const deadLetter = {
    reason: 'MessageExpired',
    source: 'orders',
    attempts: 0,
    deadLetteredWallAt: 1_000,
  } as const;

  function message(sequence: number, bytes: number, fields: Partial<Message> = {}): Message {
    const content = Buffer.alloc(bytes);
    const stored = { generation: 1, id: `m${sequence}`, priority: 1, acceptedWallAt: 1_000 } as const;
    return { kind: 'message', sequence, content, failedAttempts: 0, ...stored, ...fields };
  }

  function startWithin100(...records: readonly RecoveredRecord[]): Promise<void> {
    const store = { recover: () => records, commit: () => undefined, close: () => undefined };
    const broker = { ...testSettings, maxContentBytes: 100 };
    return new TestedService({ openStore: async () => store }, { broker }).service.start();
  }

  it('takes what fits, with the name of the dead letter queue too [FRAME-018]', async () => {
    await startWithin100(orders, message(1, 100));
    await startWithin100(withLetters, message(1, 96));
    await startWithin100(orders, letters, message(1, 96, { generation: 2, deadLetter }));
  });

  it('refuses a message that does not fit, and says what it would need [FRAME-018, DURABLE-016]', async () => {
    const starting = startWithin100(orders, message(1, 20), message(2, 101));
    await expect(starting).rejects.toThrow(
      'the store holds message "m2" of queue "orders", whose frames need 101 bytes, but maxMessageSize is 100; start with a maxMessageSize of at least 101 (the store was not changed)',
    );
    await expect(starting).rejects.toBeInstanceOf(StoreError);
  });

  it('refuses one that does not fit as a dead letter [FRAME-018]', async () => {
    await expect(startWithin100(withLetters, message(1, 97))).rejects.toThrow(
      'message "m1" of queue "orders", whose frames need 101 bytes',
    );
    await expect(
      startWithin100(orders, letters, message(1, 97, { generation: 2, deadLetter })),
    ).rejects.toThrow('message "m1" of queue "orders.dlq", whose frames need 101 bytes');
  });

  it('tells how many do not fit, and what the largest needs [FRAME-018]', async () => {
    const records = [orders, message(1, 101), message(2, 5_000), message(3, 100), message(4, 300)];
    await expect(startWithin100(...records)).rejects.toThrow(
      'the store holds 3 messages that are too large, the largest of them message "m2" of queue "orders", whose frames need 5000 bytes, but maxMessageSize is 100; start with a maxMessageSize of at least 5000 (the store was not changed)',
    );
  });
});
