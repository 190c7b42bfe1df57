// Time spans and timestamps as texts, both ways.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTimeSpan, formatTimestamp, parseTimeSpan } from './time-span.ts';

const DAY_MS = 86_400_000;

describe('a time span', () => {
  it.each([
    ['00:30:00', 1_800_000],
    ['00:00:00', 0],
    ['1.00:00:00', DAY_MS],
    ['2.03:04:05', 2 * DAY_MS + 3 * 3_600_000 + 4 * 60_000 + 5000],
    ['10000.00:00:00', 10_000 * DAY_MS],
    ['00:00:00.5000000', 500],
    ['00:00:01.0000001', 1000.0001],
    ['23:59:59.9999999', DAY_MS - 0.0001],
  ])('%s is so many milliseconds, and is written like that [BODY-040, BODY-042]', (text, durationMs) => {
    expect(parseTimeSpan(text)).toBeCloseTo(durationMs, 6);
    expect(formatTimeSpan(durationMs)).toBe(text);
  });

  it.each([
    ['00:00:00.5', 500],
    ['00:00:00.25', 250],
    ['0.00:00:01', 1000],
    ['00000001.00:00:00', DAY_MS],
  ])('%s is read though it is written otherwise here [BODY-040]', (text, durationMs) => {
    expect(parseTimeSpan(text)).toBe(durationMs);
  });

  it.each([
    '',
    '30',
    '00:30',
    '0:30:00',
    '24:00:00',
    '00:60:00',
    '00:00:60',
    '-00:00:01',
    '00:00:00.',
    '00:00:00.12345678',
    '1:00:00:00',
    '1.2.00:00:00',
    '123456789.00:00:00',
    ' 00:30:00',
    '00:30:00\n',
    '٠٠:٣٠:٠٠',
  ])('is not what %j is', (text) => {
    expect(parseTimeSpan(text)).toBeUndefined();
  });

  it('of up to 1,000 days survives being written and read, to a ten-thousandth of a millisecond [BODY-040]', () => {
    const ticks = fc.integer({ min: 0, max: 1000 * DAY_MS * 10_000 });
    fc.assert(
      fc.property(ticks, (count) => {
        const durationMs = count / 10_000;
        expect(Math.round((parseTimeSpan(formatTimeSpan(durationMs)) ?? Number.NaN) * 10_000)).toBe(count);
      }),
    );
  });

  it('of up to 10,000 days gives the number again that it was read as [BODY-040]', () => {
    const parts = fc.tuple(fc.integer({ min: 0, max: 864_000_000 }), fc.integer({ min: 0, max: 9_999_999 }));
    fc.assert(
      fc.property(parts, ([seconds, fraction]) => {
        const text = `${formatTimeSpan(seconds * 1000)
          .split('.')
          .slice(0, 2)
          .join('.')}.${String(fraction).padStart(7, '0')}`;
        const durationMs = parseTimeSpan(text) ?? Number.NaN;
        expect(parseTimeSpan(formatTimeSpan(durationMs))).toBe(durationMs);
      }),
    );
  });
});

describe('a timestamp', () => {
  it.each([
    [Date.UTC(2026, 1, 18, 10, 30, 0, 123), '2026-02-18T10:30:00.123Z'],
    [Date.UTC(2026, 1, 18, 10, 30), '2026-02-18T10:30:00Z'],
    [0, '1970-01-01T00:00:00Z'],
  ])('of %d is %s [BODY-041, BODY-042]', (wallAt, text) => {
    expect(formatTimestamp(wallAt)).toBe(text);
  });

  it('names the moment that it was made from [BODY-041]', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), (wallAt) => {
        expect(Date.parse(formatTimestamp(wallAt))).toBe(wallAt);
      }),
    );
  });
});
