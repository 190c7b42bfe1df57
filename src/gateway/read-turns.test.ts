// The turns of connections whose input does not end.

import { describe, expect, it } from 'vitest';
import { ReadTurn, ReadTurns } from './read-turns.ts';

function party() {
  const tasks: (() => void)[] = [];
  const turns = new ReadTurns({ soon: (task) => void tasks.push(task) });
  const resumed: string[] = [];
  const turnOf = (name: string) => new ReadTurn(turns, () => void resumed.push(name));
  const nextTurn = () => {
    for (const task of tasks.splice(0)) task();
  };
  return { turnOf, nextTurn, resumed, tasks };
}

function handle(turn: ReadTurn, count: number): void {
  for (let left = count; left > 0; left -= 1) turn.handled();
}

describe('the turn of a connection', () => {
  it('is over with its frame 256, and goes on in the next turn of the event loop', () => {
    const { turnOf, nextTurn, resumed } = party();
    const turn = turnOf('a');
    turn.received(1);
    handle(turn, 255);
    expect(turn.isOver).toBe(false);
    handle(turn, 1);
    expect(turn.isOver).toBe(true);
    nextTurn();
    expect(turn.isOver).toBe(false);
    expect(resumed).toEqual(['a']);
    handle(turn, 255);
    expect(turn.isOver).toBe(false);
  });

  it('is over with 1 MiB', () => {
    const { turnOf } = party();
    const turn = turnOf('a');
    turn.received(1_048_575);
    expect(turn.isOver).toBe(false);
    turn.received(1);
    expect(turn.isOver).toBe(true);
  });

  it('begins anew with each turn of the event loop', () => {
    const { turnOf, nextTurn, resumed } = party();
    const turn = turnOf('a');
    for (let count = 0; count < 5; count += 1) {
      turn.received(1);
      handle(turn, 250);
      expect(turn.isOver).toBe(false);
      nextTurn();
    }
    expect(resumed).toEqual([]);
  });

  it('is its own: others go on, and those that wait go on in the order in which they began to wait', () => {
    const { turnOf, nextTurn, resumed } = party();
    const [first, second, other] = [turnOf('first'), turnOf('second'), turnOf('other')];
    for (const turn of [other, second, first]) turn.received(1);
    handle(second, 256);
    handle(first, 256);
    expect(other.isOver).toBe(false);
    nextTurn();
    expect(resumed).toEqual(['second', 'first']);
  });

  it('goes on after what was to be done when it was over', () => {
    const { turnOf, nextTurn, resumed, tasks } = party();
    const turn = turnOf('a');
    turn.received(1);
    tasks.push(() => void resumed.push('the batch'));
    handle(turn, 256);
    nextTurn();
    expect(resumed).toEqual(['the batch', 'a']);
  });

  it('costs one callback for all connections', () => {
    const { turnOf, tasks } = party();
    for (let count = 0; count < 1_000; count += 1) turnOf(String(count)).received(100);
    expect(tasks).toHaveLength(1);
  });
});
