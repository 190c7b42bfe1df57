// Builds the state of a new core from what a store had kept: queues, then messages, each in the order of their creation. Records nothing,
// answers nothing and sends nothing. Throws for what a store cannot have kept: a damaged store must not be served.
// Implements DURABLE-003, DURABLE-008 to DURABLE-012 and TTL-004.

import type { Core } from './core.ts';
import type { QueueCounts } from './interface/earlier-core.ts';
import type { MessageContent } from './interface/message-content.ts';
import type { Generation, RecoveredRecord } from './interface/store-record.ts';
import type { MessageLifecycle } from './queue/message-lifecycle.ts';
import type { Queue } from './queue/queue.ts';
import type { Queues } from './queue/queues.ts';
import type { StepContext } from './queue/step-context.ts';

type RecoveredQueue = {
  readonly queue: Queue;
  /** When its youngest message was accepted, on the monotonic clock. */
  youngestAt: number;
};

type RecoveredMessage = Extract<RecoveredRecord<MessageContent>, { readonly kind: 'message' }>;

export class Recovery {
  readonly #step: StepContext;
  readonly #queues: Queues;
  readonly #lifecycle: MessageLifecycle;
  readonly #byGeneration = new Map<Generation, RecoveredQueue>();
  /** The counters of the queues of the core before this one. */
  readonly #earlierCounts: ReadonlyMap<Generation, QueueCounts>;

  constructor(
    { step, queues, lifecycle }: Pick<Core, 'step' | 'queues' | 'lifecycle'>,
    earlierCounts: readonly QueueCounts[],
  ) {
    this.#step = step;
    this.#queues = queues;
    this.#lifecycle = lifecycle;
    this.#earlierCounts = new Map(earlierCounts.map((counts) => [counts.id, counts]));
  }

  /** Takes up one record. Throws when it contradicts an earlier one. */
  take(record: RecoveredRecord<MessageContent>): void {
    if (record.kind === 'queue') this.#takeQueue(record);
    else this.#takeMessage(record);
  }

  #takeQueue({
    kind: _,
    ...stored
  }: Extract<RecoveredRecord<MessageContent>, { readonly kind: 'queue' }>): void {
    if (this.#byGeneration.has(stored.generation) || this.#queues.get(stored.name) !== undefined) {
      throw new Error(`Queue ${stored.name} (generation ${stored.generation}) is stored twice.`);
    }
    const queue = this.#queues.restore(stored);
    const counts = this.#earlierCounts.get(stored.generation);
    if (counts !== undefined) queue.continueCounts(counts);
    this.#byGeneration.set(stored.generation, { queue, youngestAt: Number.NEGATIVE_INFINITY });
  }

  #takeMessage(stored: RecoveredMessage): void {
    const { id, generation, sequence } = stored;
    const home = this.#byGeneration.get(generation);
    if (home === undefined) throw new Error(`Message ${id} is stored without its queue (${generation}).`);
    if (sequence <= this.#step.lastSequence) throw new Error(`Message ${id} is stored out of order.`);
    home.youngestAt = Math.max(home.youngestAt, this.#monotonic(stored.acceptedWallAt));
    if (!this.#lifecycle.restore(home.queue, stored, home.youngestAt)) {
      throw new Error(`Message ${id} is stored twice in queue ${home.queue.name}.`);
    }
  }

  /**
   * An instant of the wall clock on the monotonic one. The wall clock may have been set meanwhile: nothing is younger than now,
   * nor (see above) older than what was accepted before it, on which the expiry of a queue relies.
   */
  #monotonic(wallAt: number): number {
    return this.#step.now - Math.max(0, this.#step.wallNow - wallAt);
  }
}
