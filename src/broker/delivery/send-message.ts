// The one place at which a message goes out to a subscriber. Implements METRICS-009, METRICS-011 and METRICS-015.

import type { QueuedMessage } from '../queue/message.ts';
import type { Queue } from '../queue/queue.ts';
import type { StepContext } from '../queue/step-context.ts';
import type { Member } from './members.ts';

/** `attempt`: 1 for the first sending of this copy. `sentBefore`: how often the message was sent before it had copies. */
export function sendMessage(
  step: StepContext,
  queue: Queue,
  message: QueuedMessage,
  { member, attempt }: { readonly member: Member; readonly attempt: number },
  sentBefore: number,
): void {
  const { stats, now } = step;
  stats.deliveredCount += 1;
  queue.deliveredCount += 1;
  if (attempt > 1) stats.retryCount += 1;
  if (message.sentCount === 0) {
    stats.firstDeliveryCount += 1;
    step.waited(now - message.acceptedAt);
  }
  message.sentCount += 1;
  step.effect({
    kind: 'deliver',
    connection: member.subscriber.id,
    queue: queue.name,
    id: message.id,
    content: message.content,
    attempt: sentBefore + attempt,
    deadLetter: message.deadLetter,
  });
}
