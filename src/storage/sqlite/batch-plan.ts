// Turns one batch of records into changes of rows. A message that is added and removed within one batch never reaches the database, so its
// delivery and ack cost nothing. Pure. Implements DURABLE-001, DURABLE-005 and DURABLE-014 for the SQLite store.

import type {
  Generation,
  StoredMessage,
  StoredQueue,
  StoreRecord,
} from '../../broker/interface/store-record.ts';

/** All the sequences from `first` to `last`, both included. */
export type SequenceRange = { readonly first: number; readonly last: number };

type AddedMessage = { readonly stored: StoredMessage; failedAttempts: number };

export class BatchPlan {
  /** Queues that are new after the batch. */
  readonly created = new Map<Generation, StoredQueue>();
  /** Queues that existed before the batch and do not exist after it. */
  readonly ended: Generation[] = [];
  /** Messages that are new after the batch, by sequence, rising. */
  readonly added = new Map<number, AddedMessage>();
  readonly #removed = new Set<number>();
  /** Failed attempts by sequence, of messages that exist before and after the batch. */
  readonly failedAttempts = new Map<number, number>();

  constructor(records: readonly StoreRecord[]) {
    for (const record of records) this.#take(record);
  }

  /**
   * Sequences of messages that existed before the batch and do not exist after it. Messages are mostly acknowledged in the order of
   * publishing, so there are few, long ranges.
   */
  removedRanges(): readonly SequenceRange[] {
    const ranges: { first: number; last: number }[] = [];
    for (const sequence of [...this.#removed].sort((a, b) => a - b)) {
      const latest = ranges.at(-1);
      if (latest?.last === sequence - 1) latest.last = sequence;
      else ranges.push({ first: sequence, last: sequence });
    }
    return ranges;
  }

  get isEmpty(): boolean {
    const changes = this.created.size + this.ended.length + this.added.size;
    return changes + this.#removed.size + this.failedAttempts.size === 0;
  }

  #take(record: StoreRecord): void {
    switch (record.kind) {
      case 'queueCreated':
        this.created.set(record.generation, record);
        return;
      case 'queueDeleted':
        return this.#end(record.generation);
      case 'messageAdded':
        return this.#add(record);
      case 'messageRemoved':
        return this.#remove(record.sequence);
      case 'attemptFailed':
        return this.#fail(record.sequence, record.failedAttempts);
      case 'deadLettered':
        this.#remove(record.from.sequence);
        return this.#add(record.to);
    }
  }

  #add(stored: StoredMessage): void {
    this.added.set(stored.sequence, { stored, failedAttempts: 0 });
  }

  #remove(sequence: number): void {
    if (this.added.delete(sequence)) return;
    this.#removed.add(sequence);
    this.failedAttempts.delete(sequence);
  }

  #fail(sequence: number, failedAttempts: number): void {
    const added = this.added.get(sequence);
    if (added === undefined) this.failedAttempts.set(sequence, failedAttempts);
    else added.failedAttempts = failedAttempts;
  }

  /** Does not change the rows of its messages: they are removed with the queue. */
  #end(generation: Generation): void {
    for (const [sequence, { stored }] of this.added) {
      if (stored.generation === generation) this.added.delete(sequence);
    }
    if (!this.created.delete(generation)) this.ended.push(generation);
  }
}
