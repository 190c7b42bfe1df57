// What the page knows of the broker, made from the events of the live stream. Whoever shows a part of it subscribes to that part's topic, so that a
// change draws only what is visible. It opens no stream and reads no clock (see live-connection.ts).

import type {
  Change,
  Health,
  QueueHistory,
  QueueValues,
  Snapshot,
  WatchedQueue,
} from '../../live/live-events.ts';
import { PointRing } from './point-ring.ts';
import { DEPTH_INTERVAL_MS, MAX_DEPTHS, newRow, type QueueRow, withDepth, withValues } from './queue-row.ts';

/** `connecting`: nothing has come yet. `lost`: what is shown is old, and a new connection is being tried. */
export type Phase = 'connecting' | 'live' | 'lost';
export type Topic = 'phase' | 'health' | 'points' | 'queues' | 'watched';

/** Why the broker answers, but gives no live stream. */
export type Refusal = {
  /** Of HTTP. */
  readonly status: number;
  /** What the broker says, in whole sentences. */
  readonly detail: string;
};

/** What a snapshot says about the broker itself. */
export type BrokerFacts = Pick<Snapshot, 'serverVersion' | 'memoryLimitBytes' | 'asksForCredentials' | 'tcp'>;

export class LiveStore {
  readonly points = new PointRing();
  #phase: Phase = 'connecting';
  #refusal: Refusal | undefined;
  #facts: BrokerFacts | undefined;
  #health: Health = { isHealthy: true, reasons: [] };
  #queues: ReadonlyMap<number, QueueRow> = new Map();
  #names: ReadonlyMap<string, number> = new Map();
  #membership = 0;
  #watched: WatchedQueue | undefined;
  #history: QueueHistory | undefined;
  #now = 0;
  #depthAt = 0;
  #seenAt = 0;
  readonly #listeners = new Map<Topic, Set<() => void>>();

  get phase(): Phase {
    return this.#phase;
  }
  /** Undefined unless the phase is `lost` because the broker refuses the stream. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }
  /** Undefined until the first snapshot. */
  get facts(): BrokerFacts | undefined {
    return this.#facts;
  }
  get health(): Health {
    return this.#health;
  }
  /** By id. A new map for each event. */
  get queues(): ReadonlyMap<number, QueueRow> {
    return this.#queues;
  }
  /** Changes when queues are created or removed. */
  get membership(): number {
    return this.#membership;
  }
  get watched(): WatchedQueue | undefined {
    return this.#watched;
  }
  get history(): QueueHistory | undefined {
    return this.#history;
  }
  /** The broker's clock at the last event, in milliseconds since 1970. */
  get now(): number {
    return this.#now;
  }
  /** The clock of this machine at the last event. */
  get seenAt(): number {
    return this.#seenAt;
  }

  /** The broker's clock now, in milliseconds since 1970. `wallNow`: the clock of this machine, which is all there is before the first event. */
  brokerNow(wallNow: number): number {
    return this.#facts === undefined ? wallNow : this.#now + (wallNow - this.#seenAt);
  }

  queueNamed(name: string): QueueRow | undefined {
    return this.#queues.get(this.#names.get(name) ?? -1);
  }

