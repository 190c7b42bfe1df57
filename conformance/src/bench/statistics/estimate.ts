// A figure measured several times: its median and its spread. Two targets are compared round by round, because the state of the machine is
// the same within seconds, but not within minutes. Pure.

export type Estimate = {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** How far the rounds lie apart, as a share of the median: the noise. 0 for one round, which tells nothing about noise. */
  readonly spread: number;
  readonly roundCount: number;
};

/** Rounds without a value are left out; undefined when none has one. */
export function estimateOf(rounds: readonly (number | null)[]): Estimate | undefined {
  const values = rounds.filter((value) => value !== null).toSorted((a, b) => a - b);
  const [low] = values;
  const high = values.at(-1);
  if (low === undefined || high === undefined) return undefined;
  const median = middleOf(values);
  return { median, low, high, spread: shareOf(high - low, median), roundCount: values.length };
}

/** The estimate of `rounds` divided by `base`, round by round. */
export function ratioOf(
  rounds: readonly (number | null)[],
  base: readonly (number | null)[],
): Estimate | undefined {
  const ratios = rounds.map((value, round) => {
    const divisor = base[round] ?? null;
    return value === null || divisor === null || divisor === 0 ? null : value / divisor;
  });
  return estimateOf(ratios);
}

/** `sorted` holds at least one value. */
function middleOf(sorted: readonly number[]): number {
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  return (upper + lower) / 2;
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.abs(part / whole);
}
