// One live stream: a snapshot, then every second what has changed. It holds at most one piece of text that the client has not taken; what changes
// meanwhile is remembered by the ids of the queues, and read when it is sent. Types of the events: live-events.ts.

import type { LiveView } from '../../broker-view.ts';
import type {
  Change,
  Point,
  QueueFacts,
  QueueValues,
  Snapshot,
  SubscriberValues,
  TcpAddress,
} from './live-events.ts';
import type { LiveQueue } from './live-queue.ts';
import type { QueueChanges } from './live-queues.ts';
import type { LiveSampler } from './live-sampler.ts';

/** Facts and values of queues in one change end with the queue that makes their text longer than this. */
const MAX_CHANGE_LENGTH = 20_000;
/** Queues in one piece of a snapshot: it is made in pieces, beside the deliveries, and only as fast as the client reads. */
const QUEUES_PER_PIECE = 100;
/** A client that has missed more points than this gets a snapshot; one that has missed fewer gets them with the next change. */
const MAX_MISSED_POINTS = 30;
const MAX_SUBSCRIBERS = 100;
/** An EventSource connects again after this time. */
const RETRY_MS = 1_000;

export type LiveStreamOptions = {
  readonly sampler: LiveSampler;
  readonly view: Pick<LiveView, 'subscriberFigures'>;
  readonly wallNow: () => number;
  readonly serverVersion: string;
  readonly asksForCredentials: boolean;
  /** Where clients connect; undefined while they cannot. */
  readonly tcp: () => TcpAddress | undefined;
  /** The name of the queue to watch. */
  readonly watched: string | undefined;
  /** Called once, when the client has gone. */
  readonly onCancel: () => void;
};

type Controller = ReadableStreamDefaultController<Uint8Array>;

