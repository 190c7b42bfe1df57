// Durations in text: `250ms`, `30s`, `5m`, `1h`, or a time span `[d.]hh:mm:ss[.fffffff]`. Converts text to milliseconds and back; knows no
// keys and no limits. Implements CONFIG-004.

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const DAY_MS = 86_400_000;
const UNIT_FORM = /^(\d+)(ms|s|m|h)$/;
const SPAN_FORM = /^(?:(\d+)\.)?(\d{2}):([0-5]\d):([0-5]\d)(?:\.(\d{1,7}))?$/;

/** The forms of a duration, for messages. */
export const DURATION_FORMS = '250ms, 30s, 5m, 1h or a time span 00:00:30';

/**
 * Reads a duration in whole milliseconds; undefined if it is not a valid duration. A unit is required: a bare number could mean seconds or
 * milliseconds. A time span with fractions of a millisecond is not valid: timers are not that precise.
 */
export function parseDuration(text: string): number | undefined {
  const milliseconds = parseUnits(text) ?? parseTimeSpan(text);
  return milliseconds !== undefined && Number.isSafeInteger(milliseconds) ? milliseconds : undefined;
}

/** The shortest text that {@link parseDuration} reads back as the same number: the largest unit that divides it. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0ms';
  for (const unit of ['h', 'm', 's'] as const) {
    if (milliseconds % UNIT_MS[unit] === 0) return `${milliseconds / UNIT_MS[unit]}${unit}`;
  }
  return `${milliseconds}ms`;
}

function parseUnits(text: string): number | undefined {
  const match = UNIT_FORM.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
}

function parseTimeSpan(text: string): number | undefined {
  const match = SPAN_FORM.exec(text);
  if (match === null || Number(match[2]) > 23) return undefined;
  const fraction = (match[5] ?? '').padEnd(7, '0');
  if (!fraction.endsWith('0000')) return undefined;
  const days = Number(match[1] ?? 0) * DAY_MS;
  const hours = Number(match[2]) * UNIT_MS.h;
  return (
    days + hours + Number(match[3]) * UNIT_MS.m + Number(match[4]) * UNIT_MS.s + Number(fraction.slice(0, 3))
  );
}
