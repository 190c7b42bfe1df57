// How long messages take from their acceptance to their first Deliver. The core knows how long one waited in its queue; what
// a batch takes from its first arrival to its last write comes on top, and is all there is for a message that did not wait.
// Implements METRICS (the latency).

export class DeliveryLatency {
  #sumMs = 0;
  #count = 0;
  /** When the first arrival of the batch under way was taken, on the monotonic clock. */
  batchArrivedAt = 0;

  /** The batch is written; `firstDeliveryCount` of the core's deliveries so far were the first of their message. */
  written(firstDeliveryCount: number, now: number): void {
    this.#sumMs += (firstDeliveryCount - this.#count) * (now - this.batchArrivedAt);
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