export class LiveStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: LiveStreamOptions;
  readonly #encoder = new TextEncoder();
  /** The rest of a snapshot that is being sent. */
  #snapshot: Iterator<string> | undefined;
  /** Queues that the client does not know. */
  #unknown = new Set<number>();
  /** Queues whose values the client does not have, those that have waited longest first. */
  #pending = new Set<number>();
  /** Queues that the client knows and that are gone. */
  #removed: number[] = [];
  /** Points that the client has, of all that there ever were. */
  #sentPointCount = 0;
  #controller: Controller | undefined;

  constructor(options: LiveStreamOptions) {
    this.#options = options;
    this.#beginSnapshot();
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#sendPiece(),
        cancel: () => {
          this.#controller = undefined;
          options.onCancel();
        },
      },
      { highWaterMark: 1 },
    );
  }

  /** Sends what the sample has changed, or remembers it until the client reads again. */
  sampled(changes: QueueChanges): void {
    this.#remember(changes);
    if (this.#snapshot !== undefined || !this.#canSend()) return;
    const { sampler } = this.#options;
    const missedCount = sampler.pointCount - this.#sentPointCount;
    if (missedCount > MAX_MISSED_POINTS) {
      this.#beginSnapshot();
      this.#sendPiece();
    } else if (missedCount > 0) this.#send(this.#changeEvents(sampler.newestPoints(missedCount)));
  }

  /** Ends the stream after what the client has not taken yet. */
  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  #remember({ created, changed, removed }: QueueChanges): void {
    for (const id of created) {
      this.#unknown.add(id);
      this.#pending.add(id);
    }
    for (const id of changed) this.#pending.add(id);
    for (const id of removed) {
      this.#pending.delete(id);
      if (!this.#unknown.delete(id)) this.#removed.push(id);
    }
  }

  #canSend(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0;
  }

  #send(text: string): void {
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  #beginSnapshot(): void {
    const ids = this.#options.sampler.queues.ids();
    this.#unknown = new Set(ids);
    this.#pending = new Set();
    this.#removed = [];
    this.#snapshot = this.#snapshotPieces(ids);
  }

  #sendPiece(): void {
    if (this.#snapshot === undefined || this.#controller === undefined) return;
    const { done, value } = this.#snapshot.next();
    if (done === true) this.#snapshot = undefined;
    else this.#send(value);
  }

  /** Queues first, points last: so no point is missed while a long list of queues is sent. */
  *#snapshotPieces(ids: readonly number[]): Generator<string, void> {
    yield `retry: ${RETRY_MS}\nevent: snapshot\ndata: {"queues":[`;
    yield* this.#listPieces(ids, (queue) => {
      this.#unknown.delete(queue.id);
      return queue.facts();
    });
    yield '],"values":[';
    yield* this.#listPieces(ids, (queue) => {
      if (this.#unknown.has(queue.id)) return undefined;
      this.#pending.delete(queue.id);
      return queue.values();
    });
    const rest = JSON.stringify(this.#snapshotRest());
    this.#snapshot = undefined;
    yield `],${rest.slice(1)}\n\n`;
  }

  /** The elements of a JSON list, in pieces; a queue that is gone, or has no element, is left out. */
  *#listPieces(
    ids: readonly number[],
    elementOf: (queue: LiveQueue) => QueueFacts | QueueValues | undefined,
  ): Generator<string, void> {
    let comma = '';
    for (let from = 0; from < ids.length; from += QUEUES_PER_PIECE) {
      const elements = ids.slice(from, from + QUEUES_PER_PIECE).flatMap((id) => {
        const queue = this.#options.sampler.queues.get(id);
        const element = queue && elementOf(queue);
        return element === undefined ? [] : [JSON.stringify(element)];
      });
      if (elements.length === 0) continue;
      yield comma + elements.join(',');
      comma = ',';
    }
  }

  #snapshotRest(): Omit<Snapshot, 'queues' | 'values'> {
    const { sampler, wallNow, serverVersion, asksForCredentials } = this.#options;
    const queue = this.#watchedQueue();
    const tcp = this.#options.tcp();
    this.#sentPointCount = sampler.pointCount;
    return {
      serverVersion,
      now: wallNow(),
      memoryLimitBytes: sampler.memoryLimitBytes,
      asksForCredentials,
      ...(tcp && { tcp: { port: tcp.port, tls: tcp.tls } }),
      health: sampler.health,
      points: sampler.points(),
      ...(queue && { watched: { ...this.#watchedWithSubscribers(queue), history: queue.history() } }),
    };
  }

  /** One event for each point; the last one has all that has changed. */
  #changeEvents(points: readonly Point[]): string {
    this.#sentPointCount = this.#options.sampler.pointCount;
    return points
      .map((point, index) => {
        const queues = index === points.length - 1 ? this.#takeQueues() : { values: [] };
        const { health } = this.#options.sampler;
        const change: Change = { now: this.#options.wallNow(), health, point, ...queues };
        return `event: change\ndata: ${JSON.stringify(change)}\n\n`;
      })
      .join('');
  }

  #takeQueues(): Pick<Change, 'created' | 'values' | 'removed' | 'watched'> {
    const watched = this.#watchedQueue();
    const removed = this.#removed;
    this.#removed = [];
    const { created, values } = this.#takePending(watched);
    return {
      ...(created.length > 0 && { created }),
      values,
      ...(removed.length > 0 && { removed }),
      ...(watched && { watched: this.#watchedWithSubscribers(watched) }),
    };
  }

  /** The watched queue, then those that have waited longest, up to the length of one change. */
  #takePending(watched: LiveQueue | undefined): { created: QueueFacts[]; values: QueueValues[] } {
    const created: QueueFacts[] = [];
    const values: QueueValues[] = [];
    let length = 0;
    const take = (queue: LiveQueue): void => {
      const isNew = this.#unknown.delete(queue.id);
      this.#pending.delete(queue.id);
      const facts = isNew ? queue.facts() : undefined;
      if (facts !== undefined) created.push(facts);
      const ofQueue = queue.values();
      values.push(ofQueue);
      length += JSON.stringify(ofQueue).length + (facts === undefined ? 0 : JSON.stringify(facts).length);
    };
    if (watched !== undefined && this.#pending.has(watched.id)) take(watched);
    for (const id of this.#pending) {
      if (length >= MAX_CHANGE_LENGTH) break;
      const queue = this.#options.sampler.queues.get(id);
      if (queue !== undefined) take(queue);
    }
    return { created, values };
  }

  #watchedQueue(): LiveQueue | undefined {
    const { watched, sampler } = this.#options;
    return watched === undefined ? undefined : sampler.queues.named(watched);
  }

  #watchedWithSubscribers({ id, name }: LiveQueue): {
    readonly id: number;
    readonly subscribers: readonly SubscriberValues[];
  } {
    const figures = this.#options.view.subscriberFigures(name, MAX_SUBSCRIBERS) ?? [];
    const subscribers = figures.map(({ connection, inFlightCount, window }) => ({
      connection,
      inFlightCount,
      window: window ?? null,
    }));
    return { id, subscribers };
  }
}
