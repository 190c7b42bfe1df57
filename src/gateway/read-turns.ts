// Turns among connections: how much of one connection's input is handled before the others are looked at. Without them one socket that is
// always full keeps the event loop for 2 MiB, which Node.js reads of a socket at a time, and that may be tens of thousands of small frames.
// Connections that always have more share a short time of each turn, and those go on first that had the least: one that sends a tenth of what
// others send does not wait for them. Serves CONN-021 and
// PUBLISH-024.

import type { Environment } from '../model/environment.ts';

/** What a connection may have handled in a turn: so many frames, or so many bytes, whichever comes first. */
const MAX_FRAMES = 256;
const MAX_BYTES = 1_048_576;
/** What it may have handled also when the time of the turn is over: so many frames, which is also how often the clock is read, or bytes. */
const MIN_FRAMES = 16;
const MIN_BYTES = 4096;
/** What all connections share of a turn, unless a commit takes longer: then that long, because many small commits cost more than they serve. */
const MIN_SHARED_MS = 0.25;
const MAX_SHARED_MS = 2;
/**
 * The same where rates are not limited. Each turn ends with writes, which wake other processes. On a slow machine 0.25 ms are four messages of
 * 16 KiB, and with a millisecond it passes 1.2 times as many of them (docs/internals/performance.md).
 */
const MIN_SHARED_MS_UNLIMITED = 1;
/** How many go on in a turn: of one whose input is not received yet it is not known how long it takes. */
const MAX_RESUMED = 8;
/** How many bytes of a payload cost as much as a frame. */
const FRAME_BYTES = 2048;
/** How much less than others that wait a connection may have had that has waited for nothing. */
const LEAD_BYTES = MAX_FRAMES * FRAME_BYTES;
/** How long a connection is held back, unless somebody says otherwise. */
const HELD_BACK_MS = 1;

export type ReadTurnsParts = {
  readonly clock: Pick<Environment['clock'], 'now'>;
  readonly scheduler: Environment['scheduler'];
  /** Whether the rates of clients are limited. Whoever does not limit them trusts the clients, and wants as much of them as there is time for. */
  readonly hasRateLimit: boolean;
  /** How long the last commit of a batch took, in milliseconds. */
  readonly commitMs: () => number;
};

type Waiting = { readonly hadBytes: number; readonly resume: () => void };

export class ReadTurns {
  readonly #parts: ReadTurnsParts;
  #number = 0;
  #isEndScheduled = false;
  #startedAt = 0;
  readonly #waiting: Waiting[] = [];
  #rushNumber = 0;
  #leastBytes = 0;

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
    const minSharedMs = this.#parts.hasRateLimit ? MIN_SHARED_MS : MIN_SHARED_MS_UNLIMITED;
    const sharedMs = Math.min(Math.max(this.#parts.commitMs(), minSharedMs), MAX_SHARED_MS);
    return this.#parts.clock.now() - this.#startedAt >= sharedMs;
  }

  /** The number of the rush hour: the time in which connections wait without a break. What one had before it does not matter. */
  get rushNumber(): number {
    return this.#rushNumber;
  }

  /** What those that wait have had in this rush hour at least. */
  get leastBytes(): number {
    return this.#leastBytes;
  }

  /**
   * Calls back in the next turn or a later one: after what this turn has brought to the backend was handled, and before those that had more
   * in this rush hour. Among equals in the order of the calls.
   */
  await(resume: () => void, hadBytes = this.#leastBytes): void {
    if (this.#waiting.length === 0) this.#parts.scheduler.soon(() => this.#resumeSome());
    this.#waiting.push({ hadBytes, resume });
  }

  /** Calls back after so many milliseconds. */
  holdBack(forMs: number, resume: () => void): void {
    this.#parts.scheduler.after(forMs, resume);
  }

  #begin(): void {
    this.#isEndScheduled = true;
    this.#startedAt = this.#parts.clock.now();
    this.#parts.scheduler.soon(() => {
      this.#isEndScheduled = false;
      this.#number += 1;
    });
  }

  #resumeSome(): void {
    // Those that wait again meanwhile have had their turn.
    const mayGoOn = this.#waiting.splice(0);
    for (let count = 0; count < MAX_RESUMED && mayGoOn.length > 0; count += 1) {
      if (count > 0 && this.isSpent) break;
      const [next] = mayGoOn.splice(indexOfLeast(mayGoOn), 1);
      if (next === undefined) break;
      this.#leastBytes = Math.max(this.#leastBytes, next.hadBytes);
      next.resume();
    }
    if (mayGoOn.length > 0) {
      if (this.#waiting.length === 0) this.#parts.scheduler.soon(() => this.#resumeSome());
      this.#waiting.unshift(...mayGoOn);
    } else if (this.#waiting.length === 0) {
      this.#rushNumber += 1;
      this.#leastBytes = 0;
    }
  }
}

