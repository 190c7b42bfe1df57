// Lists of messages against a sorted array: whatever comes back to its place and leaves from anywhere, the first is the one
// that was accepted first; by priority, the one with the highest priority among these.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Priority } from '../model/priority.ts';
import { anyContent } from '../testing/test-content.ts';
import { QueuedMessage } from './message.ts';
import { SequenceList } from './sequence-list.ts';
import { PriorityOrder, type WaitingMessages } from './waiting-messages.ts';

/** A move is about the message of that number: it comes in when it is out and leaves when it is in. */
const moves = fc.array(fc.nat(11), { maxLength: 80, size: 'max' });

function message(sequence: number, priority: Priority): QueuedMessage {
  const made = new QueuedMessage('waiting', { id: `m${sequence}`, priority, content: anyContent(1) });
  made.sequence = sequence;
  return made;
}

type Looked = {
  readonly first: QueuedMessage | undefined;
  readonly inside: readonly QueuedMessage[];
  readonly size: number;
};

function play(
  list: Pick<WaitingMessages, 'first' | 'insert' | 'remove' | 'size'>,
  sequence: readonly number[],
  priorityOf: (number: number) => Priority,
  look: (looked: Looked) => void,
): void {
  const messages = Array.from({ length: 12 }, (_, number) => message(number + 1, priorityOf(number)));
  const inside = new Set<QueuedMessage>();
  for (const number of sequence) {
    const moved = messages[number];
    if (moved === undefined) continue;
    if (inside.delete(moved)) list.remove(moved);
    else {
      inside.add(moved);
      list.insert(moved);
    }
    look({ first: list.first(), inside: [...inside], size: list.size });
  }
}

function byAge(a: QueuedMessage, b: QueuedMessage): number {
  return a.sequence - b.sequence;
}

describe('a list of messages', () => {
  it('has the one accepted first in front [DELIVERY-039]', () => {
    const property = fc.property(moves, (sequence) => {
      play(
        new SequenceList(),
        sequence,
        () => 1,
        ({ first, inside, size }) => {
          expect(first).toBe([...inside].sort(byAge)[0]);
          expect(size).toBe(inside.length);
        },
      );
    });
    fc.assert(property);
  });

  it('by priority has the highest in front, and knows the oldest of all [DELIVERY-031, OVERFLOW-003]', () => {
    const property = fc.property(moves, (sequence) => {
      const list = new PriorityOrder();
      play(
        list,
        sequence,
        (number) => ([0, 3, 1, 2] as const)[number % 4] ?? 0,
        ({ first, inside, size }) => {
          const offered = [...inside].sort((a, b) => b.priority - a.priority || byAge(a, b));
          expect(first).toBe(offered[0]);
          expect(list.oldest()).toBe([...inside].sort(byAge)[0]);
          expect(size).toBe(inside.length);
        },
      );
    });
    fc.assert(property);
  });
});
