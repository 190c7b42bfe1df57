// The closed loop: keeps the window full until the time is over. It measures the maximum throughput of a broker; its latencies are those of
// a full window. The caller calls it when the window may have room; it never waits.
import type { LoadClock } from './load-clock.ts';
import type { PublishWindow } from './publish-window.ts';

export type ClosedLoopOptions = {
  readonly clock: LoadClock;
  readonly window: PublishWindow;
  readonly durationMs: number;
  readonly maxCount: number;
  /** Sends message `sequence`, stamped with the moment at which it was sent. */
  readonly send: (sequence: number, stampUs: number) => void;
};

export class ClosedLoop {
  readonly #options: ClosedLoopOptions;
  readonly #endAtUs: number;
  #isOver = false;

  constructor(options: ClosedLoopOptions) {
    this.#options = options;
    this.#endAtUs = options.clock.nowUs() + options.durationMs * 1e3;
  }

  /** True when nothing more will be sent. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Fills the window. To be called at the start and after every read. */
  pump(): void {
    const { clock, window, maxCount, send } = this.#options;
    if (this.#isOver) return;
    const nowUs = clock.nowUs();
    this.#isOver = nowUs >= this.#endAtUs;
    while (!this.#isOver && window.hasRoom) {
      send(window.sentCount, nowUs);
      window.sentCount += 1;
      this.#isOver = window.sentCount >= maxCount;
    }
  }
}
