// What a store gives back is checked before the broker takes it: queues that cannot be and contents that are no bytes are refused.

import { describe, expect, it } from 'vitest';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { defaultQueueOptions, type QueueOptions } from '../../model/queue-options.ts';
import { StoreError } from '../../storage/storage-provider.ts';
import { TestedService } from '../../testing/tested-service.ts';

type Queue = Extract<RecoveredRecord, { readonly kind: 'queue' }>;

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
