// A broker that a test sets: what the live stream of the dashboard looks at, with figures of queues that are changed by hand.

import type { LiveView, ShownStatistics } from '../http/broker-view.ts';
import type { MemorySample } from '../http/health/memory.ts';
import type { QueueFigures, SubscriberFigures } from '../model/queue-info.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import { shownStatistics } from './shown-statistics.ts';

const MIB = 1024 * 1024;

export class TestedLiveView implements LiveView {
  statistics: ShownStatistics = shownStatistics;
  memory: MemorySample = {
    residentBytes: 52 * MIB,
    residentLimitBytes: 512 * MIB,
    heapUsedBytes: 10 * MIB,
    heapLimitBytes: 1000 * MIB,
  };
  subscribers: readonly SubscriberFigures[] = [];
  /** Why it does not serve; undefined: it does. */
  notReady: string | undefined;
  readonly #queues = new Map<number, QueueFigures>();

  stats(): ShownStatistics {
    return this.statistics;
  }

  readiness() {
    return this.notReady === undefined
      ? ({ ready: true } as const)
      : ({ ready: false, reason: this.notReady } as const);
  }

  queueFigures(): readonly QueueFigures[] | undefined {
    return this.notReady === undefined ? [...this.#queues.values()] : undefined;
  }

  subscriberFigures(queue: string, limit: number): readonly SubscriberFigures[] {
    return [...this.#queues.values()].some(({ name }) => name === queue)
      ? this.subscribers.slice(0, limit)
      : [];
  }

  /** Creates the queue, named `q<id>` unless told otherwise, or changes these figures of it. */
  set(id: number, changed: Partial<QueueFigures> = {}): void {
    this.#queues.set(id, { ...(this.#queues.get(id) ?? emptyQueue(id)), ...changed });
  }

  delete(id: number): void {
    this.#queues.delete(id);
  }
}

function emptyQueue(id: number): QueueFigures {
  return {
    id,
    name: `q${id}`,
    messageCount: 0,
    subscriberCount: 0,
    createdWallAt: 1_000,
    options: defaultQueueOptions,
    inFlightCount: 0,
    enteredCount: 0,
    deliveredCount: 0,
    acknowledgedCount: 0,
    deadLetterCount: 0,
    oldestWallAt: undefined,
  };
}
