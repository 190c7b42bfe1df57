// The orders of sending against a sorted array: whatever returns to its place and leaves from anywhere, the message to be sent next is
// first, and the one accepted first is known.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Priority } from '../../model/priority.ts';
import { anyContent } from '../../testing/test-content.ts';
import { QueuedMessage } from './message.ts';
import { PriorityOrder, PublishOrder, type WaitingMessages } from './waiting-order.ts';

/** A move is about the message of that number: it comes in when it is out and leaves when it is in. */
const moves = fc.array(fc.nat(11), { maxLength: 80, size: 'max' });
const priorities = [0, 3, 1, 2] as const;

function message(sequence: number, priority: Priority): QueuedMessage {
  const made = new QueuedMessage('waiting', { id: `m${sequence}`, priority, content: anyContent(1) });
  made.sequence = sequence;
  return made;
}

/** After every move the first message must be the first by `compare`, and the oldest the one accepted first. */
function holdsFor(
  newList: () => WaitingMessages,
  compare: (a: QueuedMessage, b: QueuedMessage) => number,
): void {
  const property = fc.property(moves, (sequence) => {
    const list = newList();
    const messages = Array.from({ length: 12 }, (_, number) =>
      message(number + 1, priorities[number % 4] ?? 0),
    );
    const inside = new Set<QueuedMessage>();
    for (const number of sequence) {
      const moved = messages[number];
      if (moved === undefined) continue;
      if (inside.delete(moved)) list.remove(moved);
      else {
        inside.add(moved);
        list.insert(moved);
      }
      expect(list.first()).toBe([...inside].sort(compare)[0]);
      expect(list.oldest()).toBe([...inside].sort(byAge)[0]);
      expect(list.size).toBe(inside.size);
    }
  });
  fc.assert(property);
}

function byAge(a: QueuedMessage, b: QueuedMessage): number {
  return a.sequence - b.sequence;
}

describe('the waiting messages', () => {
  it('by publishing have the one accepted first in front [DELIVERY-039]', () =>
    holdsFor(() => new PublishOrder(), byAge));

  it('by priority have the highest in front, and know the oldest of all [DELIVERY-031, OVERFLOW-003]', () =>
    holdsFor(
      () => new PriorityOrder(),
      (a, b) => b.priority - a.priority || byAge(a, b),
    ));
});
