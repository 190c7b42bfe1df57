// A backend whose queues are elsewhere: sends every input to a remote backend over a delayed line, and gets everything that this one
// produces back over another, later and in order. Shows that the port suffices for a backend on other machines. The two ends call each
// other only over a line; the near end's snapshots and statistics are those of the last report.

import {
  type Backend,
  type BackendReceiver,
  type BackendState,
  type BackendStatistics,
  StartCancelled,
} from '../backend/backend.ts';
import type { Effect, RefusedEffect } from '../broker/interface/effect.ts';
import type { Input } from '../broker/interface/input.ts';
import { emptyStats } from '../broker/interface/stats.ts';
import type { Environment } from '../model/environment.ts';
import type { LargestQueues, QueueFigures, QueueInfo, SubscriberFigures } from '../model/queue-info.ts';
import { DelayedLine, type LineDelays } from './delayed-line.ts';

export type DelayedBackendParts = LineDelays & {
  readonly environment: Environment;
  /** The remote backend, which has the queues. */
  readonly remote: Backend;
};

export class DelayedBackend implements Backend {
  /** Inputs do not wait for commits at this end. */
  readonly commitMs = 0;
  readonly #there: DelayedLine;
  readonly #back: DelayedLine;
  readonly #farEnd: FarEnd;
  #receiver: BackendReceiver | undefined;
  #state: BackendState = { kind: 'recovering' };
  /** The life of the far end that new inputs are for. */
  #life = 0;
  /** Submitted in this life and not reported as processed, in order. */
  #unprocessed: Input[] = [];
  #processedCount = 0;
  #statistics: BackendStatistics = {
    ...emptyStats(),
    queueCount: 0,
    averageDeliveryLatencyMs: 0,
    deliveryLatency: { boundsMs: [], counts: [0], sumMs: 0 },
  };
  /** Snapshots of the requested queues. */
  #queues: ReadonlyMap<string, QueueInfo | undefined> = new Map();
  #largest: LargestQueues | undefined;
  #figures: readonly QueueFigures[] | undefined;
  /** Snapshots of the subscriptions of the requested queues. */
  #subscribers: ReadonlyMap<string, readonly SubscriberFigures[] | undefined> = new Map();
  #closing: Promise<void> | undefined;

  constructor({ environment, remote, ...delays }: DelayedBackendParts) {
    this.#there = new DelayedLine(environment, delays);
    this.#back = new DelayedLine(environment, { ...delays, seed: delays.seed + 1 });
    this.#farEnd = new FarEnd(remote, (report) => this.#back.send(() => this.#take(report)));
  }

  get state(): BackendState {
    return this.#state;
  }

  /** Whether anything is in transit, in either direction. */
  get isBusy(): boolean {
    return this.#there.length + this.#back.length > 0;
  }

  async start(receiver: BackendReceiver): Promise<void> {
    this.#receiver = receiver;
    await this.#call(() => this.#farEnd.start());
    // The far end may have begun to serve while the close was on its way.
    if (this.#life === 0) throw new StartCancelled();
  }

  submit(input: Input): void {
    if (!isInService(this.#state)) return;
    const life = this.#life;
    this.#unprocessed.push(input);
    this.#there.send(() => this.#farEnd.submit(input, life));
    if (input.kind === 'drain') this.#moveTo({ kind: 'draining' });
  }

  /** Undefined at the first request: the answer is in transit. */
  queueInfo(name: string): QueueInfo | undefined {
    if (!this.#queues.has(name) && isInService(this.#state)) {
      this.#queues = new Map([...this.#queues, [name, undefined]]);
      this.#there.send(() => this.#farEnd.watch(name));
    }
    return this.#queues.get(name);
  }

  /** Undefined at the first request, as `queueInfo`. */
  largestQueues(limit: number): LargestQueues | undefined {
    if (isInService(this.#state)) this.#there.send(() => this.#farEnd.watchLargest(limit));
    return this.#largest;
  }

  /** Undefined at the first request, as `queueInfo`. */
  queueFigures(): readonly QueueFigures[] | undefined {
    if (isInService(this.#state)) this.#there.send(() => this.#farEnd.watchFigures());
    return this.#figures;
  }

  /** Undefined at the first request, as `queueInfo`. */
  subscriberFigures(queue: string, limit: number): readonly SubscriberFigures[] | undefined {
    if (isInService(this.#state)) this.#there.send(() => this.#farEnd.watchSubscribers(queue, limit));
    return this.#subscribers.get(queue);
  }

  statistics(): BackendStatistics {
    return this.#statistics;
  }

  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = this.#call(() => this.#farEnd.close());
      this.#moveTo({ kind: 'closed' });
    }
    return this.#closing;
  }

  /** The result is sent back too, behind all earlier effects. */
  #call(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#there.send(() =>
        work().then(
          () => this.#back.send(resolve),
          (error: unknown) => this.#back.send(() => reject(error)),
        ),
      );
    });
  }

  #take({ news, statistics, queues, largest, figures, subscribers }: Report): void {
    this.#largest = largest;
    this.#figures = figures;
    this.#subscribers = subscribers;
    this.#statistics = statistics;
    this.#queues = new Map([...this.#queues, ...queues]);
    if (this.#state.kind === 'closed') return;
    switch (news.kind) {
      case 'effects':
        return this.#receiver?.effects(news.effects);
      case 'processed':
        this.#processedCount += news.count;
        return this.#receiver?.processed(this.#unprocessed.splice(0, news.count));
      case 'serving':
        return this.#begin(news.life);
      case 'failed':
        return this.#end(news);
      case 'state':
        return this.#moveTo(news.state);
      case 'snapshots':
        return;
    }
  }

  #begin(life: number): void {
    this.#life = life;
    this.#processedCount = 0;
    this.#moveTo({ kind: 'serving' });
  }

  /** Refuses the publishes that had not arrived at the far end: only the near end can answer them. */
  #end({ state, submittedCount }: Extract<News, { readonly kind: 'failed' }>): void {
    const lost = this.#unprocessed.slice(submittedCount - this.#processedCount);
    this.#unprocessed = [];
    const refusals = lost.flatMap(refusalOf);
    if (refusals.length > 0) this.#receiver?.effects(refusals);
    this.#moveTo(state);
  }

  #moveTo(state: BackendState): void {
    if (state.kind === this.#state.kind) return;
    this.#state = state;
    this.#receiver?.stateChanged(state);
  }
}

