// What a durable store must keep, as the core says it: a log of changes. The records of one batch belong into one
// transaction. Messages name the queue's generation, not its name, so that ending a queue is one small record.

import type { DeadLetterFacts, MessageContent, Priority } from './message-content.ts';
import type { QueueOptions } from './queue-options.ts';

/** A queue that lives: a name that is deleted and created again gets a new one. */
export type Generation = number;

export type StoredMessage = {
  readonly generation: Generation;
  /** Unique in its generation; messages of a queue are recovered in this order. */
  readonly sequence: number;
  readonly id: string;
  readonly priority: Priority;
  readonly content: MessageContent;
  readonly acceptedWallAt: number;
  readonly deadLetter?: DeadLetterFacts;
};

export type StoreRecord =
  | {
      readonly kind: 'queueCreated';
      readonly generation: Generation;
      readonly name: string;
      readonly options: QueueOptions;
      readonly createdWallAt: number;
    }
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
