// Keeps the runner under a rate that the target declared: a broker with its default limits must not refuse the runner and be
// blamed for it. Each caller waits its turn; turns are given in the order of asking.

export type Pacer = { turn(): Promise<void> };

export const noPacer: Pacer = { turn: async () => {} };

/** At most `maxCount` turns in any window of `windowMs`. */
export function windowPacer(maxCount: number, windowMs: number): Pacer {
  let given: number[] = [];
  let tail: Promise<void> = Promise.resolve();
  const next = async (): Promise<void> => {
    given = given.filter((at) => performance.now() - at < windowMs);
    const [oldest] = given;
    if (given.length >= maxCount && oldest !== undefined) {
      const waitMs = oldest + windowMs - performance.now();
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
