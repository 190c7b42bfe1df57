// What one step works on: the time it was given, what it has brought so far, and which queues have to be looked at before
// it ends. Shared by the parts of the core; it decides nothing.

import type { Connection } from './connection.ts';
import type { Effect, RefusalCode } from './interface/effect.ts';
import type { ConnectionId, Token } from './interface/input.ts';
import type { BrokerStats } from './interface/stats.ts';
import type { StoreRecord } from './interface/store-record.ts';
import type { Time } from './interface/time.ts';
import type { Queue } from './queue.ts';

export class StepContext {
  readonly stats: BrokerStats;
  now = 0;
  wallNow = 0;
  /** The youngest place that was given to a message: one count over all queues, so that a store can keep rows by it alone. */
  lastSequence = 0;
  /** The broker is to end: nothing is sent, retried, unblocked or expired any more. */
  isDraining = false;
  /** Goes up whenever everything that came of the steps so far has been written. */
  burst = 1;
  /** Connections that were sent their fill in this step. */
  readonly saturated: Connection[] = [];
  #records: StoreRecord[] = [];
  #effects: Effect[] = [];
  #touched: Queue[] = [];

  constructor(stats: BrokerStats) {
    this.stats = stats;
  }

  begin(time: Time): void {
    this.now = time.now;
    this.wallNow = time.wallNow;
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

  /** Something about the queue has changed that may let messages move. */
  touch(queue: Queue): void {
    if (queue.isTouched) return;
    queue.isTouched = true;
    this.#touched.push(queue);
  }

  /** The one touched first: what happens to several queues at one instant happens in the order in which they were touched. */
  takeTouched(): Queue | undefined {
    const queue = this.#touched.shift();
    if (queue !== undefined) queue.isTouched = false;
    return queue;
  }

  /** What has come since the last call. */
  takeOutputs(): { readonly records: readonly StoreRecord[]; readonly effects: readonly Effect[] } {
    const outputs = { records: this.#records, effects: this.#effects };
    this.#records = [];
    this.#effects = [];
    return outputs;
  }
}
