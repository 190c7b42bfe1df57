// Purges: they remove every waiting message of a queue. A long queue is emptied in slices, and the command is answered with the last one:
// what is published meanwhile stays, and what is sent meanwhile is not removed. Messages in flight stay. Implements DELIVERY-005, DASH-018
// and DASH-019.

import type { TimerQueue } from './collections/timer-queue.ts';
import type { PurgeInput } from './input-kinds.ts';
import type { QueuedMessage } from './queue/message.ts';
import type { MessageLifecycle } from './queue/message-lifecycle.ts';
import type { Queue } from './queue/queue.ts';
import type { StepContext } from './queue/step-context.ts';
import { TimerRank } from './queue/timer-rank.ts';

/** A purge that is not finished. */
type Purge = {
  readonly input: PurgeInput;
  readonly queue: Queue;
  /** The youngest message that it removes. */
  readonly throughSequence: number;
};

export class Purges {
  readonly #step: StepContext;
  readonly #timers: TimerQueue;
  readonly #lifecycle: MessageLifecycle;
  readonly #unfinished = new Set<Purge>();

  constructor(step: StepContext, timers: TimerQueue, lifecycle: MessageLifecycle) {
    this.#step = step;
    this.#timers = timers;
    this.#lifecycle = lifecycle;
  }

  /** Begins a purge: removes at most `limit` messages now, and the others from the next tick on. */
  begin(input: PurgeInput, queue: Queue, limit: number): void {
    const purge = { input, queue, throughSequence: this.#step.lastSequence };
    this.#unfinished.add(purge);
    this.#continuePurge(purge, limit);
  }

  /** The broker shuts down: what is left stays, and those who asked are told. */
  cancelAll(text: string): void {
    for (const { input } of this.#unfinished) {
      this.#step.refuse(input.connection, input.token, 'SHUTTING_DOWN', text);
    }
    this.#unfinished.clear();
  }

  /** Removes at most `limit` messages; returns how many. */
  #continuePurge(purge: Purge, limit: number): number {
    let count = 0;
    for (let oldest = purgeable(purge); oldest !== undefined; oldest = purgeable(purge)) {
      if (count === limit) {
        this.#timers.set(this.#step.now, (more) => this.#continuePurge(purge, more), TimerRank.Ending);
        return count;
      }
      this.#lifecycle.purge(purge.queue, oldest);
      count += 1;
    }
    this.#unfinished.delete(purge);
    const { connection, token } = purge.input;
    this.#step.effect({ kind: 'answered', connection, token });
    return count;
  }
}

function purgeable({ queue, throughSequence }: Purge): QueuedMessage | undefined {
  if (queue.deleted) return undefined;
  const oldest = queue.oldestWaiting();
  return oldest === undefined || oldest.sequence > throughSequence ? undefined : oldest;
}
