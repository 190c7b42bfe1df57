// Turns among connections: how much of one connection's input is handled before the others are looked at. Without them one socket that is
// always full keeps the event loop for 2 MiB, which Node.js reads of a socket at a time, and that may be tens of thousands of small frames.
// All connections share the turn, so that it costs one callback however many they are.

import type { Scheduler } from '../model/environment.ts';

/** What a connection may have handled in a turn: so many frames, or so many bytes, whichever comes first. */
const MAX_FRAMES = 256;
const MAX_BYTES = 1_048_576;

export class ReadTurns {
  readonly #scheduler: Pick<Scheduler, 'soon'>;
  #number = 0;
  #isEndScheduled = false;
  #waiting: (() => void)[] = [];

  constructor(scheduler: Pick<Scheduler, 'soon'>) {
    this.#scheduler = scheduler;
  }

  /** The number of the turn that runs. It ends when the event loop has served every socket that is ready. */
  get number(): number {
    if (!this.#isEndScheduled) this.#scheduler.soon(() => this.#end());
    this.#isEndScheduled = true;
    return this.#number;
  }

  /** Calls back in the next turn, in the order of the calls: after what this turn has brought to the backend was handled. */
  await(resume: () => void): void {
    if (this.#waiting.length === 0) this.#scheduler.soon(() => this.#resumeAll());
    this.#waiting.push(resume);
  }

  #end(): void {
    this.#isEndScheduled = false;
    this.#number += 1;
  }

  #resumeAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
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

  /** `resume`: called when the turn was over and the next one has come. */
  constructor(turns: ReadTurns, resume: () => void) {
    this.#turns = turns;
    this.#resume = resume;
  }

  /** Whether the rest of the input waits for the next turn. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Counts received bytes. */
  received(bytes: number): void {
    this.#begin();
    this.#bytes += bytes;
    this.#endIfFull();
  }

  /** Counts a frame that was handled. */
  handled(): void {
    this.#frameCount += 1;
    this.#endIfFull();
  }

  #begin(): void {
    const { number } = this.#turns;
    if (number === this.#number) return;
    this.#number = number;
    this.#frameCount = 0;
    this.#bytes = 0;
  }

  #endIfFull(): void {
    if (this.#isOver || (this.#frameCount < MAX_FRAMES && this.#bytes < MAX_BYTES)) return;
    this.#isOver = true;
    this.#turns.await(() => {
      this.#isOver = false;
      this.#begin();
      this.#resume();
    });
  }
}
