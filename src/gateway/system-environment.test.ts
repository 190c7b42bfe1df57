// The environment of a real broker: its timers against the real clock, and its long timers against a faked one.

import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemEnvironment } from './system-environment.ts';

const { clock, scheduler, freshId } = systemEnvironment;
const DAY_MS = 86_400_000;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function fakeTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
}

describe('a timer', () => {
  it('never fires early, not by a fraction of a millisecond [RETRY-013]', async () => {
    const delays = Array.from({ length: 200 }, (_, index) => (index * 0.37) % 30);
    // They keep no process alive, so something else has to.
    const alive = setInterval(() => undefined, 1000);
    const early = await Promise.all(
      delays.map((delayMs) => {
        const dueAt = clock.now() + delayMs;
        return new Promise<number>((resolve) => {
          scheduler.after(delayMs, () => resolve(dueAt - clock.now()));
        });
      }),
    );
    clearInterval(alive);
    expect(Math.max(...early)).toBeLessThanOrEqual(0);
  });

  it.each([0, -5])('of %d ms fires at the next turn', async (delayMs) => {
    const alive = setInterval(() => undefined, 1000);
    await new Promise<void>((resolve) => void scheduler.after(delayMs, resolve));
    clearInterval(alive);
  });

  it('that is cancelled does not fire', async () => {
    fakeTime();
    const task = vi.fn();
    scheduler.after(10, task)();
    await vi.advanceTimersByTimeAsync(20);
    expect(task).not.toHaveBeenCalled();
  });

  it('may be longer than the 25 days that the event loop can wait', async () => {
    fakeTime();
    const task = vi.fn();
    scheduler.after(60 * DAY_MS, task);
    await vi.advanceTimersByTimeAsync(60 * DAY_MS - 1);
    expect(task).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(task).toHaveBeenCalledTimes(1);
  });

  it('that is cancelled after it was put off does not fire', async () => {
    fakeTime();
    const task = vi.fn();
    const cancel = scheduler.after(60 * DAY_MS, task);
    await vi.advanceTimersByTimeAsync(30 * DAY_MS);
    cancel();
    await vi.advanceTimersByTimeAsync(60 * DAY_MS);
    expect(task).not.toHaveBeenCalled();
  });
});

describe('what is to be done soon', () => {
  it('is done once everything that has arrived in this turn is handled', async () => {
    const done: string[] = [];
    scheduler.soon(() => void done.push('soon'));
    process.nextTick(() => void done.push('tick'));
    await Promise.resolve().then(() => void done.push('promise'));
    await new Promise<void>((resolve) => void setImmediate(resolve));
    expect(done.length).toBe(3);
    expect(done.at(-1)).toBe('soon');
  });
});

describe('the clocks and ids', () => {
  it('tell timers nothing of a change of the wall clock [RETRY-016]', () => {
    const [now, wallNow] = [clock.now(), Date.now()];
    vi.spyOn(Date, 'now').mockReturnValue(wallNow + DAY_MS);
    expect(clock.wallNow()).toBe(wallNow + DAY_MS);
    expect(clock.now()).toBeLessThan(now + DAY_MS);
  });

  it('are the machine’s, and never the same twice', () => {
    expect(Math.abs(clock.wallNow() - Date.now())).toBeLessThan(1000);
    expect(Math.abs(clock.now() - performance.now())).toBeLessThan(1000);
    const ids = new Set(Array.from({ length: 1000 }, freshId));
    expect(ids.size).toBe(1000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });
});
