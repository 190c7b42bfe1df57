// Finds deliveries that the broker still has to make: a waiting message is due when a subscriber holds nothing of its queue. A subscriber
// that holds one message need not get another one, since its window may be 1. Clauses: DELIVERY-010, 014, 024, 038, 049.
import type { Breach } from './breach.ts';
import { mayBackOff } from './delivery-order.ts';
import type { ModelMessage, Queue, State } from './state.ts';
import { isFanOut } from './state.ts';
import { idleSubscribers } from './waiting-range.ts';

/** The first delivery that is due; undefined when none is. With `late`, messages in backoff or retry delay are due too. */
export function firstDue(state: State, late: boolean): Breach | undefined {
  for (const queue of state.queues.values()) {
    const found = queue.messages
      .map((message) => dueOf(queue, message, late))
      .find((one) => one !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}

function dueOf(queue: Queue, message: ModelMessage, late: boolean): Breach | undefined {
  if (message.copies !== undefined) return dueCopyOf(queue, message, late);
  const isDue = message.phase === 'waiting' && (late || !mayBackOff(message));
  const idle = idleSubscribers(queue).find((one) => !message.acknowledgedBy.includes(one));
  const hasPlace = idle !== undefined || queue.subscribers.some((one) => one === message.holder);
  const isLate = late && message.phase === 'paused' && hasPlace;
  if (isLate) return notDelivered('RETRY-007', queue, message, 'any subscriber, as its next attempt');
  if (!isDue || idle === undefined) return undefined;
  return notDelivered(clauseOf(queue, message), queue, message, `connection ${nameOf(idle)}`);
}

function dueCopyOf(queue: Queue, message: ModelMessage, late: boolean): Breach | undefined {
  const idle = new Set(idleSubscribers(queue));
  const isOwed = message.copies?.find(({ member, phase }) => phase === 'owed' && idle.has(member));
  if (isOwed !== undefined)
    return notDelivered(clauseOf(queue, message), queue, message, `connection ${nameOf(isOwed.member)}`);
  const paused = message.copies?.find(({ phase }) => late && phase === 'paused');
  return paused === undefined
    ? undefined
    : notDelivered('RETRY-012', queue, message, `connection ${nameOf(paused.member)}, as its next attempt`);
}

function notDelivered(clause: string, queue: Queue, { content }: ModelMessage, to: string): Breach {
  return { clause, text: `${content.id} of ${queue.name} is not delivered to ${to}` };
}

function clauseOf(queue: Queue, message: ModelMessage): string {
  if (isFanOut(queue) && message.copies !== undefined)
    return queue.options.mode === 'FanOutWithAck' ? 'DELIVERY-014' : 'DELIVERY-024';
  if (message.deadLetter !== undefined) return 'DLQ-001';
  return message.sentCount > 0 ? 'DELIVERY-038' : 'DELIVERY-010';
}

function nameOf(connection: number): string {
  return `#${connection + 1}`;
}
