// How long messages take from their acceptance to their first Deliver. The core knows how long one waited in its queue; what
// a batch takes from its first arrival to its last write comes on top, and is all there is for a message that did not wait.
// Implements METRICS (the latency).

export class DeliveryLatency {
  #sumMs = 0;
  #count = 0;

  /**
   * A batch is written, `tookMs` after its first input was submitted. `firstDeliveryCount` of the core's deliveries so far were the first
   * of their message.
   */
  written(firstDeliveryCount: number, tookMs: number): void {
    this.#sumMs += (firstDeliveryCount - this.#count) * tookMs;
    this.#count = firstDeliveryCount;
  }

  /** The mean in milliseconds; 0 before the first delivery. */
  averageMs(waited: {
    readonly firstDeliveryCount: number;
    readonly firstDeliveryLatencySumMs: number;
  }): number {
    if (waited.firstDeliveryCount === 0) return 0;
    return (waited.firstDeliveryLatencySumMs + this.#sumMs) / waited.firstDeliveryCount;
  }
}
