// Sends many frames, not too many at a time.

import type { ForgetfulClient } from './forgetful-client.ts';
import type { SentFrame } from './frame-batch.ts';
import type { RetainedBroker } from './retained-broker.ts';

export const BATCH_LENGTH = 64;

/** Settles after every batch. */
export async function inBatches(
  broker: RetainedBroker,
  client: ForgetfulClient,
  count: number,
  frameOf: (number: number) => SentFrame,
): Promise<void> {
  for (let from = 0; from < count; from += BATCH_LENGTH) {
    const length = Math.min(BATCH_LENGTH, count - from);
    client.send(Array.from({ length }, (_, index) => frameOf(from + index)));
    await broker.settle();
  }
}
