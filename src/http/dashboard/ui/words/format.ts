// Numbers, sizes and times as the page shows them: thin spaces between groups of digits and before units, MiB, and ages in the two largest
// words that fit. Pure: whoever calls says what time it is.

/** Between groups of three digits; no line breaks here. */
const GROUP_SPACE = '\u202f';
/** Between a number and its unit. */
const UNIT_SPACE = '\u202f';
const BYTES_OF_MIB = 1_048_576;

/** A whole number in groups of three digits: `1 204`. Fractions are rounded off. */
export function formatCount(count: number): string {
  const digits = Math.round(Math.abs(count)).toString();
  const grouped = digits.replace(/\B(?=(\d{3})+$)/g, GROUP_SPACE);
  return count < 0 && digits !== '0' ? `\u2212${grouped}` : grouped;
}

/** As {@link formatCount}, with the noun in singular or plural: `1 message`, `3 queues`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** A number a second, without its unit: one decimal below 10, so that slow queues do not read 0. */
export function formatRate(rate: number): string {
  if (rate === 0) return '0';
  if (rate < 0.05) return '<0.1';
  return rate < 9.95 ? rate.toFixed(1) : formatCount(rate);
}

/** A number on the axis of a chart: as many decimals as it has, at most two. */
export function formatTick(value: number): string {
  return Number.isInteger(value) ? formatCount(value) : String(Math.round(value * 100) / 100);
}

/** Bytes in MiB: `47 MiB`; one decimal below 10 MiB. */
export function formatBytes(bytes: number): string {
  const size = bytes / BYTES_OF_MIB;
  return `${size < 9.95 && size > 0 ? size.toFixed(1) : formatCount(size)}${UNIT_SPACE}MiB`;
}

/** A latency: `0.4 ms`, `12 ms`, `3.2 s`; a dash when there is none. */
export function formatLatency(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 9.95) return `${ms.toFixed(1)}${UNIT_SPACE}ms`;
  if (ms < 999.5) return `${Math.round(ms)}${UNIT_SPACE}ms`;
  return `${(ms / 1000).toFixed(1)}${UNIT_SPACE}s`;
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** How long something takes or has taken, in milliseconds, as `4 s`, `3 min 20 s`, `2 h 5 min` or `12 d`. Negative counts as 0. */
export function formatAge(ms: number): string {
  const [unit, size] = units.find(([, least]) => ms >= least) ?? ['s', 1000];
  const whole = Math.floor(Math.max(0, ms) / size);
  const smaller = units[units.findIndex(([name]) => name === unit) + 1];
  const first = `${whole}${UNIT_SPACE}${unit}`;
  if (smaller === undefined || whole >= 10) return first;
  const rest = Math.floor((ms - whole * size) / smaller[1]);
  return rest === 0 ? first : `${first} ${rest}${UNIT_SPACE}${smaller[0]}`;
}

/** The age in one word, for tables: `3 min`. */
export function formatShortAge(ms: number): string {
  return formatAge(ms).split(' ')[0] ?? '';
}

/** An instant, relative to `now`: `4 s ago`, or `now` within the same second. Both in milliseconds since 1970. */
export function formatAgo(at: number, now: number): string {
  return now - at < 1000 ? 'now' : `${formatShortAge(now - at)} ago`;
}

/** An instant in full, in UTC, for titles: `2026-07-01 12:00:05.250 UTC`. Empty when it is no instant. */
export function formatInstant(at: number): string {
  if (!Number.isFinite(at) || Math.abs(at) > 8.64e15) return '';
  return new Date(at).toISOString().replace('T', ' ').replace('Z', ' UTC');
}

/** The time of day of an instant by the clock of whoever looks at it: `12:00:05`. */
export function formatClock(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => part.toString().padStart(2, '0'))
    .join(':');
}
