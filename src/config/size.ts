// Sizes in text: a number of bytes, or `64KiB`, `1MiB`, `2GiB`. Converts text to bytes and back. Decimal units (KB, MB) are not accepted,
// because they are used for both 1000 and 1024. Implements CONFIG-005.

const UNIT_BYTES = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;
const FORM = /^(\d+)(KiB|MiB|GiB)?$/;

/** The forms of a size, for messages. */
export const SIZE_FORMS = 'a number of bytes, 64KiB, 1MiB or 2GiB';

/** Reads a size in bytes; undefined if it is not a valid size. */
export function parseSize(text: string): number | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const bytes = Number(match[1]) * UNIT_BYTES[(match[2] ?? '') as keyof typeof UNIT_BYTES];
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** The shortest text that {@link parseSize} reads back as the same number: the largest unit that divides it. */
export function formatSize(bytes: number): string {
  if (bytes === 0) return '0';
  for (const unit of ['GiB', 'MiB', 'KiB'] as const) {
    if (bytes % UNIT_BYTES[unit] === 0) return `${bytes / UNIT_BYTES[unit]}${unit}`;
  }
  return String(bytes);
}
