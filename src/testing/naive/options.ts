// The naive broker's rules for queue options: which are valid, which are equal, and the defaults. Written from the requirements (QUEUE),
// not from the core.

import type { BrokerSettings } from '../../broker/interface/settings.ts';
import type { QueueOptions } from '../../model/queue-options.ts';

export function defaultOptions(settings: BrokerSettings): QueueOptions {
  return {
    mode: settings.defaultDeliveryMode,
    maxQueueSize: settings.defaultMaxQueueSize,
    enableDeadLetterQueue: false,
    overflowStrategy: 0,
    maxRetryAttempts: 3,
  };
}

export function deadLetterName(queue: string, options: QueueOptions): string {
  return options.deadLetterQueueName === undefined ? `${queue}.dlq` : options.deadLetterQueueName;
}

/** What a dead letter queue is like that nobody created by hand. */
export function deadLetterOptions(source: QueueOptions): QueueOptions {
  return {
    mode: 0,
    maxQueueSize: source.maxQueueSize,
    enableDeadLetterQueue: false,
    overflowStrategy: 0,
    maxRetryAttempts: 3,
  };
}

export function isPossible(queue: string, options: QueueOptions): boolean {
  const counts = [options.maxQueueSize, options.maxRetryAttempts];
  if (counts.some((count) => !(count >= 1 && count <= 2_147_483_647 && count % 1 === 0))) return false;
  const ttl = options.messageTtlMs;
  if (ttl !== undefined && !(ttl > 0 && ttl <= 864_000_000_000)) return false;
  if (options.deadLetterQueueName !== undefined && !isName(options.deadLetterQueueName)) return false;
  if (!options.enableDeadLetterQueue) return options.overflowStrategy !== 3;
  const name = deadLetterName(queue, options);
  return name !== queue && isName(name);
}

function isName(text: string): boolean {
  const good = [...text].filter((letter) => /[\p{L}\p{Nd}]/u.test(letter) || '-_.'.includes(letter));
  return text.length > 0 && text.length <= 256 && good.join('') === text;
}

export function meanTheSame(queue: string, a: QueueOptions, b: QueueOptions): boolean {
  const parts = (options: QueueOptions) => [
    options.mode,
    options.maxQueueSize,
    options.messageTtlMs,
    options.enableDeadLetterQueue,
    deadLetterName(queue, options),
    options.overflowStrategy,
    options.maxRetryAttempts,
  ];
  return JSON.stringify(parts(a)) === JSON.stringify(parts(b));
}
