// What one connection takes of the budgets that all connections share, and how it waits for its part of the budget for input.
// Implements LIMIT-021.

import { type ConnectionBudgets, SHARE_BYTES } from './buffer-budget.ts';

/** What is known of the frame that is being received. */
export type PartialFrame = {
  /** Its length as its header announces it; 0 if that is unknown or no frame was begun. */
  readonly announcedBytes: number;
  /** Bytes that were received of it. */
  readonly pendingBytes: number;
  /** The number of frames before it. */
  readonly frameCount: number;
};

export class ConnectionMemory {
  readonly #budgets: ConnectionBudgets;
  readonly #retry: () => void;
  #inputBytes = 0;
  #outputBytes = 0;
  /** Taken in advance: for the frame that is being received, or for the body that is being decompressed. */
  #reservedBytes = 0;
  /** The frame that bytes are reserved for, by its `frameCount`. */
  #reservedFrame = -1;
  /** The budget counts the reservation; not while the connection waits for another one. */
  #hasReservation = false;
  #isWaiting = false;

  /** `retry`: called when input waited for memory, and there may be some now. */
  constructor(budgets: ConnectionBudgets, retry: () => void) {
    this.#budgets = budgets;
    this.#retry = retry;
  }

  /** Whether input waits for memory. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Whether the connection may have nothing pending when it reads on. */
  get isInputShort(): boolean {
    return this.#budgets.input.isShort;
  }

  /** Tells the budgets what the connection takes now: received and not handled, pending in the backend, and unsent. */
  count(receivedBytes: number, pendingBytes: number, unsentBytes: number): void {
    const inputBytes = Math.max(receivedBytes, this.#reservedBytes) + pendingBytes;
    const addedBytes = inputBytes - this.#inputBytes;
    if (this.#isWaiting) this.#budgets.input.addWaiting(addedBytes);
    this.#budgets.input.add(addedBytes);
    this.#budgets.output.add(unsentBytes - this.#outputBytes);
    this.#inputBytes = inputBytes;
    this.#outputBytes = unsentBytes;
  }

  /**
   * Reserves a large frame whole when all of it fits, and waits otherwise. A frame that was begun can then be completed, so no connection
   * waits forever. To be called after `count`.
   */
  reserveFrame({ announcedBytes, pendingBytes, frameCount }: PartialFrame): void {
    if (this.#reservedFrame === frameCount && announcedBytes > 0) return;
    this.release();
    if (announcedBytes <= SHARE_BYTES || !this.reserve(announcedBytes, announcedBytes - pendingBytes)) return;
    this.#reservedFrame = frameCount;
  }

  /** Reserves `bytes`, of which `missingBytes` are not counted yet; returns false and waits when there is no room. */
  reserve(bytes: number, missingBytes = bytes): boolean {
    this.#endReservation();
    if (this.#budgets.input.hasRoomFor(missingBytes, this.#inputBytes)) {
      this.#reservedBytes = bytes;
      this.#hasReservation = true;
      this.#budgets.input.beginReservation();
      return true;
    }
    this.#setWaiting(true);
    this.#budgets.input.await(this.#onRoom);
    return false;
  }

  /** Gives back what was reserved. */
  release(): void {
    this.#reservedBytes = 0;
    this.#reservedFrame = -1;
    this.#endReservation();
  }

  /** The connection reads nothing any more. */
  stopInput(): void {
    this.release();
    this.#setWaiting(false);
    this.#budgets.input.forget(this.#onRoom);
  }

  /** Whether so many unsent bytes are more than `part` of the share of each connection, while memory for output is short. */
  exceedsShare(unsentBytes: number, part: number): boolean {
    return this.#budgets.output.isShort && unsentBytes > SHARE_BYTES * part;
  }

  readonly #onRoom = (): void => {
    this.#setWaiting(false);
    this.#retry();
  };

  #setWaiting(isWaiting: boolean): void {
    if (isWaiting === this.#isWaiting) return;
    this.#isWaiting = isWaiting;
    this.#budgets.input.addWaiting(isWaiting ? this.#inputBytes : -this.#inputBytes);
  }

  #endReservation(): void {
    if (this.#hasReservation) this.#budgets.input.endReservation();
    this.#hasReservation = false;
  }
}
