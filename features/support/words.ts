// What the words of a step stand for: durations, sizes, lists of message ids, values of tables. Pure.

const UNITS_MS = { ms: 1, s: 1_000, min: 60_000 } as const;
const UNITS_BYTES = { bytes: 1, KiB: 1_024, MiB: 1_048_576 } as const;

export const DURATION_FORM = /(\d+(?:\.\d+)?) (ms|s|min)/;
export const SIZE_FORM = /(\d+) (bytes|KiB|MiB)/;

export function durationMs(amount: string, unit: string): number {
  return Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

export function sizeBytes(amount: string, unit: string): number {
  return Number(amount) * UNITS_BYTES[unit as keyof typeof UNITS_BYTES];
}

/** "m1, m3 to m5" is m1, m3, m4, m5; "" is none. */
export function messageIds(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .flatMap((part) => {
      const range = /^(\D*)(\d+) to \1(\d+)$/.exec(part);
      if (range === null) return [part];
      const [, stem = '', first = '', last = ''] = range;
      const count = Number(last) - Number(first) + 1;
      return Array.from({ length: count }, (_, index) => `${stem}${Number(first) + index}`);
    });
}

/** A cell of a table as a JSON value: numbers, true, false, null and quoted texts as they stand, everything else as text. */
export function cellValue(cell: string): unknown {
  return /^(-?\d+(\.\d+)?|true|false|null|".*"|[[{].*[\]}])$/.test(cell) ? JSON.parse(cell) : cell;
}
