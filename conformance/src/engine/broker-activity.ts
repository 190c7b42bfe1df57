// When each broker has last sent a frame to any check. It tells a broker that is busy with other checks from one that does not answer at all.
import type { Broker } from '../target/broker.ts';

const lastFrameAt = new WeakMap<Broker, number>();

/** `atMs`: milliseconds since the start of the run. */
export function noteFrame(broker: Broker, atMs: number): void {
  lastFrameAt.set(broker, atMs);
}

/** Whether a frame came from the broker at or after this time, in milliseconds since the start of the run. */
export function hasSentSince(broker: Broker, atMs: number): boolean {
  return (lastFrameAt.get(broker) ?? Number.NEGATIVE_INFINITY) >= atMs;
}
