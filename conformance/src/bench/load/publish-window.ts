// How many messages may be under way: at most `window` without an answer, and at most `lead` ahead of the slowest subscriber where a
// lead is set, so that no broker wins by piling up. Pure counting.

export class PublishWindow {
  readonly #window: number;
  readonly #lead: number;
  sentCount = 0;
  /** Confirmed or refused. */
  answeredCount = 0;
  /** What the slowest subscriber has received. */
  receivedCount = 0;

  constructor(options: { readonly window: number; readonly lead?: number | undefined }) {
    this.#window = options.window;
    this.#lead = options.lead ?? Number.POSITIVE_INFINITY;
  }

  get hasRoom(): boolean {
    return (
      this.sentCount - this.answeredCount < this.#window && this.sentCount - this.receivedCount < this.#lead
    );
  }

  get isEmpty(): boolean {
    return this.answeredCount === this.sentCount;
  }
}
