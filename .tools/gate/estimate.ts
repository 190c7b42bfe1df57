// The figure of a row, from the turns of several pairs of processes. Within a process the fastest tenth of the turns counts: other work on the
// machine, and collections, only make turns slower, in bursts. Between pairs the median counts: a process differs from the next for its whole life,
// because the compiler and the memory did not treat it the same. Pure.

/** What each turn of a broker and of a skeleton took, for the same load. */
export type Pair = { readonly brokerMs: readonly number[]; readonly skeletonMs: readonly number[] };

const quickShare = 0.1;

/** What the broker takes, to what the skeleton takes; undefined without a turn of either. */
export function ratioOfPairs(pairs: readonly Pair[]): number | undefined {
  const ratios = pairs.map(({ brokerMs, skeletonMs }) => quickOf(brokerMs) / quickOf(skeletonMs));
  return pairs.length > 0 && ratios.every(Number.isFinite) ? quantile(ratios, 0.5) : undefined;
}

function quickOf(turnsMs: readonly number[]): number {
  return quantile(turnsMs, quickShare);
}

/** Between two values where the share falls between them; NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
