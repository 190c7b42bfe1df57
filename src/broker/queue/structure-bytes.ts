// What the core keeps besides messages, in bytes of memory: rounded from measurements of the process (npm run bench -- memory-truth).
// Implements LIMIT-022.

import type { Queue } from './queue.ts';

/** A delivery in flight, to one subscriber. */
export const DELIVERY_BYTES = 144;

/** A queue without messages. Its name is kept several times. */
export function queueBytes({
  name,
  deadLetterQueueName,
}: Pick<Queue, 'name' | 'deadLetterQueueName'>): number {
  return 1664 + 4 * (name.length + deadLetterQueueName.length);
}

/** A publish that waits for the answer of another one with its id: what its own answer needs. */
export function repeatBytes(id: string, queueName: string): number {
  return 128 + id.length + queueName.length;
}

export function subscriptionBytes(queueName: string): number {
  return 320 + 2 * queueName.length;
}
