// What a durable store must keep, as the core says it: a log of changes; and what the store gives back to a core that begins.
// The records of one batch belong into one transaction. Messages name the queue's generation, not its name, so that ending a
// queue is one small record. Implements the vocabulary of DURABLE.

import type { Priority } from '../../model/priority.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { DeadLetterFacts, MessageContent } from './message-content.ts';

/** A queue that lives: a name that is deleted and created again gets a new one. */
export type Generation = number;

export type StoredMessage<Content = MessageContent> = {
  readonly generation: Generation;
  /** Unique, and higher than that of every message added before, in whichever queue. */
  readonly sequence: number;
  readonly id: string;
  readonly priority: Priority;
  readonly content: Content;
  readonly acceptedWallAt: number;
  readonly deadLetter?: DeadLetterFacts;
};

export type StoredQueue = {
  readonly generation: Generation;
  readonly name: string;
  readonly options: QueueOptions;
  readonly createdWallAt: number;
};

export type StoreRecord =
  | ({ readonly kind: 'queueCreated' } & StoredQueue)
  | { readonly kind: 'queueDeleted'; readonly generation: Generation }
  | ({ readonly kind: 'messageAdded' } & StoredMessage)
  | { readonly kind: 'messageRemoved'; readonly generation: Generation; readonly sequence: number }
  | {
      readonly kind: 'attemptFailed';
      readonly generation: Generation;
      readonly sequence: number;
      readonly failedAttempts: number;
    }
  /** The message leaves its queue and enters a dead letter queue: both or neither. */
  | {
      readonly kind: 'deadLettered';
      readonly from: { readonly generation: Generation; readonly sequence: number };
      readonly to: StoredMessage;
    };

/** What is there when a core begins: the queues that live, then their messages, each in the order in which they came to be. */
export type RecoveredRecord<Content = Uint8Array> =
  | ({ readonly kind: 'queue' } & StoredQueue)
  | ({ readonly kind: 'message'; readonly failedAttempts: number } & StoredMessage<Content>);