/** The reports of the far end, in order. */
type News =
  | { readonly kind: 'effects'; readonly effects: readonly Effect[] }
  /** The next `count` inputs of this life. */
  | { readonly kind: 'processed'; readonly count: number }
  | { readonly kind: 'serving'; readonly life: number }
  /** `submittedCount`: the inputs of this life that had arrived. Their publishers have been answered. */
  | { readonly kind: 'failed'; readonly state: BackendState; readonly submittedCount: number }
  | { readonly kind: 'state'; readonly state: BackendState }
  | { readonly kind: 'snapshots' };

type Report = {
  readonly news: News;
  readonly statistics: BackendStatistics;
  readonly queues: ReadonlyMap<string, QueueInfo | undefined>;
  readonly largest: LargestQueues | undefined;
  readonly figures: readonly QueueFigures[] | undefined;
  readonly subscribers: ReadonlyMap<string, readonly SubscriberFigures[] | undefined>;
};

/** The far end: submits inputs to the remote backend and reports everything that it produces. */
class FarEnd {
  readonly #remote: Backend;
  readonly #report: (report: Report) => void;
  readonly #watched = new Set<string>();
  #watchedCount = 0;
  #watchesFigures = false;
  /** By queue, how many of its subscriptions are requested. */
  readonly #watchedSubscribers = new Map<string, number>();
  /** The number of times that the remote backend began to serve. */
  #life = 0;
  #submittedCount = 0;
  /** Submitted in this life and not processed. */
  readonly #unprocessed = new Set<Input>();

  constructor(remote: Backend, report: (report: Report) => void) {
    this.#remote = remote;
    this.#report = report;
  }

  start(): Promise<void> {
    return this.#remote.start({
      effects: (effects) => this.#tell({ kind: 'effects', effects }),
      processed: (inputs) => this.#processed(inputs),
      stateChanged: (state) => this.#stateChanged(state),
    });
  }

  /** Drops an input for an earlier life. The near end answers it when it learns that this life has ended. */
  submit(input: Input, life: number): void {
    if (life !== this.#life) return;
    this.#submittedCount += 1;
    this.#unprocessed.add(input);
    this.#remote.submit(input);
  }

  watch(name: string): void {
    this.#watched.add(name);
    this.#tell({ kind: 'snapshots' });
  }

  watchLargest(limit: number): void {
    this.#watchedCount = limit;
    this.#tell({ kind: 'snapshots' });
  }

  watchFigures(): void {
    this.#watchesFigures = true;
    this.#tell({ kind: 'snapshots' });
  }

  watchSubscribers(queue: string, limit: number): void {
    this.#watchedSubscribers.set(queue, limit);
    this.#tell({ kind: 'snapshots' });
  }

  close(): Promise<void> {
    return this.#remote.close();
  }

  /** The remote backend may report its own inputs, such as ticks. They are not sent back, but their effects are. */
  #processed(inputs: readonly Input[]): void {
    let count = 0;
    for (const input of inputs) if (this.#unprocessed.delete(input)) count += 1;
    this.#tell({ kind: 'processed', count });
  }

  #stateChanged(state: BackendState): void {
    switch (state.kind) {
      case 'serving':
        this.#life += 1;
        this.#submittedCount = 0;
        this.#unprocessed.clear();
        return this.#tell({ kind: 'serving', life: this.#life });
      case 'failed':
        return this.#tell({ kind: 'failed', state, submittedCount: this.#submittedCount });
      default:
        return this.#tell({ kind: 'state', state });
    }
  }

  #tell(news: News): void {
    const queues = new Map([...this.#watched].map((name) => [name, this.#remote.queueInfo(name)]));
    const largest = this.#watchedCount === 0 ? undefined : this.#remote.largestQueues(this.#watchedCount);
    const figures = this.#watchesFigures ? this.#remote.queueFigures() : undefined;
    const subscribersOf = ([queue, limit]: [string, number]) =>
      [queue, this.#remote.subscriberFigures(queue, limit)] as const;
    const subscribers = new Map([...this.#watchedSubscribers].map(subscribersOf));
    this.#report({ news, statistics: this.#remote.statistics(), queues, largest, figures, subscribers });
  }
}

function isInService({ kind }: BackendState): boolean {
  return kind === 'serving' || kind === 'draining';
}

function refusalOf(input: Input): readonly RefusedEffect[] {
  if (input.kind !== 'publish') return [];
  const { connection, token } = input;
  const text = 'The broker failed before the message reached it.';
  return [{ kind: 'refused', connection, token, code: 'STORAGE_ERROR', text }];
}
