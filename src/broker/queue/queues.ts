// The queues that exist: creation, deletion, lookup by name. Implements QUEUE-001, QUEUE-014, QUEUE-020, QUEUE-028 and DLQ-002 to DLQ-007.

import type { LargestQueues, QueueFigures } from '../../model/queue-info.ts';
import { deadLetterQueueOf, deadLetterQueueOptions, type QueueOptions } from '../../model/queue-options.ts';
import type { QueueCounts } from '../interface/earlier-core.ts';
import type { MessagePacking } from '../interface/message-packing.ts';
import type { Generation, StoredQueue } from '../interface/store-record.ts';
import { Queue } from './queue.ts';
import type { QueueDelivery } from './queue-delivery.ts';
import { RunPacking } from './run-packing.ts';
import type { StepContext } from './step-context.ts';
import { queueBytes } from './structure-bytes.ts';

/** Begins and ends the delivery of a queue; implemented on the floor above. */
export type QueueDeliveries = {
  open(queue: Queue): QueueDelivery;
  /** The queue was deleted: frees what its deliveries occupied. */
  close(queue: Queue): void;
};

export class Queues {
  readonly #step: StepContext;
  readonly #deliveries: QueueDeliveries;
  readonly #byName = new Map<string, Queue>();
  readonly #packing: RunPacking | undefined;
  #lastGeneration: Generation;
  /** What `names` returned last; undefined once a queue was created or deleted. */
  #names: readonly string[] | undefined;

  /** `lastGeneration`: no new queue gets this one or a lower one. Without `packing` no message is packed. */
  constructor(
    step: StepContext,
    deliveries: QueueDeliveries,
    lastGeneration: Generation,
    packing?: MessagePacking,
  ) {
    this.#step = step;
    this.#deliveries = deliveries;
    this.#lastGeneration = lastGeneration;
    this.#packing = packing === undefined ? undefined : new RunPacking(packing);
  }

  get lastGeneration(): Generation {
    return this.#lastGeneration;
  }

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): Queue | undefined {
    return this.#byName.get(name);
  }

  /** At most `limit` queues. One look at each, so that this takes milliseconds with ten thousand of them. */
  largest(limit: number): LargestQueues {
    let largest: Queue[] = [];
    let least = -1;
    let waitingCount = 0;
    for (const queue of this.#byName.values()) {
      waitingCount += queue.waitingCount;
      if (queue.waitingCount <= least) continue;
      largest.push(queue);
      if (largest.length < 2 * limit) continue;
      largest = largestOf(largest, limit);
      least = largest.at(-1)?.waitingCount ?? least;
    }
    return { queues: largestOf(largest, limit).map((queue) => queue.info()), waitingCount };
  }

  /** Of all queues, in the order of creation. Milliseconds with ten thousand of them. */
  figures(): readonly QueueFigures[] {
    const wallOffsetMs = this.#step.wallNow - this.#step.now;
    return Array.from(this.#byName.values(), (queue) => queue.figures(wallOffsetMs));
  }

  counts(): readonly QueueCounts[] {
    return Array.from(this.#byName.values(), (queue) => queue.counts());
  }

  /** In the order of creation. The same array until a queue is created or deleted, so that asking again costs and holds nothing. */
  names(): readonly string[] {
    this.#names ??= [...this.#byName.keys()];
    return this.#names;
  }

  /** How many queues `create` would create. */
  missing(name: string, options: QueueOptions): number {
    const needsDeadLetterQueue =
      options.enableDeadLetterQueue && !this.#byName.has(deadLetterQueueOf(name, options));
    return needsDeadLetterQueue ? 2 : 1;
  }

  /** Creates a queue that does not exist, and its dead letter queue where that is enabled and does not exist either. */
  create(name: string, options: QueueOptions): Queue {
    const queue = this.#createAlone(name, options);
    if (options.enableDeadLetterQueue) this.deadLetterQueueOf(queue);
    return queue;
  }

  /** The queue that takes this one's dead letters; it is created when it is missing. */
  deadLetterQueueOf(source: Queue): Queue {
    const name = source.deadLetterQueueName;
    return this.#byName.get(name) ?? this.#createAlone(name, deadLetterQueueOptions(source.options));
  }

  /** Deletes a queue with everything in it. Its blocked publishes must have been answered, and its timers cleared. */
  delete(queue: Queue): void {
    queue.deleted = true;
    this.#byName.delete(queue.name);
    this.#names = undefined;
    this.#deliveries.close(queue);
    queue.releaseMessages();
    this.#step.stats.queuedBytes -= queue.heldBytes;
    this.#step.stats.structureBytes -= queueBytes(queue);
    this.#step.record({ kind: 'queueDeleted', generation: queue.generation });
  }

  /** Takes up a queue that a store had kept. It was recorded in an earlier life. */
  restore(stored: StoredQueue): Queue {
    this.#lastGeneration = Math.max(this.#lastGeneration, stored.generation);
    return this.#add(stored);
  }

  #createAlone(name: string, options: QueueOptions): Queue {
    this.#lastGeneration += 1;
    const stored = { generation: this.#lastGeneration, name, options, createdWallAt: this.#step.wallNow };
    this.#step.record({ kind: 'queueCreated', ...stored });
    return this.#add(stored);
  }

  #add(stored: StoredQueue): Queue {
    const queue = new Queue(stored, (created) => this.#deliveries.open(created), this.#packing);
    this.#byName.set(queue.name, queue);
    this.#step.stats.structureBytes += queueBytes(queue);
    this.#names = undefined;
    return queue;
  }
}

function largestOf(queues: Queue[], limit: number): Queue[] {
  return queues.sort((a, b) => b.waitingCount - a.waitingCount).slice(0, limit);
}
