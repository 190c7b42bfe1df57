// The options of a queue: their defaults, which values are possible, and when two sets of options are the same. Implements QUEUE-002 to
// QUEUE-007 and QUEUE-032 to QUEUE-035.

import { DeliveryMode } from './delivery-mode.ts';
import { OverflowStrategy } from './overflow-strategy.ts';
import { isQueueName } from './queue-name.ts';

export type QueueOptions = {
  readonly mode: DeliveryMode;
  /** Most messages that may wait; 1 .. 2,147,483,647. */
  readonly maxQueueSize: number;
  /** How old a message may become, in milliseconds; absent: no limit. More than 0, at most 10,000 days. */
  readonly messageTtlMs?: number;
  readonly enableDeadLetterQueue: boolean;
  /** Absent: `<queue>.dlq`. */
  readonly deadLetterQueueName?: string;
  readonly overflowStrategy: OverflowStrategy;
  /** Attempts that may fail before the message is given up; 1 .. 2,147,483,647. */
  readonly maxRetryAttempts: number;
};

/** What a property has that a CreateQueue payload leaves out. */
export const defaultQueueOptions: QueueOptions = {
  mode: DeliveryMode.RoundRobin,
  maxQueueSize: 10_000,
  enableDeadLetterQueue: false,
  overflowStrategy: OverflowStrategy.DropOldest,
  maxRetryAttempts: 3,
};

const LARGEST_COUNT = 2_147_483_647;
const LONGEST_TTL_MS = 10_000 * 86_400_000;

/** The queue that takes the dead letters of `queue`, whether or not its dead letter queue is on. */
export function deadLetterQueueOf(queue: string, options: QueueOptions): string {
  return options.deadLetterQueueName ?? `${queue}.dlq`;
}

/** The options of a dead letter queue that the broker creates for a queue with `source`'s options. */
export function deadLetterQueueOptions(source: QueueOptions): QueueOptions {
  return { ...defaultQueueOptions, maxQueueSize: source.maxQueueSize };
}

/** Why a queue of this name cannot have these options, or undefined when it can. */
export function impossibleOption(queue: string, options: QueueOptions): string | undefined {
  return impossibleNumber(options) ?? impossibleDeadLetterQueue(queue, options);
}

function impossibleNumber(options: QueueOptions): string | undefined {
  if (!isCount(options.maxQueueSize)) return `maxQueueSize must be 1 to ${LARGEST_COUNT}`;
  if (!isCount(options.maxRetryAttempts)) return `maxRetryAttempts must be 1 to ${LARGEST_COUNT}`;
  const ttl = options.messageTtlMs;
  if (ttl !== undefined && !(ttl > 0 && ttl <= LONGEST_TTL_MS)) {
    return 'messageTtl must be more than zero and at most 10000 days';
  }
  return undefined;
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= LARGEST_COUNT;
}

function impossibleDeadLetterQueue(queue: string, options: QueueOptions): string | undefined {
  const name = deadLetterQueueOf(queue, options);
  if (options.deadLetterQueueName !== undefined && !isQueueName(name)) {
    return 'deadLetterQueueName must be a queue name: 1 to 256 letters, digits, "-", "_" or "."';
  }
  if (!options.enableDeadLetterQueue) {
    return options.overflowStrategy === OverflowStrategy.RedirectToDlq
      ? 'overflowStrategy RedirectToDlq needs enableDeadLetterQueue'
      : undefined;
  }
  if (!isQueueName(name)) return `the dead letter queue's name "${name}" is longer than 256 characters`;
  if (name === queue) return 'a queue cannot be its own dead letter queue';
  return undefined;
}

/** Whether two sets of options for the queue `queue` mean the same; an absent dead letter name equals `<queue>.dlq`. */
export function sameOptions(queue: string, a: QueueOptions, b: QueueOptions): boolean {
  return (
    a.mode === b.mode &&
    a.maxQueueSize === b.maxQueueSize &&
    a.messageTtlMs === b.messageTtlMs &&
    a.enableDeadLetterQueue === b.enableDeadLetterQueue &&
    deadLetterQueueOf(queue, a) === deadLetterQueueOf(queue, b) &&
    a.overflowStrategy === b.overflowStrategy &&
    a.maxRetryAttempts === b.maxRetryAttempts
  );
}
