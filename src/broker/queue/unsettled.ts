// The accepted messages of a queue that are not settled, by id, so that a repeat is noticed (PUBLISH-005). Of those that are packed only the
// run is known; see packed-messages.ts.

import { HashIndex, type Numbered } from '../collections/hash-index.ts';
import { IdMap } from '../collections/id-map.ts';
import { hashOf } from '../collections/id-table.ts';
import type { QueuedMessage } from './message.ts';
import type { PackedMessages } from './packed-messages.ts';

/** A longer id is not kept beside its hash, because no budget counts what is kept here of a publish that is refused. In characters. */
const MAX_KEPT_ID_LENGTH = 64;

export class Unsettled {
  readonly #messages = new IdMap<QueuedMessage>();
  /** Undefined until a message is packed, which few queues ever do. */
  #packed: PackedIds | undefined;
  /** The id that was not found last, and its hash: mostly it is the one that is added next. Saves 3 percent of a message of 100 bytes. */
  #missedId: string | undefined;
  #missedHash = 0;

  has(id: string): boolean {
    const hash = hashOf(id);
    if (this.#messages.get(id, hash) !== undefined || this.#packed?.runOf(id, hash) !== undefined)
      return true;
    this.#missedId = id.length > MAX_KEPT_ID_LENGTH ? undefined : id;
    this.#missedHash = hash;
    return false;
  }

  /** Of a packed message one that is like it: to be looked at, or removed from where it waits. */
  get(id: string): QueuedMessage | undefined {
    const hash = hashOf(id);
    const message = this.#messages.get(id, hash);
    if (message !== undefined) return message;
    const run = this.#packed?.runOf(id, hash);
    return run?.at(run.indexOf(id, hash));
  }

  /** Adds a message; `id` is its own. Returns whether none had it. */
  set(id: string, message: QueuedMessage): boolean {
    const hash = id === this.#missedId ? this.#missedHash : hashOf(id);
    this.#missedId = undefined;
    return this.#messages.set(id, message, hash) && this.#packed?.runOf(id, hash) === undefined;
  }

  /** Whether too many ids of messages that are not packed have nearly the hash of this one. The message of this id must be one of them. */
  isCrowded(id: string): boolean {
    return this.#messages.isCrowded(id);
  }

  /** Deletes a message that is not packed. */
  delete(id: string): void {
    this.#messages.delete(id);
  }

  /** The first messages, as many as the run has, were packed. */
  pack(run: PackedMessages, messages: readonly QueuedMessage[]): void {
    this.#packed ??= new PackedIds();
    this.#packed.add(run, messages);
    for (let index = 0; index < run.count; index += 1) {
      const message = messages[index];
      if (message !== undefined) this.#messages.delete(message.id, run.hashAt(index));
    }
  }

  /** The messages of the run are messages again. */
  unpack(run: PackedMessages, messages: readonly QueuedMessage[]): void {
    this.#packed?.delete(run);
    if (this.#packed?.isEmpty) this.#packed = undefined;
    for (const [index, message] of messages.entries())
      this.#messages.set(message.id, message, run.hashAt(index));
  }
}

/** In which run the message of an id is packed. */
class PackedIds implements Numbered {
  readonly #runs = new Map<number, PackedMessages>();
  /** The numbers of the runs. */
  readonly #numbers = new HashIndex(this);

  get isEmpty(): boolean {
    return this.#runs.size === 0;
  }

  runOf(id: string, hash: number): PackedMessages | undefined {
    const number = this.#numbers.find(id, hash);
    return number === undefined ? undefined : this.#runs.get(number);
  }

  add(run: PackedMessages, messages: readonly QueuedMessage[]): void {
    this.#runs.set(run.number, run);
    for (let index = 0; index < run.count; index += 1)
      this.#numbers.add(messages[index]?.id ?? '', run.hashAt(index), run.number);
  }

  delete(run: PackedMessages): void {
    this.#runs.delete(run.number);
    this.#numbers.forget(run.number);
  }

  isOf(number: number, id: string, hash: number): boolean {
    const run = this.#runs.get(number);
    return run !== undefined && run.indexOf(id, hash) >= 0;
  }

  isKnown(number: number): boolean {
    return this.#runs.has(number);
  }
}
