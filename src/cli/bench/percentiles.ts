// Percentiles of measured latencies. Pure.

export type Latency = {
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
};

/** By the nearest rank, in hundredths of a millisecond; undefined: nothing was measured. Sorts the values in place. */
export function latencyOf(values: Float64Array): Latency | undefined {
  if (values.length === 0) return undefined;
  values.sort();
  const at = (share: number) => rounded(values[Math.ceil(values.length * share) - 1] ?? 0);
  return { p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), maxMs: at(1) };
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
