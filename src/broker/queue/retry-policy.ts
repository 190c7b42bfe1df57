// The delay before a failed attempt is repeated. Implements RETRY-002 and RETRY-003.

/** Milliseconds to wait after the `failures`-th failed attempt (1 or more): doubles with each, up to `maxRetryDelayMs`. */
export function retryDelayMs(
  failures: number,
  settings: { readonly retryDelayMs: number; readonly maxRetryDelayMs: number },
): number {
  // 2 ** 1024 is Infinity, and 0 * Infinity is NaN, which is not a time.
  if (settings.retryDelayMs === 0) return 0;
  return Math.min(settings.retryDelayMs * 2 ** (failures - 1), settings.maxRetryDelayMs);
}
