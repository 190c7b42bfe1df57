// The order in which timers are due, and that a cleared one never is.

import { describe, expect, it } from 'vitest';
import { TimerQueue } from './timer-queue.ts';

/** Takes everything that is due and returns what the callbacks say. */
function due(queue: TimerQueue, now: number): number[] {
  const results: number[] = [];
  for (let callback = queue.takeDue(now); callback !== undefined; callback = queue.takeDue(now)) {
    results.push(callback(10));
  }
  return results;
}

describe('the timer queue', () => {
  it('has timers due in the order of their instants, then of their ranks, then as they were set', () => {
    const queue = new TimerQueue();
    queue.set(2, () => 4, 1);
    queue.set(1, () => 2, 1);
    queue.set(1, () => 3, 1);
    queue.set(1, () => 1, 0);
    expect(queue.nextAt()).toBe(1);
    expect(due(queue, 1)).toEqual([1, 2, 3]);
    expect(queue.nextAt()).toBe(2);
    expect(due(queue, 5)).toEqual([4]);
    expect(queue.nextAt()).toBeUndefined();
  });

  it('forgets a timer that is cleared, also twice', () => {
    const queue = new TimerQueue();
    const timer = queue.set(1, () => 1, 0);
    queue.clear(timer);
    queue.clear(timer);
    expect(due(queue, 1)).toEqual([]);
  });
});
