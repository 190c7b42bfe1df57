// Quantiles of the delivery latency between two readings of its histogram. Pure: an estimate, since a histogram only says in which bucket a time was.

import type { ShownStatistics } from '../../broker-view.ts';

export type LatencyCounts = Pick<ShownStatistics['deliveryLatency'], 'boundsMs' | 'counts'>;

/**
 * The time below which the share (0 to 1) of the deliveries between the two readings lies, in milliseconds: linear inside a bucket; in the last one,
 * which has no upper bound, its lower bound. Null when nothing was delivered in between.
 */
export function latencyQuantile(earlier: LatencyCounts, later: LatencyCounts, share: number): number | null {
  const counts = later.counts.map((count, index) => Math.max(0, count - (earlier.counts[index] ?? 0)));
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) return within(later.boundsMs, index, (rank - below) / count);
    below += count;
  }
  return later.boundsMs.at(-1) ?? 0;
}

function within(boundsMs: readonly number[], index: number, share: number): number {
  const lowerMs = boundsMs[index - 1] ?? 0;
  const upperMs = boundsMs[index] ?? lowerMs;
  return lowerMs + (upperMs - lowerMs) * share;
}
