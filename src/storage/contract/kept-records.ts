// The model that real stores are compared with, and the state of simulated stores: what a store must have kept after the records so far, as
// plain lists that are searched linearly. Does not validate its records.

import type { RecoveredRecord, StoredMessage, StoreRecord } from '../../broker/interface/store-record.ts';
import { recoveredMessage } from './sample-records.ts';

type KeptQueue = Extract<RecoveredRecord, { readonly kind: 'queue' }>;
type KeptMessage = Extract<RecoveredRecord, { readonly kind: 'message' }>;

export class KeptRecords {
  #queues: readonly KeptQueue[] = [];
  #messages: readonly KeptMessage[] = [];

  take(records: readonly StoreRecord[]): void {
    for (const record of records) this.#take(record);
  }

  /** What a recovery must give, in this order. */
  recovered(): readonly RecoveredRecord[] {
    return [...this.#queues, ...this.#messages];
  }

  /** An independent copy. */
  copy(): KeptRecords {
    const copy = new KeptRecords();
    copy.#queues = this.#queues;
    copy.#messages = this.#messages;
    return copy;
  }

  #take(record: StoreRecord): void {
    switch (record.kind) {
      case 'queueCreated':
        this.#queues = [...this.#queues, { ...record, kind: 'queue' }];
        return;
      case 'queueDeleted':
        this.#queues = this.#queues.filter(({ generation }) => generation !== record.generation);
        this.#messages = this.#messages.filter(({ generation }) => generation !== record.generation);
        return;
      case 'messageAdded':
        return this.#add(record);
      case 'messageRemoved':
        return this.#remove(record.sequence);
      case 'attemptFailed':
        this.#messages = this.#messages.map((message) =>
          message.sequence === record.sequence
            ? { ...message, failedAttempts: record.failedAttempts }
            : message,
        );
        return;
      case 'deadLettered':
        this.#remove(record.from.sequence);
        this.#add(record.to);
        return;
    }
  }

  #add(stored: StoredMessage): void {
    this.#messages = [...this.#messages, recoveredMessage(stored)];
  }

  #remove(sequence: number): void {
    this.#messages = this.#messages.filter((message) => message.sequence !== sequence);
  }
}
