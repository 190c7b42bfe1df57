// Turns among connections: how much of one connection's input is handled before the others are looked at. Without them one socket that is
// always full keeps the event loop for 2 MiB, which Node.js reads of a socket at a time, and that may be tens of thousands of small frames.
// Connections that always have more share a short time of each turn; one that has little to say never waits for them. Serves CONN-021.

import type { Environment } from '../model/environment.ts';

/** What a connection may have handled in a turn: so many frames, or so many bytes, whichever comes first. */
const MAX_FRAMES = 256;
const MAX_BYTES = 1_048_576;
/** What it may have handled also when the time of the turn is over: so many frames, which is also how often the clock is read, or one read. */
const MIN_FRAMES = 16;
const MIN_BYTES = 65_536;
/** What all connections share of a turn, unless a commit takes longer: then that long, because many small commits cost more than they serve. */
const MIN_SHARED_MS = 0.25;
const MAX_SHARED_MS = 2;

export type ReadTurnsParts = {
  readonly clock: Pick<Environment['clock'], 'now'>;
  readonly scheduler: Pick<Environment['scheduler'], 'soon'>;
  /** How long the last commit of a batch took, in milliseconds. */
  readonly commitMs: () => number;
};

export class ReadTurns {
  readonly #parts: ReadTurnsParts;
  #number = 0;
  #isEndScheduled = false;
  #startedAt = 0;
  #waiting: (() => void)[] = [];

  constructor(parts: ReadTurnsParts) {
    this.#parts = parts;
  }

  /** The number of the turn that runs. It ends when the event loop has served every socket that is ready. */
  get number(): number {
    if (!this.#isEndScheduled) this.#begin();
    return this.#number;
  }

  /** Whether the time that connections share in this turn is over. */
  get isSpent(): boolean {
    if (!this.#isEndScheduled) this.#begin();
    const sharedMs = Math.min(Math.max(this.#parts.commitMs(), MIN_SHARED_MS), MAX_SHARED_MS);
    return this.#parts.clock.now() - this.#startedAt >= sharedMs;
  }

  /** Calls back in the next turn or a later one, in the order of the calls: after what this turn has brought to the backend was handled. */
  await(resume: () => void): void {
    if (this.#waiting.length === 0) this.#parts.scheduler.soon(() => this.#resumeAll());
    this.#waiting.push(resume);
  }

  #begin(): void {
    this.#isEndScheduled = true;
    this.#startedAt = this.#parts.clock.now();
    this.#parts.scheduler.soon(() => {
      this.#isEndScheduled = false;
      this.#number += 1;
    });
  }

  /** Those for which there is no time come first in the next turn. */
  #resumeAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    let resumedCount = 0;
    for (const resume of waiting) {
      resume();
      resumedCount += 1;
      if (this.isSpent) break;
    }
    const left = waiting.slice(resumedCount);
    if (left.length === 0) return;
    if (this.#waiting.length === 0) this.#parts.scheduler.soon(() => this.#resumeAll());
    this.#waiting = [...left, ...this.#waiting];
  }
}

/** What one connection has had of a turn. */
export class ReadTurn {
  readonly #turns: ReadTurns;
  readonly #resume: () => void;
  #number = -1;
  #frameCount = 0;
  #bytes = 0;
  #isOver = false;
  /** The connection had more than its last turn. */
  #hadMore = false;

  /** `resume`: called when the turn was over and another one has come. */
  constructor(turns: ReadTurns, resume: () => void) {
    this.#turns = turns;
    this.#resume = resume;
  }

  /** Whether the rest of the input waits for another turn. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Counts received bytes. */
  received(bytes: number): void {
    this.#begin();
    this.#bytes += bytes;
    const isLarge = this.#hadMore || this.#bytes > MIN_BYTES;
    if (this.#bytes >= MAX_BYTES || (isLarge && this.#turns.isSpent)) this.#end();
  }

  /** Counts a frame that was handled. */
  handled(): void {
    this.#frameCount += 1;
    if (this.#frameCount % MIN_FRAMES > 0) return;
    if (this.#frameCount >= MAX_FRAMES || this.#turns.isSpent) this.#end();
  }

  #begin(): void {
    const { number } = this.#turns;
    if (number === this.#number) return;
    // Of the turn before, or of one that is long over.
    this.#hadMore = this.#isOver;
    this.#number = number;
    this.#frameCount = 0;
    this.#bytes = 0;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#turns.await(() => {
      this.#begin();
      this.#isOver = false;
      this.#resume();
    });
  }
}
