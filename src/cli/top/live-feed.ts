// Follows the live stream of a dashboard: keeps the table up to date, and connects again a second after a connection has ended. Knows no terminal.

import type { Change, Snapshot } from '../../http/dashboard/live/live-events.ts';
import type { Clock, Scheduler } from '../../model/environment.ts';
import type { EventReceiver, StreamEnd } from './event-request.ts';
import type { StreamEvent } from './event-stream.ts';
import { type LiveTable, tableAfterChange, tableOfSnapshot } from './live-table.ts';

const RECONNECT_MS = 1_000;

export type FeedParts = {
  /** Starts one connection; the result closes it. */
  readonly open: (receiver: EventReceiver) => () => void;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Something has changed. `isChange`: an event `change` has arrived. */
  readonly onUpdate: (isChange: boolean) => void;
  /** The feed has ended: it could not connect the first time, or the broker refuses the credentials. Called at most once. */
  readonly onFailure: (end: StreamEnd) => void;
};

export class LiveFeed {
  readonly #parts: FeedParts;
  #table: LiveTable | undefined;
  #lost: { readonly at: number; readonly reason: string } | undefined;
  /** No snapshot has arrived on this connection. */
  #awaitsSnapshot = true;
  #cancel: () => void;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#cancel = () => undefined;
    this.#connect();
  }

  /** The last one that was complete; undefined until the first snapshot has arrived. */
  get table(): LiveTable | undefined {
    return this.#table;
  }

  /** Since when there is no connection; undefined: there is one. */
  get lost(): { readonly forMs: number; readonly reason: string } | undefined {
    return this.#lost && { forMs: this.#parts.clock.now() - this.#lost.at, reason: this.#lost.reason };
  }

  /** Ends the connection, and all attempts. */
  close(): void {
    this.#cancel();
  }

  #connect(): void {
    this.#awaitsSnapshot = true;
    this.#cancel = this.#parts.open({
      onEvent: (event) => this.#handle(event),
      onEnd: (end) => this.#connectionEnded(end),
    });
  }

  #handle({ name, data }: StreamEvent): void {
    if (name !== 'snapshot' && name !== 'change') return;
    this.#table = this.#tableAfter(name, data);
    this.#awaitsSnapshot = false;
    this.#lost = undefined;
    this.#parts.onUpdate(name === 'change');
  }

  /** @throws Error when the event is not what the dashboard sends */
  #tableAfter(name: 'snapshot' | 'change', data: string): LiveTable {
    try {
      const event: unknown = JSON.parse(data);
      if (name === 'snapshot') return tableOfSnapshot(event as Snapshot);
      if (this.#table === undefined || this.#awaitsSnapshot) throw new Error('it came before the snapshot');
      return tableAfterChange(this.#table, event as Change);
    } catch (error) {
      throw new Error(`the event ${name} of the broker cannot be read: ${String(error)}`);
    }
  }

  #connectionEnded(end: StreamEnd): void {
    if (this.#table === undefined || end.asksForCredentials) return this.#parts.onFailure(end);
    this.#lost = { at: this.#lost?.at ?? this.#parts.clock.now(), reason: end.reason };
    this.#cancel = this.#parts.scheduler.after(RECONNECT_MS, () => this.#connect());
    this.#parts.onUpdate(false);
  }
}
