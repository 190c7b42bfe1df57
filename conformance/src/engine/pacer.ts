// Keeps the runner under a rate that the target declared: a broker with its default limits must not refuse the runner and be
// blamed for it. Each caller waits its turn; turns are given in the order of asking.

export type Pacer = {
  turn(): Promise<void>;
  /** True while connections of an earlier run may still count for the broker, so that it may refuse one that is within the rate. */
  readonly mayBeRefused?: () => boolean;
  /** The broker has refused a connection: the next turn comes when nothing counts any more. */
  readonly refused?: () => void;
};

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
  let given: number[] = [];
  let tail: Promise<void> = Promise.resolve();
  const next = async (): Promise<void> => {
    given = given.filter((at) => performance.now() - at < pacedMs);
    const [oldest] = given;
    if (given.length >= maxCount && oldest !== undefined) {
      const waitMs = oldest + pacedMs - performance.now();
      await new Promise((resolve) => setTimeout(resolve, waitMs + 1));
      given.shift();
    }
    given.push(performance.now());
  };
  return {
    mayBeRefused: () => performance.now() - startedAt < pacedMs,
    refused: () => {
      given = Array.from({ length: maxCount }, () => performance.now());
    },
    turn: () => {
      tail = tail.then(next);
      return tail;
    },
  };
}
