// Durations and sizes: examples of each form, and text that is written is read back as the same number.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';
import { formatSize, parseSize } from './size.ts';

describe('durations', () => {
  it.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['00:00:30', 30_000],
    ['1.00:00:00', 86_400_000],
    ['00:00:00.5', 500],
    ['00:00:00.0010000', 1],
  ])('reads %s as %d ms [CONFIG-004]', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    '',
    '30',
    '1.5s',
    '-1s',
    '30 s',
    '30S',
    '00:60:00',
    '24:00:00',
    '0:00:30',
    '00:00:00.00001',
    `${'9'.repeat(20)}h`,
  ])('does not read %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it('reads back every duration it writes', () => {
    fc.assert(fc.property(fc.nat({ max: 10 ** 12 }), (ms) => parseDuration(formatDuration(ms)) === ms));
  });

  it('writes the largest unit that fits', () => {
    expect([0, 1, 1_500, 30_000, 120_000, 7_200_000].map(formatDuration)).toEqual([
      '0ms',
      '1ms',
      '1500ms',
      '30s',
      '2m',
      '2h',
    ]);
  });
});

describe('sizes', () => {
  it.each([
    ['0', 0],
    ['1048576', 1_048_576],
    ['64KiB', 65_536],
    ['1MiB', 1_048_576],
    ['2GiB', 2_147_483_648],
  ])('reads %s as %d bytes [CONFIG-005]', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['', '1KB', '1MB', '1kib', '1.5MiB', '-1', '1 MiB', 'MiB', '9'.repeat(20)])(
    'does not read %j',
    (text) => {
      expect(parseSize(text)).toBeUndefined();
    },
  );

  it('reads back every size it writes', () => {
    fc.assert(fc.property(fc.nat({ max: 2 ** 45 }), (bytes) => parseSize(formatSize(bytes)) === bytes));
  });
});
