// The records that the cases of the contract suite commit: small, one per kind, easy to recognize in a failure message.

import type { RecoveredRecord, StoredMessage, StoreRecord } from '../../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { bytesOf, contentOf } from './message-contents.ts';

type RecoveredMessage = Extract<RecoveredRecord, { readonly kind: 'message' }>;
type QueueCreated = Extract<StoreRecord, { readonly kind: 'queueCreated' }>;

export const sampleFacts = {
  reason: 'MessageExpired',
  source: 'orders',
  attempts: 3,
  deadLetteredWallAt: 1_000,
} as const;

export function created(generation: number): QueueCreated {
  const name = `queue-${generation}`;
  return { kind: 'queueCreated', generation, name, options: defaultQueueOptions, createdWallAt: 1_000 };
}

/** Every other content is a plain Uint8Array, the others are Buffers: a store that needs a Buffer makes one. */
export function message(generation: number, sequence: number): StoredMessage {
  const bytes = Uint8Array.from([1, 2, sequence % 256]);
  const content = contentOf(sequence % 2 === 0 ? bytes : Buffer.from(bytes));
  return { generation, sequence, id: `m${sequence}`, priority: 1, content, acceptedWallAt: 1_000 };
}

export function added(stored: StoredMessage): StoreRecord {
  return { kind: 'messageAdded', ...stored };
}

export function removed(generation: number, sequence: number): StoreRecord {
  return { kind: 'messageRemoved', generation, sequence };
}

export function failed(generation: number, sequence: number, failedAttempts: number): StoreRecord {
  return { kind: 'attemptFailed', generation, sequence, failedAttempts };
}

/** What a recovery must give for a queue that was created. */
export function recoveredQueue(record: QueueCreated): RecoveredRecord {
  return { ...record, kind: 'queue' };
}

/** What a recovery must give for a message that was added. */
export function recoveredMessage(stored: StoredMessage, failedAttempts = 0): RecoveredMessage {
  return { ...stored, kind: 'message', content: bytesOf(stored.content), failedAttempts };
}

/** One batch with a record of every kind; one dead letter is left of it. */
export function everyKind(): readonly StoreRecord[] {
  return [
    created(1),
    created(2),
    added(message(1, 1)),
    added(message(1, 2)),
    failed(1, 1, 1),
    {
      kind: 'deadLettered',
      from: { generation: 1, sequence: 1 },
      to: { ...message(2, 3), deadLetter: sampleFacts },
    },
    removed(1, 2),
    { kind: 'queueDeleted', generation: 1 },
  ];
}
