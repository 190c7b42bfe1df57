// Time spans and timestamps as they stand on the wire: `[d.]hh:mm:ss[.fffffff]` and ISO 8601 in UTC, fractions left out
// when they are zero. Implements BODY (texts in JSON).

const TIME_SPAN = /^(?:(\d{1,8})\.)?([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,7}))?$/;
const TICKS_PER_MS = 10_000;
const DAY_MS = 86_400_000;

/** Milliseconds of a time span, in steps of a ten-thousandth; undefined if it is not a valid time span. */
export function parseTimeSpan(text: string): number | undefined {
  const match = TIME_SPAN.exec(text);
  if (match === null) return undefined;
  const [, days = '0', hours, minutes, seconds, fraction = ''] = match;
  const ms = Number(days) * DAY_MS + Number(hours) * 3_600_000 + Number(minutes) * 60_000;
  return ms + Number(seconds) * 1000 + Number(fraction.padEnd(7, '0')) / TICKS_PER_MS;
}

/** The time span of a number of milliseconds, 0 or more. */
export function formatTimeSpan(durationMs: number): string {
  // The fraction is computed separately: otherwise a time of years would lose its last digit.
  const wholeMs = Math.floor(durationMs);
  const ticks = Math.round((durationMs - wholeMs) * TICKS_PER_MS) + (wholeMs % 1000) * TICKS_PER_MS;
  const seconds = Math.floor(wholeMs / 1000) + Math.floor(ticks / (1000 * TICKS_PER_MS));
  const days = Math.floor(seconds / 86_400);
  const clock = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60, seconds % 60];
  const text = clock.map((part) => String(part).padStart(2, '0')).join(':');
  const fraction = ticks % (1000 * TICKS_PER_MS);
  const tail = fraction === 0 ? '' : `.${String(fraction).padStart(7, '0')}`;
  return `${days === 0 ? '' : `${days}.`}${text}${tail}`;
}

/** The timestamp of a moment in milliseconds since 1970. */
export function formatTimestamp(wallAt: number): string {
  return new Date(wallAt).toISOString().replace('.000Z', 'Z');
}
