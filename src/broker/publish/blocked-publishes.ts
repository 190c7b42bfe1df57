// The publishes that wait for room in their queues, in the order of arrival over all connections. They count for the bytes held, and for
// the limits of their publishers. Implements OVERFLOW-012 to OVERFLOW-018, OVERFLOW-020, OVERFLOW-021 and PUBLISH-007.

import type { BrokerSettings } from '../interface/settings.ts';
import type { QueuedMessage } from '../queue/message.ts';
import type { Queue } from '../queue/queue.ts';
import type { StepContext } from '../queue/step-context.ts';
import { repeatBytes } from '../queue/structure-bytes.ts';
import { BlockedPublish, type Publisher, type Repeat } from './publisher.ts';

export class BlockedPublishes {
  readonly #step: StepContext;
  readonly #settings: BrokerSettings;
  /** By message id; queues without blocked publishes are left out. */
  readonly #byQueue = new Map<Queue, Map<string, BlockedPublish>>();

  constructor(step: StepContext, settings: BrokerSettings) {
    this.#step = step;
    this.#settings = settings;
  }

  /** Whether no publish waits for the queue. */
  isEmpty(queue: Queue): boolean {
    return !this.#byQueue.has(queue);
  }

  find(queue: Queue, id: string): BlockedPublish | undefined {
    return this.#byQueue.get(queue)?.get(id);
  }

  /** The publish that has waited longest for the queue. */
  first(queue: Queue): BlockedPublish | undefined {
    return this.#byQueue.get(queue)?.values().next().value;
  }

  /** All publishes that wait for the queue, the one that has waited longest first. */
  all(queue: Queue): readonly BlockedPublish[] {
    return [...(this.#byQueue.get(queue)?.values() ?? [])];
  }

  /** Whether the publisher may have one more, of so many bytes. */
  mayAdd(publisher: Publisher, bytes: number): boolean {
    return (
      publisher.blockedCount < this.#settings.maxBlockedPublishes &&
      publisher.blockedBytes + bytes <= this.#settings.maxBlockedBytes
    );
  }

  add(queue: Queue, message: QueuedMessage, from: Repeat): void {
    const blocked = new BlockedPublish(queue, message, from);
    this.#set(blocked);
    from.publisher.blockedCount += 1;
    queue.heldBytes += message.heldBytes;
    this.#step.stats.queuedBytes += message.heldBytes;
  }

  /** Another publish of the same id: it waits for the same answer. */
  repeat(blocked: BlockedPublish, repeat: Repeat): void {
    blocked.repeats.push(repeat);
    this.#countRepeats(blocked, 1);
    repeat.publisher.repeated.add(blocked);
    repeat.publisher.blockedCount += 1;
  }

  /** Removes a publish that is answered now, or not at all. */
  remove(blocked: BlockedPublish): void {
    const { queue, message, publisher } = blocked;
    const ofQueue = this.#byQueue.get(queue);
    ofQueue?.delete(message.id);
    if (ofQueue?.size === 0) this.#byQueue.delete(queue);
    publisher.blocked.delete(blocked);
    publisher.blockedCount -= 1;
    publisher.blockedBytes -= message.content.byteLength;
    this.#countRepeats(blocked, -blocked.repeats.length);
    for (const repeat of blocked.repeats) {
      repeat.publisher.blockedCount -= 1;
      repeat.publisher.repeated.delete(blocked);
    }
    queue.heldBytes -= message.heldBytes;
    this.#step.stats.queuedBytes -= message.heldBytes;
  }

  /** The publisher has disconnected: its publishes will not be accepted, unless another connection has repeated them. */
  withdrawOf(publisher: Publisher): void {
    for (const blocked of publisher.repeated) this.#countRepeats(blocked, -blocked.dropRepeatsOf(publisher));
    for (const blocked of [...publisher.blocked]) {
      const [repeat] = blocked.repeats;
      if (repeat !== undefined) this.#promoteRepeat(blocked, repeat);
      else {
        this.remove(blocked);
        blocked.message.move('withdraw');
        this.#step.touch(blocked.queue);
      }
    }
  }

  /** Makes a repeat the publish that is waited for; it keeps the position of the first one. */
  #promoteRepeat(blocked: BlockedPublish, repeat: Repeat): void {
    const promoted = new BlockedPublish(blocked.queue, blocked.message, repeat);
    promoted.repeats = blocked.repeats.filter((other) => other !== repeat);
    this.#countRepeats(blocked, -1);
    for (const { publisher } of blocked.repeats) publisher.repeated.delete(blocked);
    for (const { publisher } of promoted.repeats) publisher.repeated.add(promoted);
    this.#set(promoted);
  }

  #countRepeats({ message, queue }: BlockedPublish, added: number): void {
    this.#step.stats.structureBytes += added * repeatBytes(message.id, queue.name);
  }

  /** A publish of the same id is replaced. */
  #set(blocked: BlockedPublish): void {
    const { queue, message, publisher } = blocked;
    let ofQueue = this.#byQueue.get(queue);
    if (ofQueue === undefined) {
      ofQueue = new Map();
      this.#byQueue.set(queue, ofQueue);
    }
    ofQueue.set(message.id, blocked);
    publisher.blocked.add(blocked);
    publisher.blockedBytes += message.content.byteLength;
  }
}
