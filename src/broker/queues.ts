// Which queues there are, how one comes to be and how it ends. Subscriptions are registered under a name: those of a
// deleted queue are kept here until a queue of that name is created again. Implements QUEUE (creation, deletion).

import { deadLetterQueueOf, deadLetterQueueOptions, type QueueOptions } from '../model/queue-options.ts';
import { deliveryModeRules } from './delivery/modes.ts';
import type { Generation, StoredQueue } from './interface/store-record.ts';
import { Queue } from './queue.ts';
import type { StepContext } from './step-context.ts';
import type { Subscription } from './subscription.ts';

export class Queues {
  readonly #step: StepContext;
  readonly #byName = new Map<string, Queue>();
  /** Subscriptions to names that have no queue now, in the order in which they were made. */
  readonly #dormant = new Map<string, Set<Subscription>>();
  #lastGeneration: Generation = 0;
  /** What `names` returned last; undefined once a queue was created or deleted. */
  #names: readonly string[] | undefined;

  constructor(step: StepContext) {
    this.#step = step;
  }

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): Queue | undefined {
    return this.#byName.get(name);
  }

  /** In the order of creation. The same array until a queue is created or deleted, so that asking again costs and holds nothing. */
  names(): readonly string[] {
    this.#names ??= [...this.#byName.keys()];
    return this.#names;
  }

  /** How many queues `create` would make. */
  missing(name: string, options: QueueOptions): number {
    const needsDeadLetterQueue =
      options.enableDeadLetterQueue && !this.#byName.has(deadLetterQueueOf(name, options));
    return needsDeadLetterQueue ? 2 : 1;
  }

  /** Creates a queue that does not exist, and its dead letter queue where it has one that does not exist either. */
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

  /** Ends a queue with everything in it. What it has blocked must have been answered before. */
  delete(queue: Queue): void {
    queue.deleted = true;
    this.#byName.delete(queue.name);
    this.#names = undefined;
    for (const subscription of queue.departed) freePlaces(queue, subscription);
    for (const subscription of queue.subscriptions) freePlaces(queue, subscription);
    if (queue.subscriptions.size > 0) this.#dormant.set(queue.name, queue.subscriptions);
    queue.releaseMessages();
    this.#step.stats.inFlightCount -= queue.inFlightCount;
    this.#step.stats.queuedBytes -= queue.heldBytes;
    this.#step.record({ kind: 'queueDeleted', generation: queue.generation });
  }

  /** Takes a subscription off a name that may have no queue now. */
  forgetDormant(subscription: Subscription): void {
    const dormant = this.#dormant.get(subscription.queueName);
    if (dormant === undefined) return;
    dormant.delete(subscription);
    if (dormant.size === 0) this.#dormant.delete(subscription.queueName);
  }

  /** A queue that a store had kept is there again. It was recorded in an earlier life. */
  restore(stored: StoredQueue): Queue {
    this.#lastGeneration = Math.max(this.#lastGeneration, stored.generation);
    return this.#add(stored);
  }

  #createAlone(name: string, options: QueueOptions): Queue {
    this.#lastGeneration += 1;
    const stored = { generation: this.#lastGeneration, name, options, createdWallAt: this.#step.wallNow };
    const queue = this.#add(stored);
    this.#step.record({ kind: 'queueCreated', ...stored });
    for (const subscription of this.#dormant.get(name) ?? []) {
      queue.subscriptions.add(subscription);
      queue.ready.refresh(subscription);
    }
    this.#dormant.delete(name);
    return queue;
  }

  #add({ name, options, ...born }: StoredQueue): Queue {
    const queue = new Queue(name, options, deliveryModeRules[options.mode], born);
    this.#byName.set(name, queue);
    this.#names = undefined;
    return queue;
  }
}

function freePlaces(queue: Queue, subscription: Subscription): void {
  subscription.connection.inFlightCount -= subscription.inFlightCount;
  subscription.inFlightCount = 0;
  subscription.copyCursor = undefined;
  queue.ready.remove(subscription);
}
