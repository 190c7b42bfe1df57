// Queues and messages as the dashboard's API writes them, field by field. Pure. A payload is passed on as the JSON text that was published, so
// that no number and no spelling changes on the way. Implements DASH-006, DASH-007, DASH-009, DASH-014, DASH-028, DASH-029 and DASH-037.

import type { ShownMessage } from '../../gateway/translate/shown-message.ts';
import type { QueueInfo } from '../../model/queue-info.ts';
import { formatTimeSpan, formatTimestamp } from '../../protocol/time-span.ts';

/** The JSON text of a queue. */
export function queueJson({
  name,
  messageCount,
  subscriberCount,
  createdWallAt,
  options,
}: QueueInfo): string {
  const { messageTtlMs } = options;
  return JSON.stringify({
    name,
    message_count: messageCount,
    subscriber_count: subscriberCount,
    delivery_mode: options.mode,
    max_size: options.maxQueueSize,
    created_at: formatTimestamp(createdWallAt),
    message_ttl: messageTtlMs === undefined ? undefined : formatTimeSpan(messageTtlMs),
    enable_dead_letter_queue: options.enableDeadLetterQueue,
    dead_letter_queue_name: options.deadLetterQueueName,
    overflow_strategy: options.overflowStrategy,
    max_retry_attempts: options.maxRetryAttempts,
  });
}

/** The JSON text of a message. */
export function messageJson(message: ShownMessage): string {
  const head = JSON.stringify({ id: message.id, queue_name: message.queue });
  const tail = JSON.stringify({
    timestamp: formatTimestamp(message.acceptedWallAt),
    headers: Object.fromEntries(message.headers),
    version: message.version,
    priority: message.priority,
    delivery_attempts: message.sentCount,
  });
  const payload = message.payload === undefined ? '' : `"payload":${message.payload},`;
  return `${head.slice(0, -1)},${payload}${tail.slice(1)}`;
}

/** The JSON text of a list whose elements are JSON texts. */
export function jsonList(elements: readonly string[]): string {
  return `[${elements.join(',')}]`;
}
