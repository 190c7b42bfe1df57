// A queue as `truemq queues` shows it: as JSON with the names of the options in the specification, as a list for people, and as a row of a table.
// Pure.

import type { QueueDetails } from '../../client/index.ts';
import { formatDuration } from '../../config/duration.ts';
import { escaped } from '../top/shown-text.ts';

/** The JSON of a queue. What it does not have is null. */
export function queueRecord(queue: QueueDetails) {
  return {
    name: queue.name,
    messageCount: queue.messageCount,
    subscriberCount: queue.subscriberCount,
    mode: queue.deliveryMode,
    maxQueueSize: queue.maxSize,
    messageTtlMs: queue.messageTtlMs ?? null,
    enableDeadLetterQueue: queue.enableDeadLetterQueue,
    deadLetterQueueName: deadLetterQueueOf(queue) ?? null,
    overflowStrategy: queue.overflowStrategy,
    maxRetryAttempts: queue.maxRetryAttempts,
    createdAt: queue.createdAt.toISOString(),
  };
}

export const queueHead = ['QUEUE', 'WAITING', 'SUBSCRIBERS', 'MODE', 'DEAD LETTERS'] as const;

export function queueRow(queue: QueueDetails): readonly string[] {
  const { name, messageCount, subscriberCount, deliveryMode } = queue;
  const deadLetters = deadLetterQueueOf(queue) ?? '-';
  return [name, String(messageCount), String(subscriberCount), deliveryMode, deadLetters];
}

/** One fact a line. */
export function queueFacts(queue: QueueDetails): readonly (readonly [string, string])[] {
  return [
    ['queue', escaped(queue.name)],
    ['waiting messages', `${queue.messageCount} of at most ${queue.maxSize}`],
    ['subscribers', String(queue.subscriberCount)],
    ['delivery mode', queue.deliveryMode],
    ['when it is full', queue.overflowStrategy],
    ['message TTL', queue.messageTtlMs === undefined ? 'no limit' : durationText(queue.messageTtlMs)],
    ['failed attempts', `at most ${queue.maxRetryAttempts}`],
    ['dead letters', escaped(deadLetterQueueOf(queue) ?? 'not kept')],
    ['created', queue.createdAt.toISOString()],
  ];
}

/** Undefined: dead letters are not kept. */
function deadLetterQueueOf(queue: QueueDetails): string | undefined {
  if (!queue.enableDeadLetterQueue) return undefined;
  return queue.deadLetterQueueName ?? `${queue.name}.dlq`;
}

/** A time span of the protocol may have fractions of a millisecond. */
function durationText(milliseconds: number): string {
  return Number.isInteger(milliseconds) ? formatDuration(milliseconds) : `${milliseconds}ms`;
}
