// The port to the part of the broker that keeps the queues. The gateway submits inputs and receives effects; it does not know whether the
// queues live in this process. A backend may answer at once or much later, but keeps the order: the effects for a connection come in the
// order of the inputs that they answer, unless the specification lets an answer wait (BlockPublisher). A second backend is a folder beside
// `local/` and one line in the composition root.

import type { Effect } from '../broker/interface/effect.ts';
import type { Input } from '../broker/interface/input.ts';
import type { BrokerStats } from '../broker/interface/stats.ts';
import type { LargestQueues, QueueFigures, QueueInfo, SubscriberFigures } from '../model/queue-info.ts';

export type BackendState =
  /** Started or not, and not serving yet. */
  | { readonly kind: 'recovering' }
  | { readonly kind: 'serving' }
  /** The `drain` input was submitted while it served: acks are still processed, other commands are refused. */
  | { readonly kind: 'draining' }
  /** Out of service until it has recovered. `reason` is for people. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'closed' };

/** Receives what a backend produces. Its methods must not throw. */
export type BackendReceiver = {
  /**
   * Carry these out now, in this order: what they say is durable. Effects for unknown connections are to be ignored. When the call returns,
   * `writable` was submitted for each connection that takes no more: a backend that begins a new burst earlier exceeds maxOutboundBytes.
   */
  effects(effects: readonly Effect[]): void;
  /**
   * These inputs, in the order of their submission, have left the backend's queue of inputs. Inputs of the backend's own, such as ticks,
   * may be among them. Inputs that were dropped by a failure or by `close` are never reported.
   */
  processed(inputs: readonly Input[]): void;
  /**
   * The state has changed. After `failed` the backend has forgotten all connections; publishes whose commit is unknown, and those that
   * never reached the queues, were refused with STORAGE_ERROR before.
   */
  stateChanged(state: BackendState): void;
};

/** Times from acceptance to the write of the first Deliver. */
export type LatencyHistogram = {
  /** The upper bounds of the buckets, both included and rising, in milliseconds. The last bucket has none. */
  readonly boundsMs: readonly number[];
  /** How many times are in each bucket; one more than there are bounds. */
  readonly counts: readonly number[];
  readonly sumMs: number;
};

/** The core's counters and gauges, and what the backend measures itself. Counters never fall while the backend exists (METRICS-007). */
export type BackendStatistics = Readonly<BrokerStats> & {
  /** Mean time from acceptance to the write of the first Deliver, in milliseconds; 0 before the first (METRICS-015). */
  readonly averageDeliveryLatencyMs: number;
  readonly deliveryLatency: LatencyHistogram;
  readonly queueCount: number;
};

export type Backend = {
  readonly state: BackendState;

  /**
   * Recovers and serves; everything that it produces goes to `receiver`. Called once. Rejects with the error that prevented it, or with
   * {@link StartCancelled} when the backend is closed before it serves; it is closed then.
   */
  start(receiver: BackendReceiver): Promise<void>;

  /** Hands over an input. Dropped, without an answer, unless the state is `serving` or `draining`. Effects never come within the call. */
  submit(input: Input): void;

  /**
   * Snapshot of a queue; undefined if no queue has that name. A backend whose queues are elsewhere gives the last snapshot that came from
   * there, and undefined before the first. The input `queueInfo` is always answered with the queue as it is.
   */
  queueInfo(name: string): QueueInfo | undefined;

  /** Snapshot of at most `limit` queues, as {@link queueInfo} gives it; undefined while the backend does not serve, and before the first. */
  largestQueues(limit: number): LargestQueues | undefined;

  /**
   * Snapshot of all queues, in the order of their creation, as {@link queueInfo} gives it; undefined while the backend does not serve, and
   * before the first. Ids and counters go on over a failure.
   */
  queueFigures(): readonly QueueFigures[] | undefined;

  /**
   * Snapshot of at most `limit` subscriptions of a queue, in the order in which they were made, as {@link queueInfo} gives it: none if no
   * queue has that name; undefined while the backend does not serve, and before the first.
   */
  subscriberFigures(queue: string, limit: number): readonly SubscriberFigures[] | undefined;

  /** How long the last commit took, in milliseconds; 0 before the first, and while the backend does not serve. */
  readonly commitMs: number;

  /** As of the last effects or later. */
  statistics(): BackendStatistics;

  /**
   * Ends the backend: drops unprocessed inputs, cancels a recovery. The state is `closed` when the call returns, and the receiver is not
   * called after that. Resolves when everything that was answered is safe and nothing runs any more; rejects when that fails. Later calls
   * return the promise of the first.
   */
  close(): Promise<void>;
};

/** The backend was closed before it served. */
export class StartCancelled extends Error {
  override readonly name = 'StartCancelled';

  constructor() {
    super('The broker was stopped while it started.');
  }
}
