// What one step works on: its time, its outputs so far, and the queues that have to be looked at before it ends. Shared by the parts of
// the core; decides nothing.

import type { Effect, RefusalCode } from '../interface/effect.ts';
import type { ConnectionId, Token } from '../interface/input.ts';
import type { BrokerStats } from '../interface/stats.ts';
import type { StoreRecord } from '../interface/store-record.ts';
import type { Time } from '../interface/time.ts';
import type { Queue } from './queue.ts';
import { WallTimes } from './wall-times.ts';

export class StepContext {
  readonly stats: BrokerStats;
  now = 0;
  wallNow = 0;
  readonly #wallTimes = new WallTimes();
  /** The highest sequence that a message was given: one count for all queues, so that a store can keep rows by it alone. */
  lastSequence = 0;
  /** The broker shuts down: nothing is sent, retried, unblocked or expired any more (SHUTDOWN-005). */
  isDraining = false;
  #records: StoreRecord[] = [];
  #effects: Effect[] = [];
  #touched: Queue[] = [];
  #evictions = new Map<string, number>();
  #waits: number[] = [];

  constructor(stats: BrokerStats) {
    this.stats = stats;
  }

  begin(time: Time): void {
    this.now = time.now;
    this.wallNow = this.#wallTimes.note(time);
  }

  /** What the wall clock showed at an instant of the monotonic one. */
  wallAt(instant: number): number {
    return this.#wallTimes.at(instant);
  }

  record(record: StoreRecord): void {
    this.#records.push(record);
  }

  effect(effect: Effect): void {
    this.#effects.push(effect);
  }

  refuse(connection: ConnectionId, token: Token, code: RefusalCode, text: string): void {
    this.#effects.push({ kind: 'refused', connection, token, code, text });
  }

  /** A new dead letter has pushed a message out of this queue. */
  evicted(queue: Queue): void {
    this.#evictions.set(queue.name, (this.#evictions.get(queue.name) ?? 0) + 1);
  }

  /** How many messages were pushed out by dead letters since the last call, by queue; undefined: none. */
  takeEvictions(): ReadonlyMap<string, number> | undefined {
    const evictions = this.#evictions;
    if (evictions.size === 0) return undefined;
    this.#evictions = new Map();
    return evictions;
  }

  /** A message is delivered for the first time, so long after it was accepted. */
  waited(durationMs: number): void {
    if (durationMs > 0) this.#waits.push(durationMs);
  }

  /** How long messages have waited for their first delivery since the last call, in milliseconds; those that did not wait are left out. */
  takeWaits(): readonly number[] {
    const waits = this.#waits;
    if (waits.length > 0) this.#waits = [];
    return waits;
  }

  /** Notes a change of the queue that may allow messages to be sent. */
  touch(queue: Queue): void {
    if (queue.isTouched) return;
    queue.isTouched = true;
    this.#touched.push(queue);
  }

  /** The queue that was touched first: queues touched at the same instant are handled in that order. */
  takeTouched(): Queue | undefined {
    const queue = this.#touched.shift();
    if (queue !== undefined) queue.isTouched = false;
    return queue;
  }

  /** The outputs since the last call. */
  takeOutputs(): { readonly records: readonly StoreRecord[]; readonly effects: readonly Effect[] } {
    const outputs = { records: this.#records, effects: this.#effects };
    this.#records = [];
    this.#effects = [];
    return outputs;
  }
}
