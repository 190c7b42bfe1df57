// The turns of connections whose input does not end.

import { describe, expect, it } from 'vitest';
import { ReadTurn, ReadTurns } from './read-turns.ts';

type PartyOptions = {
  /** How long the last commit took. */
  readonly commitMs?: number;
  readonly hasRateLimit?: boolean;
};

function party({ commitMs = 0, hasRateLimit = true }: PartyOptions = {}) {
  const tasks: (() => void)[] = [];
  const clock = { ms: 0 };
  const timers: { readonly at: number; readonly task: () => void }[] = [];
  const turns = new ReadTurns({
    clock: { now: () => clock.ms },
    scheduler: {
      soon: (task) => void tasks.push(task),
      after: (delayMs, task) => {
        timers.push({ at: clock.ms + delayMs, task });
        return () => undefined;
      },
    },
    hasRateLimit,
    commitMs: () => commitMs,
  });
  const resumed: string[] = [];
  const turnOf = (name: string, goOn: () => void = () => undefined) =>
    new ReadTurn(turns, () => {
      resumed.push(name);
      goOn();
    });
  const nextTurn = () => {
    for (const task of tasks.splice(0)) task();
  };
  /** Lets so many milliseconds pass, one after the other. */
  const advance = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1) {
      clock.ms += 1;
      for (const { at, task } of timers.splice(0)) {
        if (at === clock.ms) task();
        else timers.push({ at, task });
      }
    }
  };
  const nextMillisecond = () => advance(1);
  return { turnOf, nextTurn, advance, nextMillisecond, resumed, tasks, clock };
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

describe('a connection that is held back', () => {
  it('has no turn for a millisecond [PUBLISH-024]', () => {
    const { turnOf, nextTurn, nextMillisecond, resumed } = party();
    const turn = turnOf('a');
    turn.received(1);
    turn.holdBack();
    nextTurn();
    expect(turn.isOver).toBe(true);
    expect(resumed).toEqual([]);
    nextMillisecond();
    expect(turn.isOver).toBe(false);
    expect(resumed).toEqual(['a']);
  });

  it('waits no longer when it is held back again meanwhile [PUBLISH-024]', () => {
    const { turnOf, nextMillisecond, resumed } = party();
    const turn = turnOf('a');
    turn.holdBack();
    turn.holdBack();
    nextMillisecond();
    expect(turn.isOver).toBe(false);
    expect(resumed).toEqual(['a']);
    turn.holdBack();
    expect(turn.isOver).toBe(true);
  });

  it('waits for as long as it is told, also when it waits for a moment already [LIMIT-026]', () => {
    const { turnOf, advance, resumed } = party();
    const turn = turnOf('a');
    turn.holdBack();
    turn.holdBack(500);
    turn.holdBack();
    advance(499);
    expect([turn.isOver, resumed]).toEqual([true, []]);
    advance(1);
    expect([turn.isOver, resumed]).toEqual([false, ['a']]);
  });

  it('waits for both when its turn was over too [PUBLISH-024]', () => {
    const { turnOf, nextTurn, nextMillisecond } = party();
    const turn = turnOf('a');
    turn.received(1);
    handle(turn, 256);
    turn.holdBack();
    nextTurn();
    expect(turn.isOver).toBe(true);
    nextMillisecond();
    expect(turn.isOver).toBe(false);
  });

  it('keeps nobody else waiting [PUBLISH-024]', () => {
    const { turnOf } = party();
    const [held, other] = [turnOf('held'), turnOf('other')];
    held.holdBack();
    expect(other.isOver).toBe(false);
  });
});

/** The turn is over for the connection that uses it after so many milliseconds, and not before. */
function expectLength(lengthMs: number, { turnOf, clock }: ReturnType<typeof party>): void {
  const turn = turnOf('a');
  turn.received(1);
  clock.ms = lengthMs - 0.01;
  handle(turn, 16);
  expect(turn.isOver).toBe(false);
  clock.ms = lengthMs;
  handle(turn, 16);
  expect(turn.isOver).toBe(true);
}

