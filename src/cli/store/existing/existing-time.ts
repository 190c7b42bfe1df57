// The timestamps of an existing broker's database, and their order. They have steps of a ten-thousandth of a millisecond; the store has steps of
// a millisecond, so the order is judged before they are rounded. Pure.

export type ExistingTime = {
  /** Milliseconds since 1970, rounded down. */
  readonly wallAt: number;
  /** Ten-thousandths of a millisecond beyond `wallAt`, 0 to 9,999. */
  readonly ticks: number;
};

const TIME =
  /^(\d{4}-\d\d-\d\d)[T ]([01]\d|2[0-3])(:[0-5]\d:[0-5]\d)(?:\.(\d{1,7}))?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/;

/** Reads `2026-02-18T10:30:00.1234567Z`; without a zone the time is UTC. Undefined if it is not a valid time. */
export function readExistingTime(value: unknown): ExistingTime | undefined {
  const match = typeof value === 'string' ? TIME.exec(value) : null;
  if (match === null) return undefined;
  const [, date = '', hours = '', rest = '', fraction = '', zone = 'Z'] = match;
  // Date.parse would turn 30 February into 2 March.
  if (!isDate(date)) return undefined;
  const digits = fraction.padEnd(7, '0');
  const wallAt = Date.parse(`${date}T${hours}${rest}.${digits.slice(0, 3)}${zone}`);
  return Number.isNaN(wallAt) ? undefined : { wallAt, ticks: Number(digits.slice(3)) };
}

function isDate(date: string): boolean {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
}

export function compareTimes(a: ExistingTime, b: ExistingTime): number {
  return a.wallAt === b.wallAt ? a.ticks - b.ticks : a.wallAt - b.wallAt;
}
