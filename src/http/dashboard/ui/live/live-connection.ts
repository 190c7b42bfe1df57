// Keeps the live stream open while the page is on screen, and opens it again when it has ended or has gone quiet. The stream and the clocks are
// handed in, so it runs without a browser.

import type { Change, Snapshot } from '../../live/live-events.ts';
import type { LiveStore } from './live-store.ts';

/** An event comes every second; after this long without one the connection counts as lost. */
export const QUIET_MS = 5000;
/** A stream that was refused or has gone quiet is opened again after this. */
export const REOPEN_MS = 1000;

export type StreamHandlers = {
  readonly onSnapshot: (text: string) => void;
  readonly onChange: (text: string) => void;
  /** `isClosed`: the stream does not try again by itself. */
  readonly onError: (isClosed: boolean) => void;
};

export type LiveEnvironment = {
  /** Opens a stream at a path relative to the page; returns what closes it. */
  readonly openStream: (path: string, handlers: StreamHandlers) => () => void;
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
    const path =
      this.#queue === undefined ? 'api/events' : `api/events?queue=${encodeURIComponent(this.#queue)}`;
    this.#close = openStream(path, {
      onSnapshot: (text) =>
        this.#received(() => this.#store.applySnapshot(JSON.parse(text) as Snapshot, wallNow())),
      onChange: (text) =>
        this.#received(() => this.#store.applyChange(JSON.parse(text) as Change, wallNow())),
      onError: (isClosed) => this.#failed(isClosed),
    });
    this.#startTimer(QUIET_MS, () => this.#failed(true));
  }

  #received(apply: () => void): void {
    this.#startTimer(QUIET_MS, () => this.#failed(true));
    apply();
  }

  #failed(isClosed: boolean): void {
    this.#store.setPhase('lost');
    if (!isClosed) return this.#startTimer(QUIET_MS, () => this.#failed(true));
    this.#end();
    this.#startTimer(REOPEN_MS, () => this.#open());
  }

  #startTimer(delayMs: number, callback: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#environment.schedule(callback, delayMs);
  }

  #end(): void {
    this.#cancelTimer();
    this.#close?.();
    this.#close = undefined;
  }
}