describe('the time of a turn', () => {
  it('is shared: the connection that has used it up waits, and so does the next after a few frames [CONN-021]', () => {
    const { turnOf, clock } = party();
    const [first, second] = [turnOf('first'), turnOf('second')];
    for (const turn of [first, second]) turn.received(1);
    clock.ms = 0.24;
    handle(first, 16);
    expect(first.isOver).toBe(false);
    clock.ms = 0.25;
    handle(first, 15);
    expect(first.isOver).toBe(false);
    handle(first, 1);
    expect(first.isOver).toBe(true);
    handle(second, 15);
    expect(second.isOver).toBe(false);
    handle(second, 1);
    expect(second.isOver).toBe(true);
  });

  it('is not for those that had more than their last turn, when it is over; others do not wait [CONN-021]', () => {
    const { turnOf, nextTurn, clock } = party();
    const [busy, quiet] = [turnOf('busy'), turnOf('quiet')];
    for (const turn of [busy, quiet]) turn.received(1);
    handle(busy, 256);
    nextTurn();
    clock.ms = 1;
    for (const turn of [busy, quiet]) turn.received(1);
    expect([busy.isOver, quiet.isOver]).toEqual([true, false]);
    nextTurn();
    nextTurn();
    clock.ms = 2;
    busy.received(1);
    expect(busy.isOver).toBe(false);
  });

  it('is again for one that has waited with little, while others always have more [CONN-021]', () => {
    const { turnOf, nextTurn, clock } = party();
    const [busy, quiet] = [turnOf('busy'), turnOf('quiet')];
    const beBusy = () => {
      busy.received(65_536);
      clock.ms += 1;
      handle(busy, 256);
    };
    beBusy();
    quiet.received(196);
    expect([busy.isOver, quiet.isOver]).toEqual([true, true]);
    for (let count = 0; count < 3; count += 1) {
      nextTurn();
      beBusy();
      quiet.received(196);
      handle(quiet, 4);
      expect([busy.isOver, quiet.isOver]).toEqual([true, false]);
    }
  });

  it('suffices for a few bytes of each connection, however long that takes', () => {
    const { turnOf, nextTurn, clock } = party();
    const turn = turnOf('a');
    turn.received(1);
    nextTurn();
    turn.received(1);
    clock.ms = 1;
    turn.received(4095);
    expect(turn.isOver).toBe(false);
    turn.received(1);
    expect(turn.isOver).toBe(true);
  });

  it('is not for the first bytes of a connection when it is over [CONN-021]', () => {
    const { turnOf, clock } = party();
    const [first, second] = [turnOf('first'), turnOf('second')];
    first.received(1);
    clock.ms = 1;
    second.received(1);
    expect([first.isOver, second.isOver]).toEqual([false, true]);
  });

  it('is as long as the last commit took, up to 2 ms', () => {
    for (const [commitMs, lengthMs] of [
      [1, 1],
      [9, 2],
    ] as const) {
      expectLength(lengthMs, party({ commitMs }));
    }
  });

  it('is a millisecond at least where rates are not limited', () => {
    expectLength(1, party({ hasRateLimit: false }));
    expectLength(1.5, party({ hasRateLimit: false, commitMs: 1.5 }));
  });

  it('goes round: those that it did not suffice for come first in the next turn', () => {
    const { turnOf, nextTurn, resumed, clock } = party();
    const all: ReadTurn[] = [];
    const goOn = (turn: ReadTurn | undefined) => {
      clock.ms += 0.2;
      if (turn !== undefined) handle(turn, 256);
    };
    for (const [index, name] of ['a', 'b', 'c'].entries()) all.push(turnOf(name, () => goOn(all[index])));
    for (const turn of all) turn.received(1);
    for (const turn of all) handle(turn, 256);
    nextTurn();
    // The clock is read while the first two go on, and before the third.
    expect(resumed).toEqual(['a', 'b']);
    nextTurn();
    nextTurn();
    expect(resumed.toSorted()).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
    expect(resumed[2]).toBe('c');
  });
});

describe('the order of those that wait', () => {
  /** Connections with these names, each of which has had so many bytes in a turn that is over. */
  function waiting(had: Readonly<Record<string, number>>) {
    const all = party();
    for (const [name, bytes] of Object.entries(had)) {
      const turn = all.turnOf(name, () => {
        all.clock.ms += 1;
      });
      turn.received(bytes);
      handle(turn, 256);
    }
    return all;
  }

  it('is that of what they had: the one that had the least goes on first [CONN-021]', () => {
    const { nextTurn, resumed } = waiting({ much: 3000, little: 1000, more: 2000 });
    for (let count = 0; count < 3; count += 1) nextTurn();
    expect(resumed).toEqual(['little', 'more', 'much']);
  });

  it('is that of the calls among equals', () => {
    const { nextTurn, resumed } = waiting({ c: 5, a: 5, b: 5 });
    for (let count = 0; count < 3; count += 1) nextTurn();
    expect(resumed).toEqual(['c', 'a', 'b']);
  });

  it('lets a connection that has been quiet go before those that have waited, and not for long [CONN-021]', () => {
    const { turnOf, nextTurn, resumed, clock } = party();
    // Each takes a whole turn whenever it may.
    const busy = (name: string): ReadTurn => {
      const turn: ReadTurn = turnOf(name, () => {
        clock.ms += 1;
        turn.received(65_536);
        handle(turn, 256);
      });
      turn.received(65_536);
      handle(turn, 256);
      return turn;
    };
    for (const name of ['a', 'b', 'c', 'd']) busy(name);
    for (let count = 0; count < 40; count += 1) nextTurn();
    const late = busy('late');
    expect(late.isOver).toBe(true);
    resumed.splice(0);
    for (let count = 0; count < 20; count += 1) nextTurn();
    expect(resumed[0]).toBe('late');
    // It had a lead of about one turn, and then its share.
    const shares = ['late', 'a', 'b', 'c', 'd'].map((name) => resumed.filter((one) => one === name).length);
    for (const share of shares) expect(share).toBeGreaterThanOrEqual(3);
    for (const share of shares) expect(share).toBeLessThanOrEqual(6);
  });

  it('forgets what a connection had when nobody waits any more', () => {
    const { turnOf, nextTurn, resumed, clock } = party();
    const takeTime = () => {
      clock.ms += 1;
    };
    const [old, other] = [turnOf('old', takeTime), turnOf('other', takeTime)];
    for (let count = 0; count < 9; count += 1) {
      old.received(65_536);
      handle(old, 256);
      nextTurn();
    }
    resumed.splice(0);
    for (const turn of [old, other]) {
      turn.received(10);
      handle(turn, 256);
    }
    nextTurn();
    nextTurn();
    expect(resumed).toEqual(['old', 'other']);
  });

  it('has room for eight in a turn, because what they are about to receive takes time too', () => {
    const { turnOf, nextTurn, resumed } = party();
    for (let count = 0; count < 20; count += 1) {
      const turn = turnOf(String(count));
      turn.received(1_048_576);
      expect(turn.isOver).toBe(true);
    }
    nextTurn();
    expect(resumed).toHaveLength(8);
    nextTurn();
    nextTurn();
    expect(new Set(resumed).size).toBe(20);
  });
});
