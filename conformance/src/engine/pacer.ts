// Keeps the runner under the connection rate that the target declares, so that the broker does not refuse connections of the runner.
// Each caller waits for a turn; turns are given in request order.

import { BusyTime } from '../busy-time.ts';

export type Pacer = {
  /** Resolves when a connection may be opened; the turn counts from then on. */
  turn(): Promise<void>;
  /** Reserves a turn until it is used or given back; undefined if none is free now. Absent if turns are not limited. */
  readonly reserve?: () => Turn | undefined;
  /** Resolves when a turn may be free, or when the wait is cancelled: an unused wait must not keep the process alive. */
  readonly freed?: () => TurnWait;
  /** The number of turns in one window. */
  readonly capacity?: number;
  /** True while the broker may still count connections of an earlier run, so that it may refuse one within the rate. */
  readonly mayBeRefused?: () => boolean;
  /** The broker has refused a connection: the next turn is given after a whole window. */
  readonly refused?: () => void;
};

export type Turn = {
  /** The connection is opened now: the turn counts from now on. */
  use(): void;
  /** Frees the turn, unless it was used. */
  giveBack(): void;
};

export type TurnWait = { readonly done: Promise<void>; cancel(): void };

export const noPacer: Pacer = { turn: async () => {} };

export type WatchedPacer = Pacer & {
  /** Milliseconds during which at least one caller waited for a turn, until now. */
  waitedMs(): number;
};

/** The same pacer for one check: measures how long the check waits for turns, which does not count as its duration. */
export function watchedPacer(pacer: Pacer): WatchedPacer {
  const waiting = new BusyTime();
  return {
    ...pacer,
    turn: async () => {
      waiting.begin();
      await pacer.turn().finally(() => waiting.end());
    },
    waitedMs: () => waiting.ms,
  };
}

/** A connection reaches the broker a little after its turn, so that the window of the broker may start later. */
const arrivalMarginMs = 500;

/** At most `maxCount` turns in any window of `windowMs`, measured by a broker that sees each one a little later. */
export function windowPacer(maxCount: number, windowMs: number): Pacer {
  const pacedMs = windowMs + arrivalMarginMs;
  const startedAt = performance.now();
  /** When each was used; infinity: not yet. */
  let given: { at: number }[] = [];
  let waiting: (() => void)[] = [];
  let tail: Promise<void> = Promise.resolve();

  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
  const freed = (): TurnWait => {
    let cancel = (): void => {};
    const done = new Promise<void>((resolve) => {
      const oldestAt = Math.min(...given.map(({ at }) => at));
      const waitMs = Math.max(0, oldestAt + pacedMs - performance.now() + 1);
      const timer = Number.isFinite(waitMs) ? setTimeout(() => resolve(), waitMs) : undefined;
      cancel = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push(cancel);
    });
    return { done, cancel };
  };
  const reserve = (): Turn | undefined => {
    given = given.filter(({ at }) => !(performance.now() - at >= pacedMs));
    if (given.length >= maxCount) return undefined;
    const entry = { at: Number.POSITIVE_INFINITY };
    given.push(entry);
    return {
      use: () => {
        entry.at = performance.now();
        // Waiting callers could not know before when this turn is used.
        wake();
      },
      giveBack: () => {
        if (entry.at !== Number.POSITIVE_INFINITY) return;
        given = given.filter((other) => other !== entry);
        wake();
      },
    };
  };
  const next = async (): Promise<void> => {
    let turn = reserve();
    while (turn === undefined) {
      await freed().done;
      turn = reserve();
    }
    turn.use();
  };
  return {
    mayBeRefused: () => performance.now() - startedAt < pacedMs,
    refused: () => {
      given = Array.from({ length: maxCount }, () => ({ at: performance.now() }));
    },
    reserve,
    freed,
    capacity: maxCount,
    turn: () => {
      tail = tail.then(next);
      return tail;
    },
  };
}
