// The figures of a row, from the turns of several rounds with processes of their own. Within a process the fastest tenth of the turns counts:
// other work on the machine, and collections, only make turns slower, in bursts. Between rounds the median counts: a process differs from the
// next for its whole life, because the compiler and the memory did not treat it the same. Pure.

/** What each turn of a broker and of a skeleton took, for the same load; and of the kept broker, if it was there. */
export type Round = {
  readonly brokerMs: readonly number[];
  readonly skeletonMs: readonly number[];
  readonly keptMs?: readonly number[];
};

const quickShare = 0.1;

/** What the broker takes, to what the skeleton takes; undefined without a turn of either. */
export function ratioOfRounds(rounds: readonly Round[]): number | undefined {
  return medianOf(rounds.map(({ brokerMs, skeletonMs }) => quickOf(brokerMs) / quickOf(skeletonMs)));
}

/** By which part the broker's ratio is above that of the kept broker in the same rounds: the skeleton cancels out. Undefined without turns. */
export function changeOfRounds(rounds: readonly Round[]): number | undefined {
  const changes = rounds.map(({ brokerMs, keptMs = [] }) => quickOf(brokerMs) / quickOf(keptMs) - 1);
  return medianOf(changes);
}

function medianOf(values: readonly number[]): number | undefined {
  return values.length > 0 && values.every(Number.isFinite) ? quantile(values, 0.5) : undefined;
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
