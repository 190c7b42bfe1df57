// Keeps the live stream open while the page is on screen, and opens it again when it has ended or has gone quiet. The stream and the clocks are
// handed in, so it runs without a browser.

import type { Change, Snapshot } from '../../live/live-events.ts';
import type { LiveStore, Refusal } from './live-store.ts';

/** An event comes every second; after this long without one the connection counts as lost. */
export const QUIET_MS = 5000;
/** A stream that has gone quiet, or gives up, is opened again after this. */
export const REOPEN_MS = 1000;
/** The same, when the broker refuses it: what must change for it takes longer. */
export const REFUSED_REOPEN_MS = 5000;
/** The user must do something first; further attempts would be refused too, and browsers may ask for a password with each. */
const FINAL_STATUSES: readonly number[] = [401, 403];

export type StreamHandlers = {
  readonly onSnapshot: (text: string) => void;
  readonly onChange: (text: string) => void;
  /** `isClosed`: the stream does not try again by itself. */
  readonly onError: (isClosed: boolean) => void;
};

export type LiveEnvironment = {
  /** Opens a stream at a path relative to the page; returns what closes it. */
  readonly openStream: (path: string, handlers: StreamHandlers) => () => void;
  /** Why the broker refuses a stream at that path; undefined when it does not, or does not answer. An EventSource cannot tell. */
  readonly whyRefused: (path: string) => Promise<Refusal | undefined>;
  /** Calls back after so many milliseconds; returns what prevents it. */
  readonly schedule: (callback: () => void, delayMs: number) => () => void;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
};

export class LiveConnection {
  readonly #store: LiveStore;
  readonly #environment: LiveEnvironment;
  #queue: string | undefined;
  #isVisible = false;
  #close: (() => void) | undefined;
  #cancelTimer: () => void = () => undefined;
  /** Counts streams that were opened or ended: an answer about an earlier one is left out. */
  #attempt = 0;

  constructor(store: LiveStore, environment: LiveEnvironment) {
    this.#store = store;
    this.#environment = environment;
  }

  /** The queue whose subscribers and history the stream also brings; undefined: none. */
  watch(queue: string | undefined): void {
    if (queue === this.#queue) return;
    this.#queue = queue;
    if (this.#isVisible) this.#open();
  }

  /** Off screen the page asks for nothing. */
  setVisible(isVisible: boolean): void {
    if (isVisible === this.#isVisible) return;
    this.#isVisible = isVisible;
    if (isVisible) this.#open();
    else this.#end();
  }

  #open(): void {
    this.#end();
    const { openStream, wallNow } = this.#environment;
    this.#close = openStream(this.#path(), {
      onSnapshot: (text) =>
        this.#received(() => this.#store.applySnapshot(JSON.parse(text) as Snapshot, wallNow())),
      onChange: (text) =>
        this.#received(() => this.#store.applyChange(JSON.parse(text) as Change, wallNow())),
      onError: (isClosed) => (isClosed ? this.#refused() : this.#interrupted()),
    });
    this.#startTimer(QUIET_MS, () => this.#wentQuiet());
  }

  #path(): string {
    return this.#queue === undefined ? 'api/events' : `api/events?queue=${encodeURIComponent(this.#queue)}`;
  }

  #received(apply: () => void): void {
    this.#startTimer(QUIET_MS, () => this.#wentQuiet());
    apply();
  }

  /** The stream tries again by itself. */
  #interrupted(): void {
    this.#store.setLost(undefined);
    this.#startTimer(QUIET_MS, () => this.#wentQuiet());
  }

  #wentQuiet(): void {
    this.#store.setLost(undefined);
    this.#end();
    this.#startTimer(REOPEN_MS, () => this.#open());
  }

  #refused(): void {
    this.#store.setLost(this.#store.refusal);
    this.#end();
    this.#startTimer(QUIET_MS, () => this.#open());
    void this.#learnWhy(this.#attempt);
  }

  async #learnWhy(attempt: number): Promise<void> {
    const refusal = await this.#environment.whyRefused(this.#path());
    if (attempt !== this.#attempt) return;
    this.#store.setLost(refusal);
    if (refusal === undefined) this.#startTimer(REOPEN_MS, () => this.#open());
    else if (FINAL_STATUSES.includes(refusal.status)) this.#cancelTimer();
    else this.#startTimer(REFUSED_REOPEN_MS, () => this.#open());
  }

  #startTimer(delayMs: number, callback: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#environment.schedule(callback, delayMs);
  }

  #end(): void {
    this.#attempt += 1;
    this.#cancelTimer();
    this.#close?.();
    this.#close = undefined;
  }
}
