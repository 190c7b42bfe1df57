// Formats of numbers, sizes and times.

import { describe, expect, it } from 'vitest';
import {
  countOf,
  formatAge,
  formatAgo,
  formatBytes,
  formatClock,
  formatCount,
  formatInstant,
  formatLatency,
  formatRate,
  formatShortAge,
  formatTick,
} from './format.ts';

const plain = (text: string): string => text.replaceAll('\u202f', '_');

describe('a number', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1204, '1_204'],
    [1_234_567.4, '1_234_567'],
    [-1204, '\u22121_204'],
    [-0.2, '0'],
  ])('%d is shown as %s', (count, text) => {
    expect(plain(formatCount(count))).toBe(text);
  });

  it('has its noun in singular or plural', () => {
    expect([0, 1, 2].map((count) => countOf(count, 'queue'))).toEqual(['0 queues', '1 queue', '2 queues']);
  });

  it.each([
    [0, '0'],
    [0.01, '<0.1'],
    [0.25, '0.3'],
    [9.94, '9.9'],
    [9.96, '10'],
    [12_345.6, '12_346'],
  ])('of rate %d is shown as %s', (rate, text) => {
    expect(plain(formatRate(rate))).toBe(text);
  });
});

it.each([
  [0, '0'],
  [2500, '2_500'],
  [2.5, '2.5'],
  [0.30000000000000004, '0.3'],
])('%d on an axis is %s', (value, text) => {
  expect(plain(formatTick(value))).toBe(text);
});

describe('a size and a latency', () => {
  it.each([
    [0, '0_MiB'],
    [1_572_864, '1.5_MiB'],
    [49_283_072, '47_MiB'],
    [2_147_483_648, '2_048_MiB'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(plain(formatBytes(bytes))).toBe(text);
  });

  it.each([
    [null, '–'],
    [0.42, '0.4_ms'],
    [12.4, '12_ms'],
    [999.6, '1.0_s'],
    [3210, '3.2_s'],
  ])('%s milliseconds are %s', (ms, text) => {
    expect(plain(formatLatency(ms))).toBe(text);
  });
});

describe('an age', () => {
  it.each([
    [-5, '0_s'],
    [999, '0_s'],
    [4000, '4_s'],
    [200_000, '3_min 20_s'],
    [180_000, '3_min'],
    [720_000, '12_min'],
    [7_500_000, '2_h 5_min'],
    [1_036_800_000, '12_d'],
  ])('of %d milliseconds is %s', (ms, text) => {
    expect(plain(formatAge(ms))).toBe(text);
  });

  it('has one word in a table', () => {
    expect(plain(formatShortAge(200_000))).toBe('3_min');
  });

  it('is told from now on', () => {
    expect(plain(formatAgo(1000, 13_500))).toBe('12_s ago');
    expect(formatAgo(1000, 1500)).toBe('now');
    expect(formatAgo(2000, 1500)).toBe('now');
  });
});

describe('an instant', () => {
  it('is written in full in UTC', () => {
    expect(formatInstant(Date.UTC(2026, 6, 1, 12, 0, 5, 250))).toBe('2026-07-01 12:00:05.250 UTC');
    expect(formatInstant(Number.NaN)).toBe('');
  });

  it('has the time of day of whoever looks at it', () => {
    expect(formatClock(new Date(2026, 6, 1, 9, 5, 7).getTime())).toBe('09:05:07');
  });
});
