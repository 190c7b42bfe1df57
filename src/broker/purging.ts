// Takes everything that waits out of a queue. A long queue is emptied in slices, and the command is answered when the last one is
// done: what is published meanwhile stays, what is sent meanwhile has escaped. Messages in flight are left alone.
// Implements DASH (purge) and DELIVERY (what a purge must not touch).

import type { Input } from './interface/input.ts';
import type { Queue } from './queue.ts';
import type { Queues } from './queues.ts';
import type { Settlement } from './settlement.ts';
import type { StepContext } from './step-context.ts';
import type { Timers } from './timers.ts';

type PurgeInput = Extract<Input, { readonly kind: 'purgeQueue' }>;

/** A purge under way. */
export type Purge = {
  readonly input: PurgeInput;
  readonly queue: Queue;
  /** The youngest message that it is about. */
  readonly throughSequence: number;
};

export class Purging {
  readonly #step: StepContext;
  readonly #queues: Queues;
  readonly #timers: Timers;
  readonly #settlement: Settlement;
  readonly #underWay = new Set<Purge>();

  constructor(step: StepContext, queues: Queues, timers: Timers, settlement: Settlement) {
    this.#step = step;
    this.#queues = queues;
    this.#timers = timers;
    this.#settlement = settlement;
  }

  /** Begins a purge; at most `most` messages leave at once, the others from the next tick on. */
  begin(input: PurgeInput, most: number): void {
    const queue = this.#queues.get(input.queue);
    if (queue === undefined) {
      const text = `Queue ${input.queue} does not exist.`;
      return this.#step.refuse(input.connection, input.token, 'QUEUE_NOT_FOUND', text);
    }
    const purge = { input, queue, throughSequence: this.#step.lastSequence };
    this.#underWay.add(purge);
    this.goOn(purge, most);
  }

  /** Takes out at most `most` messages; tells how many. */
  goOn(purge: Purge, most: number): number {
    const { queue } = purge;
    let count = 0;
    for (let oldest = purgeable(purge); oldest !== undefined; oldest = purgeable(purge)) {
      if (count === most) {
        this.#timers.set(this.#step.now, { kind: 'purge', purge });
        return count;
      }
      this.#settlement.purge(queue, oldest);
      count += 1;
    }
    this.#underWay.delete(purge);
    const { connection, token } = purge.input;
    this.#step.effect({ kind: 'answered', connection, token });
    return count;
  }

  /** The broker is to end: what is left stays, and those who asked are told. */
  giveUp(text: string): void {
    for (const { input } of this.#underWay) {
      this.#step.refuse(input.connection, input.token, 'SHUTTING_DOWN', text);
    }
    this.#underWay.clear();
  }
}

function purgeable({ queue, throughSequence }: Purge) {
  if (queue.deleted) return undefined;
  const oldest = queue.oldestWaiting();
  return oldest === undefined || oldest.sequence > throughSequence ? undefined : oldest;
}
