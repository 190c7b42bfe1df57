// The queues as the live streams show them: what the last sample said of each, its rates, and its history. Says after each sample which queues are new,
// changed and gone. 10,000 queues are sampled in a few milliseconds.

import type { QueueFigures } from '../../../model/queue-info.ts';
import { LiveQueue } from './live-queue.ts';
import { HistoryClock, HistoryPool } from './queue-history.ts';

/** Samples from one column of the histories to the next: 15 seconds. */
const SAMPLES_PER_COLUMN = 15;

/** What a sample changed, by the ids of the queues. */
export type QueueChanges = {
  readonly created: readonly number[];
  readonly changed: readonly number[];
  readonly removed: readonly number[];
};

export class LiveQueues {
  readonly #queues = new Map<number, LiveQueue>();
  readonly #clock = new HistoryClock();
  readonly #histories = new HistoryPool();
  #sampleCount = 0;
  #waitingCount = 0;
  /** When the last sample was taken; undefined before the first one. */
  #sampledAt: number | undefined;
  /** When the last column was added; undefined before the first one. */
  #columnAt: number | undefined;

  /** Messages that wait in all queues together. */
  get waitingCount(): number {
    return this.#waitingCount;
  }

  ids(): readonly number[] {
    return [...this.#queues.keys()];
  }

  get(id: number): LiveQueue | undefined {
    return this.#queues.get(id);
  }

  /** Linear: for the one queue that a stream watches. */
  named(name: string): LiveQueue | undefined {
    for (const queue of this.#queues.values()) if (queue.name === name) return queue;
    return undefined;
  }

  /** `now`: milliseconds that never go back; `at`: the same moment since 1970. */
  sample(figures: readonly QueueFigures[], now: number, at: number): QueueChanges {
    const elapsedMs = this.#sampledAt === undefined ? 0 : now - this.#sampledAt;
    const changes = { created: [] as number[], changed: [] as number[], removed: [] as number[] };
    this.#sampleCount += 1;
    this.#waitingCount = 0;
    for (const one of figures) {
      this.#waitingCount += one.messageCount;
      const list = this.#sampleQueue(one, now, elapsedMs);
      if (list !== undefined) changes[list].push(one.id);
    }
    if (this.#queues.size > figures.length) this.#removeUnseen(changes.removed);
    this.#sampledAt = now;
    if (this.#sampleCount % SAMPLES_PER_COLUMN === 1) this.#addColumn(now, at);
    return changes;
  }

  #sampleQueue(figures: QueueFigures, now: number, elapsedMs: number): 'created' | 'changed' | undefined {
    const known = this.#queues.get(figures.id);
    if (known !== undefined)
      return known.sample(figures, { now, elapsedMs, sampleNumber: this.#sampleCount })
        ? 'changed'
        : undefined;
    const queue = new LiveQueue(figures, this.#clock);
    queue.sample(figures, { now, elapsedMs, sampleNumber: this.#sampleCount });
    this.#queues.set(figures.id, queue);
    return 'created';
  }

  #removeUnseen(removed: number[]): void {
    for (const [id, queue] of this.#queues) {
      if (queue.sampleNumber === this.#sampleCount) continue;
      this.#queues.delete(id);
      if (queue.ownHistory !== undefined) this.#histories.release(queue.ownHistory);
      removed.push(id);
    }
  }

  #addColumn(now: number, at: number): void {
    this.#clock.advance(at);
    const elapsedMs = now - (this.#columnAt ?? now);
    for (const queue of this.#queues.values()) queue.record(elapsedMs, this.#histories);
    this.#columnAt = now;
  }
}
