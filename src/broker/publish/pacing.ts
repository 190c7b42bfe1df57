// Notices publishers that get ahead of the subscribers of a queue, so that less is read of them. Both are limited by the processor that they share
// with the broker, and whoever publishes is a little faster than whoever acknowledges. Without pacing the queue grows as long as both work at full
// speed, and each message costs twice as much, because it has to be kept (docs/internals/performance.md). Implements PUBLISH-024.

import type { Queue } from '../queue/queue.ts';
import type { StepContext } from '../queue/step-context.ts';
import type { Publisher } from './publisher.ts';

/**
 * More waiting messages than this are more than subscribers need to be busy while publishers are not read. Those that wait for some subscribers
 * only do not count: others acknowledge them in time, and one that never reads would slow everybody down.
 */
const MAX_WAITING = 1024;
/** The subscribers of a queue are busy for so long after each ack. Publishers do not wait for others: those would not become faster. */
const BUSY_MS = 5;
/** A publisher is ahead with the last of so many publishes in so many milliseconds. One that waits for each answer is slower. */
const MAX_PUBLISHES = 32;
const COUNTED_MS = 1;

export class Pacing {
  readonly #step: StepContext;

  constructor(step: StepContext) {
    this.#step = step;
  }

  /** A connection without subscriptions has published to the queue. What it reads of one with subscriptions may be the acks that are missing. */
  published(queue: Queue, publisher: Publisher): void {
    if (queue.waiting.size <= MAX_WAITING) return;
    const { now } = this.#step;
    if (now - queue.acknowledgedAt > BUSY_MS) return;
    if (now - publisher.aheadSince >= COUNTED_MS) {
      publisher.aheadSince = now;
      publisher.aheadCount = 0;
    }
    publisher.aheadCount += 1;
    if (publisher.aheadCount === MAX_PUBLISHES)
      this.#step.effect({ kind: 'ahead', connection: publisher.id });
  }
}
