// The error of conflict strategy Fail. Implements CLIENT-025.

import { ClientError } from '../errors.ts';
import type { QueueDifference } from './differences.ts';

/** Existing queues differ from their declarations, and the conflict strategy is Fail. `code` is `QUEUE_CONFLICT`. */
export class QueueConflictError extends ClientError {
  /** Every difference of the queues that conflict: at least one Soft or Hard one for each queue, and the Info ones. */
  readonly differences: readonly QueueDifference[];

  constructor(differences: readonly QueueDifference[]) {
    const list = differences.map(
      ({ queue, option, declared, live, severity }) =>
        `${queue}: ${option} is declared as ${declared ?? 'none'}, the queue has ${live ?? 'none'} (${severity})`,
    );
    const advice = 'Change the declaration, or delete the queue, or use conflict strategy Ignore or Override';
    super(
      'QUEUE_CONFLICT',
      `existing queues differ from their declarations. ${list.join('. ')}. ${advice}; Override deletes the messages of the queue.`,
    );
    this.differences = differences;
  }
}
