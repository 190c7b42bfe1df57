// A queue for tests: nothing waits in it, and one subscriber has nothing to do.

import { newRow, type QueueRow } from '../http/dashboard/ui/live/queue-row.ts';

type Parts = Partial<Omit<QueueRow, 'facts'>> & { readonly facts?: Partial<QueueRow['facts']> };

export function testedRow(id: number, name: string, { facts, ...values }: Parts = {}): QueueRow {
  const row = newRow({
    id,
    name,
    deliveryMode: 'RoundRobin',
    maxQueueSize: 10_000,
    overflowStrategy: 'DropOldest',
    maxRetryAttempts: 3,
    messageTtlMs: null,
    deadLetterQueueName: null,
    createdAt: 0,
    depths: [],
    ...facts,
  });
  return { ...row, subscriberCount: 1, ...values };
}
