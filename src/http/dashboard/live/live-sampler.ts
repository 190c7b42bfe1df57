// Looks at the broker once a second while the dashboard is on, and keeps the last 15 minutes, so that a page that is opened is not empty. Its timer
// does not keep the process alive (see the scheduler).

import type { Clock, Scheduler } from '../../../model/environment.ts';
import type { LiveView, ShownStatistics } from '../../broker-view.ts';
import type { MemorySample, MemorySampler } from '../../health/memory.ts';
import { latencyQuantile } from './latency-quantile.ts';
import type { Health, Point, Points } from './live-events.ts';
import { liveHealth } from './live-health.ts';
import { LiveQueues, type QueueChanges } from './live-queues.ts';
import { ratePerSecond } from './rates.ts';

const SAMPLE_INTERVAL_MS = 1_000;
/** Points that are kept: 15 minutes. */
export const MAX_POINTS = 900;

export type LiveSamplerOptions = {
  readonly view: LiveView;
  readonly sampleMemory: MemorySampler;
  readonly clock: Clock;
  readonly scheduler: Pick<Scheduler, 'after'>;
  /** Called when the broker could not be looked at; the next look is a second later. */
  readonly onFault: (error: unknown) => void;
};

type Reading = {
  readonly now: number;
  readonly stats: ShownStatistics;
  readonly memory: MemorySample;
  readonly isServing: boolean;
};

const noChanges: QueueChanges = { created: [], changed: [], removed: [] };

export class LiveSampler {
  readonly queues = new LiveQueues();
  readonly #options: LiveSamplerOptions;
  readonly #points: Point[] = [];
  #pointCount = 0;
  #last: Reading | undefined;
  #health: Health = { isHealthy: true, reasons: [] };
  #memoryLimitBytes = 0;
  #cancelTimer: () => void = () => undefined;

  constructor(options: LiveSamplerOptions) {
    this.#options = options;
  }

  /** Looks now, and then once a second; tells after each look what it has changed. */
  start(onSample: (changes: QueueChanges) => void): void {
    const look = (): void => {
      this.#cancelTimer = this.#options.scheduler.after(SAMPLE_INTERVAL_MS, look);
      try {
        onSample(this.#sample());
      } catch (error) {
        this.#options.onFault(error);
      }
    };
    look();
  }

  close(): void {
    this.#cancelTimer();
  }

  get health(): Health {
    return this.#health;
  }

  get memoryLimitBytes(): number {
    return this.#memoryLimitBytes;
  }

  /** Points that there ever were. */
  get pointCount(): number {
    return this.#pointCount;
  }

  /** The newest points, oldest first; `count` from 0 to {@link MAX_POINTS}. */
  newestPoints(count: number): readonly Point[] {
    return this.#points.slice(this.#points.length - Math.min(count, this.#points.length));
  }

  /** All points, field by field. */
  points(): Points {
    const all = this.#points;
    return {
      at: all.map((point) => point.at),
      publishedRate: all.map((point) => point.publishedRate),
      deliveredRate: all.map((point) => point.deliveredRate),
      acknowledgedRate: all.map((point) => point.acknowledgedRate),
      errorRate: all.map((point) => point.errorRate),
      waitingCount: all.map((point) => point.waitingCount),
      inFlightCount: all.map((point) => point.inFlightCount),
      latencyP50Ms: all.map((point) => point.latencyP50Ms),
      latencyP99Ms: all.map((point) => point.latencyP99Ms),
      memoryBytes: all.map((point) => point.memoryBytes),
      connectionCount: all.map((point) => point.connectionCount),
    };
  }

  #sample(): QueueChanges {
    const { view, sampleMemory, clock } = this.#options;
    const [now, at] = [clock.now(), clock.wallNow()];
    const figures = view.queueFigures();
    const reading = { now, stats: view.stats(), memory: sampleMemory(), isServing: figures !== undefined };
    const changes = figures === undefined ? noChanges : this.queues.sample(figures, now, at);
    this.#health = liveHealth(reading.memory, view.readiness());
    this.#memoryLimitBytes = reading.memory.residentLimitBytes;
    this.#addPoint(pointOf(at, reading, this.#last ?? reading, this.queues.waitingCount));
    this.#last = reading;
    return changes;
  }

  #addPoint(point: Point): void {
    this.#points.push(point);
    if (this.#points.length > MAX_POINTS) this.#points.shift();
    this.#pointCount += 1;
  }
}

function pointOf(at: number, reading: Reading, before: Reading, waitingCount: number): Point {
  const { stats, memory } = reading;
  // A broker that begins to serve takes up the counts of its last life: they did not rise in this second.
  const last = reading.isServing === before.isServing ? before : { ...reading, now: before.now };
  const rate = (field: 'publishedCount' | 'deliveredCount' | 'acknowledgedCount' | 'errorsCount'): number =>
    ratePerSecond(stats[field] - last.stats[field], reading.now - last.now);
  return {
    at,
    publishedRate: rate('publishedCount'),
    deliveredRate: rate('deliveredCount'),
    acknowledgedRate: rate('acknowledgedCount'),
    errorRate: rate('errorsCount'),
    waitingCount,
    inFlightCount: stats.inFlightCount,
    latencyP50Ms: latencyMs(last.stats, stats, 0.5),
    latencyP99Ms: latencyMs(last.stats, stats, 0.99),
    memoryBytes: memory.residentBytes,
    connectionCount: stats.activeConnectionCount,
  };
}

/** To a hundredth of a millisecond. */
function latencyMs(earlier: ShownStatistics, later: ShownStatistics, share: number): number | null {
  const quantileMs = latencyQuantile(earlier.deliveryLatency, later.deliveryLatency, share);
  return quantileMs === null ? null : Math.round(quantileMs * 100) / 100;
}
