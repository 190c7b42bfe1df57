// Keeps the runner under a rate that the target declared: a broker with its default limits must not refuse the runner and be
// blamed for it. Each caller waits its turn; turns are given in the order of asking.

export type Pacer = {
  /** Resolves when a connection may be opened; it counts from then on. */
  turn(): Promise<void>;
  /** A turn that is kept until it is used or given back; undefined when none is free now. Absent where turns are not limited. */
  readonly reserve?: () => Turn | undefined;
  /** Resolves when a turn may be free, or when it is cancelled: a wait that nobody needs must not keep the process alive. */
  readonly freed?: () => TurnWait;
  /** How many turns there are in one window. */
  readonly capacity?: number;
  /** True while connections of an earlier run may still count for the broker, so that it may refuse one that is within the rate. */
  readonly mayBeRefused?: () => boolean;
  /** The broker has refused a connection: the next turn comes when nothing counts any more. */
  readonly refused?: () => void;
};

export type Turn = {
  /** The connection is opened now: it counts from now on. */
  use(): void;
  /** It is not needed any more. Nothing happens when it was used. */
  giveBack(): void;
};

export type TurnWait = { readonly done: Promise<void>; cancel(): void };

export const noPacer: Pacer = { turn: async () => {} };

export type WatchedPacer = Pacer & {
  /** Milliseconds during which somebody has been waiting for a turn, those that still wait included. */
  waitedMs(): number;
};

/** The same pacer, for one check: the time that the check waits for its turns is not its own. */
export function watchedPacer(pacer: Pacer): WatchedPacer {
  let [waitingCount, beganAt, endedMs] = [0, 0, 0];
  const begin = (): void => {
    if (waitingCount === 0) beganAt = performance.now();
    waitingCount += 1;
  };
  const end = (): void => {
    waitingCount -= 1;
    if (waitingCount === 0) endedMs += performance.now() - beganAt;
  };
  return {
    ...pacer,
    turn: async () => {
      begin();
      await pacer.turn().finally(end);
    },
    waitedMs: () => endedMs + (waitingCount === 0 ? 0 : performance.now() - beganAt),
  };
}

/** A connection reaches the broker a little after its turn, by which the broker's window may be the earlier one to begin. */
const arrivalMarginMs = 500;

/** At most `maxCount` turns in any window of `windowMs`, as somebody sees them who hears of each a little later. */
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
      const waitMs = oldestAt + pacedMs - performance.now() + 1;
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
        // Who waits did not know when this one would be used.
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
