// Waiting messages in the order of their sequence. A long list keeps its first messages and its last ones as they are, and packs those between
// them. Packed messages are no objects, so garbage collections do not visit them: with a million waiting a message costs two thirds of what
// it cost before, and the process takes half of the memory (docs/decisions/0032-long-queues-are-packed.md). What is packed comes back by whole
// runs, when it is its turn.

import { SequenceList } from '../collections/sequence-list.ts';
import type { QueuedMessage } from './message.ts';
import { PackedMessages } from './packed-messages.ts';
import type { RunPacking } from './run-packing.ts';
import type { Unsettled } from './unsettled.ts';

/** Packs and unpacks the messages of one queue. */
export class Packer {
  readonly #packing: RunPacking;
  readonly #unsettled: Unsettled;
  #lastNumber = 0;

  constructor(packing: RunPacking, unsettled: Unsettled) {
    this.#packing = packing;
    this.#unsettled = unsettled;
  }

  get minWaiting(): number {
    return this.#packing.contentPacking.minWaiting;
  }

  /** Whether so many messages with so many bytes of contents are enough for a run. */
  isRun(count: number, bytes: number): boolean {
    const { maxCount, maxBytes } = this.#packing.contentPacking;
    return count >= maxCount || bytes >= maxBytes;
  }

  /**
   * The first messages, up to one that stays as it is. In a run ids are looked for one by one among those of the same hash, so it must not have
   * many of them: a client may choose its ids so.
   */
  packable(messages: readonly QueuedMessage[]): readonly QueuedMessage[] {
    const end = messages.findIndex(
      (message) => !PackedMessages.canTake(message) || this.#unsettled.isCrowded(message.id),
    );
    return end < 0 ? messages : messages.slice(0, end);
  }

  /** Packs as many messages as fit together, from the first on. */
  pack(messages: readonly QueuedMessage[]): PackedMessages {
    this.#lastNumber += 1;
    const run = PackedMessages.of(this.#lastNumber, messages, this.#packing);
    this.#unsettled.pack(run, messages);
    return run;
  }

  /** Returns the messages of a run, which must not be used afterwards. */
  unpack(run: PackedMessages): readonly QueuedMessage[] {
    const messages = Array.from({ length: run.count }, (_, index) => run.at(index));
    this.#unsettled.unpack(run, messages);
    run.free();
    return messages;
  }
}

/** What a long list has behind its first messages. */
type Rest = {
  /** The oldest run first. */
  readonly runs: PackedMessages[];
  packedCount: number;
  /** Younger than all runs, by sequence. */
  back: QueuedMessage[];
  backBytes: number;
};

export class WaitingList {
  #packer: Packer | undefined;
  /** Empty only if the whole list is. */
  #front = new SequenceList<QueuedMessage>();
  #rest: Rest | undefined;
  /** Messages from this sequence on are in the rest. */
  #restFrom = Number.POSITIVE_INFINITY;
  /** The highest that was inserted. */
  #lastSequence = 0;

  /** From now on the list packs. Until then it does not. */
  packWith(packer: Packer): void {
    this.#packer = packer;
  }

  get size(): number {
    const rest = this.#rest;
    return this.#front.size + (rest === undefined ? 0 : rest.packedCount + rest.back.length);
  }

  first(): QueuedMessage | undefined {
    return this.#front.first();
  }

  /** All messages by sequence, but for the first `offset`; those that are packed as they will be. The list must not change meanwhile. */
  *from(offset: number): Iterable<QueuedMessage> {
    yield* this.#front.from(offset);
    const rest = this.#rest;
    if (rest === undefined) return;
    let toSkip = Math.max(0, offset - this.#front.size);
    for (const run of rest.runs) {
      for (let index = toSkip; index < run.count; index += 1) yield run.at(index);
      toSkip = Math.max(0, toSkip - run.count);
    }
    for (const message of rest.back.slice(toSkip)) yield message;
  }

  /** A message that comes back is older than all that were not first in the list meanwhile, so its place is in front of the rest. */
  insert(message: QueuedMessage): void {
    if (message.sequence < this.#lastSequence) {
      this.#front.insert(message);
      return;
    }
    this.#lastSequence = message.sequence;
    if (this.#rest !== undefined) this.#append(this.#rest, message);
    else if (this.#packer !== undefined && this.#front.size >= this.#packer.minWaiting) {
      this.#rest = { runs: [], packedCount: 0, back: [], backBytes: 0 };
      this.#restFrom = message.sequence;
      this.#append(this.#rest, message);
    } else this.#front.insert(message);
  }

  /** Removes a message that is in this list, or what `from` has returned for one that is packed. */
  remove(message: QueuedMessage): void {
    const rest = this.#rest;
    if (rest === undefined || message.sequence < this.#restFrom) {
      this.#front.remove(message);
      if (rest !== undefined && this.#front.size === 0) this.#refill(rest);
      return;
    }
    const first = rest.back[0];
    if (first === undefined || message.sequence < first.sequence) this.#removePacked(rest, message);
    else {
      rest.back = rest.back.filter((other) => other !== message);
      rest.backBytes -= message.content.byteLength;
    }
    this.#restChanged(rest);
  }

  #append(rest: Rest, message: QueuedMessage): void {
    const { back, runs } = rest;
    back.push(message);
    rest.backBytes += message.content.byteLength;
    if (this.#packer === undefined || !this.#packer.isRun(back.length, rest.backBytes)) return;
    const packable = this.#packer.packable(back);
    if (packable.length === 0) return;
    const run = this.#packer.pack(packable);
    runs.push(run);
    rest.packedCount += run.count;
    rest.back = back.slice(run.count);
    rest.backBytes = 0;
    for (const { content } of rest.back) rest.backBytes += content.byteLength;
  }

  /** Nothing is in front any more. */
  #refill(rest: Rest): void {
    const run = rest.runs.shift();
    const packer = this.#packer;
    const isPacked = run !== undefined && packer !== undefined;
    const messages = isPacked ? packer.unpack(run) : rest.back;
    for (const message of messages) this.#front.insert(message);
    if (isPacked) rest.packedCount -= messages.length;
    else rest.back = [];
    this.#restChanged(rest);
  }

  /** The others of its run are packed again: an operator removes single messages, and nobody else. */
  #removePacked(rest: Rest, { id, sequence }: QueuedMessage): void {
    const at = rest.runs.findIndex(({ lastSequence }) => sequence <= lastSequence);
    const run = rest.runs[at];
    if (run === undefined || !run.hasSequence(sequence) || this.#packer === undefined)
      throw new Error(`Message ${id} does not wait here.`);
    const others = this.#packer.unpack(run).filter((message) => message.sequence !== sequence);
    rest.runs.splice(at, 1, ...(others.length === 0 ? [] : [this.#packer.pack(others)]));
    rest.packedCount -= 1;
  }

  #restChanged(rest: Rest): void {
    const sequence = rest.runs[0]?.firstSequence ?? rest.back[0]?.sequence;
    if (sequence !== undefined) {
      this.#restFrom = sequence;
      return;
    }
    this.#rest = undefined;
    this.#restFrom = Number.POSITIVE_INFINITY;
  }
}
