// Tells the operator that a dead letter queue is full and loses messages: every queue at most once a second, with the number of messages since
// its last line, and at most ten queues a second. Implements DLQ-021.

import type { Environment } from '../../model/environment.ts';
import type { Logger } from '../../model/logger.ts';

const PAUSE_MS = 1000;
const MAX_LINES_AT_ONCE = 10;

export class EvictionLog {
  readonly #environment: Environment;
  readonly #logger: Logger;
  /** Evicted messages that no line has told of, by dead letter queue. */
  readonly #untold = new Map<string, number>();
  #cancelPause: (() => void) | undefined;

  constructor(environment: Environment, logger: Logger) {
    this.#environment = environment;
    this.#logger = logger;
  }

  /** Messages were evicted: their number, by dead letter queue. */
  add(evictions: ReadonlyMap<string, number>): void {
    for (const [queue, count] of evictions) this.#untold.set(queue, (this.#untold.get(queue) ?? 0) + count);
    if (this.#cancelPause === undefined) this.#tell();
  }

  /** Tells the rest at once; nothing is told later. */
  end(): void {
    this.#cancelPause?.();
    this.#write();
  }

  #tell(): void {
    this.#cancelPause = undefined;
    if (this.#untold.size === 0) return;
    this.#write();
    this.#cancelPause = this.#environment.scheduler.after(PAUSE_MS, () => this.#tell());
  }

  #write(): void {
    const counts = [...this.#untold];
    this.#untold.clear();
    for (const [queue, count] of counts.slice(0, MAX_LINES_AT_ONCE)) {
      this.#logger.warn('a full dead letter queue has lost its oldest messages', { queue, count });
    }
    const others = counts.slice(MAX_LINES_AT_ONCE);
    if (others.length === 0) return;
    const count = others.reduce((sum, [, one]) => sum + one, 0);
    this.#logger.warn('more full dead letter queues have lost their oldest messages', {
      queues: others.length,
      count,
    });
  }
}
