// Turns to connect: how many there are in a window, those that are kept, and how long a check waits for them.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Pacer, watchedPacer, windowPacer } from './pacer.ts';

function heldPacer(): Pacer & { readonly give: () => void } {
  const held: (() => void)[] = [];
  return {
    turn: () =>
      new Promise((resolve) => {
        held.push(resolve);
      }),
    give: () => held.shift()?.(),
  };
}

describe('a watched pacer', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('counts the time of a wait, while it lasts and afterwards', async () => {
    const held = heldPacer();
    const watched = watchedPacer(held);
    const turn = watched.turn();
    vi.advanceTimersByTime(70);
    expect(watched.waitedMs()).toBe(70);
    held.give();
    await turn;
    vi.advanceTimersByTime(500);
    expect(watched.waitedMs()).toBe(70);
  });

  it('counts once what several turns wait for at the same time', async () => {
    const held = heldPacer();
    const watched = watchedPacer(held);
    const turns = [watched.turn(), watched.turn()];
    vi.advanceTimersByTime(30);
    held.give();
    await turns[0];
    vi.advanceTimersByTime(10);
    held.give();
    await turns[1];
    expect(watched.waitedMs()).toBe(40);
  });
});

describe('a window pacer', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  const windowMs = 1000;
  const marginMs = 501;

  it('keeps a reserved turn until it is used, and counts it from then on', async () => {
    const pacer = windowPacer(2, windowMs);
    const kept = pacer.reserve?.();
    vi.advanceTimersByTime(10 * windowMs);
    await pacer.turn();
    expect(pacer.reserve?.()).toBeUndefined();
    vi.advanceTimersByTime(100);
    kept?.use();
    vi.advanceTimersByTime(windowMs + marginMs - 100);
    expect(pacer.reserve?.()).toBeDefined();
    expect(pacer.reserve?.()).toBeUndefined();
  });

  it('gives a turn that was given back to who waits for one', async () => {
    const pacer = windowPacer(1, windowMs);
    const kept = pacer.reserve?.();
    const waiting = pacer.turn();
    kept?.giveBack();
    await waiting;
    kept?.giveBack();
    expect(pacer.reserve?.()).toBeUndefined();
  });

  it('says when a turn may be free', async () => {
    const pacer = windowPacer(1, windowMs);
    await pacer.turn();
    const freed = pacer.freed?.();
    vi.advanceTimersByTime(windowMs + marginMs);
    await freed?.done;
    expect(pacer.reserve?.()).toBeDefined();
  });

  it('waits for nothing that was cancelled', async () => {
    const pacer = windowPacer(1, windowMs);
    await pacer.turn();
    const freed = pacer.freed?.();
    freed?.cancel();
    await freed?.done;
    expect(vi.getTimerCount()).toBe(0);
  });
});
