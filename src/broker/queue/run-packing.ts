// Packs the runs of all queues. The columns of a run that was unpacked serve the next one: new memory outside of the heap hastens garbage
// collections, and a long queue packs and unpacks all the time (docs/internals/performance.md).

import type { MessagePacking } from '../interface/message-packing.ts';

/** What is kept of each message of a run besides its content, in arrays of numbers. */
export type RunColumns = {
  readonly instants: Float64Array;
  readonly fields: Int32Array;
};

/** Numbers of each message in `instants` and in `fields`. */
export const [INSTANTS, FIELDS] = [2, 5] as const;

/** Runs of nearly the same length have columns of the same one. In messages. */
const LENGTH_STEP = 64;
/** Columns that wait for the next run. */
const MAX_FREE = 4;

export class RunPacking {
  readonly contentPacking: MessagePacking;
  #free: readonly RunColumns[] = [];

  constructor(contentPacking: MessagePacking) {
    this.contentPacking = contentPacking;
  }

  /** Columns for so many messages, or a few more. What they contain is of no meaning. */
  takeColumns(count: number): RunColumns {
    const length = Math.ceil(count / LENGTH_STEP) * LENGTH_STEP;
    const free = this.#free.find(({ instants }) => instants.length === INSTANTS * length);
    if (free === undefined)
      return { instants: new Float64Array(INSTANTS * length), fields: new Int32Array(FIELDS * length) };
    this.#free = this.#free.filter((columns) => columns !== free);
    return free;
  }

  /** They must not be used afterwards by whoever took them. Those that have waited for longest are forgotten. */
  leaveColumns(columns: RunColumns): void {
    this.#free = [...this.#free, columns].slice(-MAX_FREE);
  }
}
