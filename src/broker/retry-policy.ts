// When an attempt that failed is made again. Implements RETRY (the doubling pause).

/** Milliseconds to pause after the `failures`-th failed attempt (1 or more): doubling, up to a longest pause. */
export function retryDelayMs(
  failures: number,
  settings: { readonly retryDelayMs: number; readonly maxRetryDelayMs: number },
): number {
  // 2 ** 1024 is Infinity, and 0 * Infinity is NaN, which is not a time.
  if (settings.retryDelayMs === 0) return 0;
  return Math.min(settings.retryDelayMs * 2 ** (failures - 1), settings.maxRetryDelayMs);
}
