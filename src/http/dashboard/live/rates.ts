// Rates from counters, as the live streams show them. Pure.

/**
 * A second, over the time in which the counter rose by `count`; to a tenth, so that a steady rate stays the same number. 0 when no time has passed, or
 * when the counter has fallen: then the broker has begun anew.
 */
export function ratePerSecond(count: number, elapsedMs: number): number {
  if (elapsedMs <= 0 || count <= 0) return 0;
  return Math.round((count * 10_000) / elapsedMs) / 10;
}
