// When each message of an open loop falls due, decided before the first one is sent and changed by nothing that the broker does: a
// broker that stalls finds the messages of its stall waiting, each with the moment at which it was due. That is what keeps
// the percentiles honest (coordinated omission). At high rates the messages of one tick fall due together. Pure.

/** No process can be woken more often than this and still do something else. */
const minTickUs = 500;

export class ArrivalSchedule {
  readonly #startUs: number;
  readonly #tickUs: number;
  readonly #perTick: number;
  readonly count: number;

  /** `perSecond` greater than 0; `durationMs` is how long messages fall due. */
  constructor(options: {
    readonly startUs: number;
    readonly perSecond: number;
    readonly durationMs: number;
  }) {
    this.#startUs = options.startUs;
    this.#tickUs = Math.max(minTickUs, 1e6 / options.perSecond);
    this.#perTick = (options.perSecond * this.#tickUs) / 1e6;
    this.count = Math.max(1, Math.floor((options.perSecond * options.durationMs) / 1e3));
  }

  /** When message `sequence` (0, 1, ..) falls due, in microseconds. */
  dueAtUs(sequence: number): number {
    return this.#startUs + Math.floor(sequence / this.#perTick + 1e-9) * this.#tickUs;
  }
}
