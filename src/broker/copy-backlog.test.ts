// The copies owed to a member: first in, first out, however many.

import { describe, expect, it } from 'vitest';
import { CopyBacklog } from './copy-backlog.ts';
import { QueuedMessage } from './message.ts';

function message(number: number): QueuedMessage {
  return new QueuedMessage('waiting', { id: `m${number}`, priority: 1, content: { byteLength: 1 } });
}

describe('the backlog of a member', () => {
  it('gives back what it was given, in order, through many fillings', () => {
    const backlog = new CopyBacklog();
    const taken: (string | undefined)[] = [];
    for (let number = 0; number < 5000; number += 1) {
      backlog.push(message(number));
      if (number % 3 !== 0) taken.push(backlog.take()?.id);
    }
    while (!backlog.isEmpty) taken.push(backlog.take()?.id);
    expect(taken).toEqual(Array.from({ length: 5000 }, (_, number) => `m${number}`));
    expect(backlog.take()).toBeUndefined();
  });

  it('shows the next one without taking it', () => {
    const backlog = new CopyBacklog();
    expect(backlog.first()).toBeUndefined();
    const first = message(1);
    backlog.push(first);
    backlog.push(message(2));
    expect(backlog.first()).toBe(first);
    expect(backlog.take()).toBe(first);
  });

  it('is empty when it was cleared', () => {
    const backlog = new CopyBacklog();
    backlog.push(message(1));
    backlog.clear();
    expect(backlog.isEmpty).toBe(true);
    expect(backlog.take()).toBeUndefined();
  });
});
