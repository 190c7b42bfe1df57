// How many bytes a content gains in a frame that names another queue than the content does. Implements FRAME-018 and FRAME-021.

import { deadLetterQueueOf, type QueueOptions } from '../../model/queue-options.ts';
import type { DeadLetterFacts } from '../interface/message-content.ts';
import { utf8Length } from './utf8-length.ts';

/** Bytes that a content published to the queue gains by naming the dead letter queue instead; 0 without a dead letter queue. */
export function deadLetterGrowthBytes(name: string, options: QueueOptions): number {
  if (!options.enableDeadLetterQueue) return 0;
  return Math.max(0, utf8Length(deadLetterQueueOf(name, options)) - utf8Length(name));
}

/** Bytes that the content of a dead letter, which names the source, gains by naming the queue that the dead letter is in. */
export function letterGrowthBytes(queue: string, { source }: DeadLetterFacts): number {
  return Math.max(0, utf8Length(queue) - utf8Length(source));
}
