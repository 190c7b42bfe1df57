// Keeps the runner under a rate that the target declared: a broker with its default limits must not refuse the runner and be
// blamed for it. Each caller waits its turn; turns are given in the order of asking.

export type Pacer = { turn(): Promise<void> };

export const noPacer: Pacer = { turn: async () => {} };

/** A connection reaches the broker a little after its turn, by which the broker's window may be the earlier one to begin. */
const arrivalMarginMs = 500;

/** At most `maxCount` turns in any window of `windowMs`, as somebody sees them who hears of each a little later. */
export function windowPacer(maxCount: number, windowMs: number): Pacer {
  const pacedMs = windowMs + arrivalMarginMs;
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
    turn: () => {
      tail = tail.then(next);
      return tail;
    },
  };
}