  /** Calls `listener` after each change of that topic. Returns what ends it. */
  subscribe(topic: Topic, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** Replaces everything. `seenAt`: the clock of this machine. */
  applySnapshot(snapshot: Snapshot, seenAt: number): void {
    const rows = new Map(snapshot.queues.map((facts) => [facts.id, newRow(facts)]));
    this.#setQueues(updated(rows, snapshot.values));
    this.#facts = snapshot;
    this.points.reset(snapshot.points);
    this.#health = snapshot.health;
    this.#watched = snapshot.watched;
    this.#history = snapshot.watched?.history;
    this.#now = snapshot.now;
    this.#depthAt = snapshot.now;
    this.#seenAt = seenAt;
    this.#setPhase('live', undefined);
    this.#tell('health', 'points', 'queues', 'watched');
  }

  /** Adds what happened in a second. A change that comes before the first snapshot is left out. */
  applyChange(change: Change, seenAt: number): void {
    if (this.#facts === undefined) return;
    this.#now = change.now;
    this.#seenAt = seenAt;
    this.points.push(change.point);
    this.#changeQueues(change);
    this.#changeWatched(change);
    if (change.now - this.#depthAt >= DEPTH_INTERVAL_MS) this.#addDepths(change.now);
    this.#setPhase('live', undefined);
    this.#changeHealth(change.health);
    this.#tell('points', 'queues', 'watched');
  }

  /** There is no connection. `refusal`: why the broker refuses it; undefined when the broker does not answer. */
  setLost(refusal: Refusal | undefined): void {
    this.#setPhase('lost', refusal);
  }

  #setPhase(phase: Phase, refusal: Refusal | undefined): void {
    if (phase === this.#phase && refusal === this.#refusal) return;
    this.#phase = phase;
    this.#refusal = refusal;
    this.#tell('phase');
  }

  #changeQueues({ created = [], values, removed = [] }: Change): void {
    const rows = new Map(this.#queues);
    for (const id of removed) rows.delete(id);
    for (const facts of created) rows.set(facts.id, newRow(facts));
    const next = updated(rows, values);
    if (created.length + removed.length > 0) this.#setQueues(next);
    else this.#queues = next;
  }

  /** Only a snapshot brings a history: that of a queue that is created while it is watched begins now. */
  #changeWatched({ now, watched = this.#watched }: Change): void {
    const row = watched && this.#queues.get(watched.id);
    const isNew = watched?.id !== this.#watched?.id;
    this.#watched = row && watched;
    if (row === undefined) this.#history = undefined;
    else if (isNew) this.#history = extended(noHistory, now, row);
  }

  #setQueues(queues: ReadonlyMap<number, QueueRow>): void {
    this.#queues = queues;
    this.#names = new Map([...queues].map(([id, { facts }]) => [facts.name, id]));
    this.#membership += 1;
  }

  #addDepths(now: number): void {
    this.#depthAt = now;
    this.#queues = new Map([...this.#queues].map(([id, row]) => [id, withDepth(row)]));
    const row = this.#watched === undefined ? undefined : this.#queues.get(this.#watched.id);
    if (row !== undefined && this.#history !== undefined) this.#history = extended(this.#history, now, row);
  }

  #changeHealth(health: Health): void {
    const isSame = JSON.stringify(health) === JSON.stringify(this.#health);
    this.#health = health;
    if (!isSame) this.#tell('health');
  }

  #tell(...topics: readonly Topic[]): void {
    for (const topic of topics) for (const listener of this.#listeners.get(topic) ?? []) listener();
  }
}

/** Values of queues that are not there are left out: they may cross a removal. */
function updated(rows: Map<number, QueueRow>, values: readonly QueueValues[]): Map<number, QueueRow> {
  for (const each of values) {
    const row = rows.get(each[0]);
    if (row !== undefined) rows.set(each[0], withValues(row, each));
  }
  return rows;
}

const noHistory: QueueHistory = {
  at: [],
  waitingCount: [],
  inFlightCount: [],
  publishedRate: [],
  deliveredRate: [],
};

/** The history with the row's present values at the end. */
export function extended(history: QueueHistory, now: number, row: QueueRow): QueueHistory {
  const push = (column: readonly number[], value: number) => [...column.slice(1 - MAX_DEPTHS), value];
  return {
    at: push(history.at, now),
    waitingCount: push(history.waitingCount, row.waitingCount),
    inFlightCount: push(history.inFlightCount, row.inFlightCount),
    publishedRate: push(history.publishedRate, row.publishedRate),
    deliveredRate: push(history.deliveredRate, row.deliveredRate),
  };
}
