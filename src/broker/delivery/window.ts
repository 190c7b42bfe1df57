// How many unacknowledged messages a subscription may have. It grows while acks come fast and halves when one is missing, so that a slow
// subscriber is not sent what it would let time out. Implements DELIVERY-042 to DELIVERY-046.

const FIRST_SIZE = 8;
/** An ack within this part of the ack timeout counts as fast. */
const FAST_PART = 1 / 4;

export class Window {
  readonly #max: number;
  readonly #fixed: boolean;
  #size: number;

  /** `max`: the broker's limit, 1 or more. `asked`: the fixed size that the subscriber asks for. */
  constructor(max: number, asked: number | undefined) {
    this.#max = max;
    this.#fixed = asked !== undefined;
    this.#size = asked === undefined ? Math.min(FIRST_SIZE, max) : Math.max(1, Math.min(asked, max));
  }

  get size(): number {
    return this.#size;
  }

  /** An ack came `elapsedMs` after the sending of its attempt. */
  acknowledged(elapsedMs: number, ackTimeoutMs: number): void {
    if (!this.#fixed && elapsedMs <= ackTimeoutMs * FAST_PART && this.#size < this.#max) this.#size += 1;
  }

  timedOut(): void {
    if (!this.#fixed) this.#size = Math.max(1, this.#size >> 1);
  }
}
