// How many messages of a queue wait. It is a range, because the specification leaves some of it open: `min` to `max` are allowed, `usual`
// is recommended. Clauses: QUEUE-025, DELIVERY-018, OVERFLOW (full).
import type { ModelMessage, Queue } from './state.ts';
import { isFanOut } from './state.ts';

export type WaitingRange = { readonly min: number; readonly usual: number; readonly max: number };

export function waitingRange(queue: Queue): WaitingRange {
  const ranges = queue.messages.map((message) => rangeOf(queue, message));
  const sum = (part: keyof WaitingRange): number => ranges.reduce((total, range) => total + range[part], 0);
  return { min: sum('min'), usual: sum('usual'), max: sum('max') };
}

/** Whether a message counts as waiting. A retry delay may be over at any time, and then the message may wait for a free subscriber. */
function rangeOf(queue: Queue, message: ModelMessage): WaitingRange {
  if (message.phase === 'paused') return { min: 0, usual: 0, max: 1 };
  if (message.phase === 'held') return { min: 0, usual: 0, max: 0 };
  // The members that have not acknowledged it may be gone: then the broker may have settled it.
  if (message.copies === undefined && message.acknowledgedBy.length > 0) return { min: 0, usual: 0, max: 1 };
  if (message.copies === undefined) return { min: 1, usual: 1, max: 1 };
  const isOwed = message.copies.some(({ phase }) => phase === 'owed');
  const isPaused = message.copies.some(({ phase }) => phase === 'paused');
  const isSent = !isOwed || queue.options.mode === 'FanOutWithoutAck';
  return { min: 0, usual: isSent ? 0 : 1, max: isOwed || isPaused ? 1 : 0 };
}

/** The waiting messages of which no copy was delivered, in publish order. */
export function unsentMessages(queue: Queue): readonly ModelMessage[] {
  return queue.messages
    .filter(({ phase, copies }) => phase === 'waiting' && copies === undefined)
    .sort((a, b) => a.serial - b.serial);
}

/** The messages of a queue that the connection holds, copies included. */
export function heldBy(queue: Queue, connection: number): readonly ModelMessage[] {
  return queue.messages.filter((message) => {
    if (message.copies === undefined)
      return message.holder === connection && (message.phase === 'held' || message.phase === 'paused');
    return message.copies.some(
      ({ member, phase }) => member === connection && (phase === 'held' || phase === 'paused'),
    );
  });
}

/** Subscribers that hold nothing of the queue, so that they can receive a message whatever their window is. */
export function idleSubscribers(queue: Queue): readonly number[] {
  if (isFanOut(queue) && queue.options.mode === 'FanOutWithoutAck') return queue.subscribers;
  return queue.subscribers.filter((connection) => heldBy(queue, connection).length === 0);
}
