// A run of waiting messages that are packed: no object for each of them. It never changes. Knows no queue; waiting-list.ts decides what is
// packed and when.

import type { Priority } from '../../model/priority.ts';
import { hashOf } from '../collections/id-table.ts';
import type { PackedContents } from '../interface/message-packing.ts';
import { QueuedMessage } from './message.ts';
import { FIELDS, INSTANTS, type RunColumns, type RunPacking } from './run-packing.ts';

/** Where the whole numbers of 32 bits stand that are kept of each message. */
const [HASH, PRIORITY, SENT, FAILED, INTERRUPTED] = [0, 1, 2, 3, 4] as const;

export class PackedMessages {
  /** Among the runs of its queue; 1 or more. */
  readonly number: number;
  readonly count: number;
  readonly #contents: PackedContents;
  readonly #packing: RunPacking;
  readonly #columns: RunColumns;
  /** Sequence and time of acceptance of each message. */
  readonly #instants: Float64Array;
  readonly #fields: Int32Array;

  private constructor(number: number, messages: readonly QueuedMessage[], packing: RunPacking) {
    this.number = number;
    this.#contents = packing.contentPacking.pack(messages);
    this.count = this.#contents.count;
    this.#packing = packing;
    this.#columns = packing.takeColumns(this.count);
    this.#instants = this.#columns.instants;
    this.#fields = this.#columns.fields;
    for (let index = 0; index < this.count; index += 1) this.#set(index, messages[index]);
  }

  /** Packs messages that wait, in the order of their sequence, from the first on: as many as fit together. */
  static of(number: number, messages: readonly QueuedMessage[], packing: RunPacking): PackedMessages {
    return new PackedMessages(number, messages, packing);
  }

  /** Whether a message can be packed: it waits, and is no dead letter. Those are few, and are looked for one by one. */
  static canTake(message: QueuedMessage): boolean {
    return message.deadLetter === undefined;
  }

  get firstSequence(): number {
    return this.#instants[0] ?? 0;
  }

  get lastSequence(): number {
    return this.#instants[INSTANTS * (this.count - 1)] ?? 0;
  }

  /** A message with everything that the packed one had. */
  at(index: number): QueuedMessage {
    const fields = this.#fields;
    const at = FIELDS * index;
    const id = this.#contents.idAt(index);
    const content = this.#contents.contentAt(index);
    const priority = (fields[at + PRIORITY] ?? 0) as Priority;
    const message = new QueuedMessage('waiting', { id, priority, content });
    message.sequence = this.#instants[INSTANTS * index] ?? 0;
    message.acceptedAt = this.#instants[INSTANTS * index + 1] ?? 0;
    message.sentCount = fields[at + SENT] ?? 0;
    message.failedAttempts = fields[at + FAILED] ?? 0;
    message.interruptedCount = fields[at + INTERRUPTED] ?? 0;
    return message;
  }

  hashAt(index: number): number {
    return this.#fields[FIELDS * index + HASH] ?? 0;
  }

  /** Where the message of that id is; -1: not here. */
  indexOf(id: string, hash: number): number {
    for (let index = 0; index < this.count; index += 1) {
      if (this.hashAt(index) === hash && this.#contents.idAt(index) === id) return index;
    }
    return -1;
  }

  /** Whether the message of that sequence is here. */
  hasSequence(sequence: number): boolean {
    for (let index = 0; index < this.count; index += 1)
      if (this.#instants[INSTANTS * index] === sequence) return true;
    return false;
  }

  /** Frees the memory. Nothing may be asked afterwards. */
  free(): void {
    this.#contents.free();
    this.#packing.leaveColumns(this.#columns);
  }

  #set(index: number, message: QueuedMessage | undefined): void {
    if (message === undefined) throw new Error('More messages were packed than were given.');
    const { id, sequence, acceptedAt, priority, sentCount, failedAttempts, interruptedCount } = message;
    this.#instants[INSTANTS * index] = sequence;
    this.#instants[INSTANTS * index + 1] = acceptedAt;
    const fields = this.#fields;
    const at = FIELDS * index;
    fields[at + HASH] = hashOf(id);
    fields[at + PRIORITY] = priority;
    fields[at + SENT] = sentCount;
    fields[at + FAILED] = failedAttempts;
    fields[at + INTERRUPTED] = interruptedCount;
  }
}