/** Of the first of those that had the least. */
function indexOfLeast(all: readonly Waiting[]): number {
  let least = 0;
  for (let index = 1; index < all.length; index += 1) {
    if ((all[index]?.hadBytes ?? 0) < (all[least]?.hadBytes ?? 0)) least = index;
  }
  return least;
}

/** What one connection has had of a turn. */
export class ReadTurn {
  readonly #turns: ReadTurns;
  readonly #resume: () => void;
  #number = -1;
  #frameCount = 0;
  #bytes = 0;
  #isOver = false;
  /** 0: it is not held back. */
  #heldBackForMs = 0;
  /** The connection had more than its last turn, and not just a little. */
  #hadMore = false;
  #rushNumber = -1;
  /** What it had in the turns of this rush hour before this one. */
  #hadBytes = 0;

  /** `resume`: called when the turn was over and another one has come. */
  constructor(turns: ReadTurns, resume: () => void) {
    this.#turns = turns;
    this.#resume = resume;
  }

  /** Whether the rest of the input waits for another turn. */
  get isOver(): boolean {
    return this.#isOver || this.#heldBackForMs > 0;
  }

  /** Counts received bytes. The first ones of a connection may wait, however few they are: thousands of connections may begin in one turn. */
  received(bytes: number): void {
    const isFirst = this.#number < 0;
    this.#begin();
    this.#bytes += bytes;
    const isLarge = isFirst || this.#hadMore || this.#bytes > MIN_BYTES;
    if (this.#bytes >= MAX_BYTES || (isLarge && this.#turns.isSpent)) this.#end();
  }

  /** Counts a frame that was handled. */
  handled(): void {
    this.#frameCount += 1;
    if (this.#frameCount % MIN_FRAMES > 0) return;
    if (this.#frameCount >= MAX_FRAMES || this.#turns.isSpent) this.#end();
  }

  /** Gives no turn for so many milliseconds. Of several times that overlap the longest counts, from when it began. */
  holdBack(forMs = HELD_BACK_MS): void {
    if (forMs <= this.#heldBackForMs) return;
    this.#heldBackForMs = forMs;
    this.#turns.holdBack(forMs, () => {
      if (this.#heldBackForMs !== forMs) return;
      this.#heldBackForMs = 0;
      this.#resume();
    });
  }

  #begin(): void {
    const { number, rushNumber, leastBytes } = this.#turns;
    if (number === this.#number) return;
    const hadBytes = rushNumber === this.#rushNumber ? this.#hadWithThisTurn() : 0;
    this.#hadBytes = Math.max(hadBytes, leastBytes - LEAD_BYTES);
    this.#rushNumber = rushNumber;
    // Of the turn before, or of one that is long over. One that had to wait with a few bytes or frames would otherwise wait in each turn again.
    this.#hadMore = this.#isOver && (this.#bytes > MIN_BYTES || this.#frameCount > MIN_FRAMES);
    this.#number = number;
    this.#frameCount = 0;
    this.#bytes = 0;
  }

  #hadWithThisTurn(): number {
    return this.#hadBytes + this.#bytes + this.#frameCount * FRAME_BYTES;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#turns.await(() => {
      this.#begin();
      this.#isOver = false;
      this.#resume();
    }, this.#hadWithThisTurn());
  }
}
