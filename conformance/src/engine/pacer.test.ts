// How long a check waits for its turns to connect, which is not its own time: by a pacer that gives turns when it is told to.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Pacer, watchedPacer } from './pacer.ts';

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
