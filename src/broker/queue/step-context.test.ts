// What a step keeps for figures and log lines: messages that dead letters pushed out, and how long messages have waited. Each is told once. The
// rest of it is tested with the core.

import { describe, expect, it } from 'vitest';
import { emptyStats } from '../interface/stats.ts';
import type { Queue } from './queue.ts';
import { StepContext } from './step-context.ts';

const queue = (name: string): Queue => ({ name, isTouched: false }) as Queue;

describe('the evictions by dead letters', () => {
  it('are counted by queue, and told once', () => {
    const step = new StepContext(emptyStats());
    expect(step.takeEvictions()).toBeUndefined();
    for (const name of ['a', 'b', 'a']) step.evicted(queue(name));
    expect(step.takeEvictions()).toEqual(
      new Map([
        ['a', 2],
        ['b', 1],
      ]),
    );
    expect(step.takeEvictions()).toBeUndefined();
    step.evicted(queue('a'));
    expect(step.takeEvictions()).toEqual(new Map([['a', 1]]));
  });
});

describe('the waits for a first delivery', () => {
  it('are told once, without those that took no time', () => {
    const step = new StepContext(emptyStats());
    expect(step.takeWaits()).toEqual([]);
    for (const durationMs of [5, 0, 0.5]) step.waited(durationMs);
    expect(step.takeWaits()).toEqual([5, 0.5]);
    expect(step.takeWaits()).toEqual([]);
  });
});

describe('a touched queue', () => {
  it('is handled once, in the order of the first touch, and may be touched again afterwards', () => {
    const step = new StepContext(emptyStats());
    const [a, b] = [queue('a'), queue('b')];
    for (const touched of [b, a, b]) step.touch(touched);
    expect([step.takeTouched(), step.takeTouched(), step.takeTouched()]).toEqual([b, a, undefined]);
    step.touch(b);
    expect(step.takeTouched()).toBe(b);
  });
});
