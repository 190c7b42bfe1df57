// The times of an existing broker's database: their forms, their steps, and their order.

import { expect, it } from 'vitest';
import { compareTimes, type ExistingTime, readExistingTime } from './existing-time.ts';

const at = (text: string) => Date.parse(text);

it.each<[string, ExistingTime]>([
  ['2026-02-18T10:30:00.1234567Z', { wallAt: at('2026-02-18T10:30:00.123Z'), ticks: 4567 }],
  ['2026-02-18T10:30:00Z', { wallAt: at('2026-02-18T10:30:00Z'), ticks: 0 }],
  ['2026-02-18T10:30:00.5Z', { wallAt: at('2026-02-18T10:30:00.5Z'), ticks: 0 }],
  ['2026-02-18T10:30:00.1230001', { wallAt: at('2026-02-18T10:30:00.123Z'), ticks: 1 }],
  ['2026-02-18 10:30:00', { wallAt: at('2026-02-18T10:30:00Z'), ticks: 0 }],
  ['2026-02-18T12:30:00.0000000+02:00', { wallAt: at('2026-02-18T10:30:00Z'), ticks: 0 }],
  ['1969-12-31T23:59:59.9999999Z', { wallAt: -1, ticks: 9999 }],
])('reads %s', (text, time) => {
  expect(readExistingTime(text)).toEqual(time);
});

it.each([
  '2026-02-30T10:30:00Z',
  '2026-13-01T10:30:00Z',
  '2026-02-18T24:00:00Z',
  '2026-02-18T10:60:00Z',
  '2026-02-18T10:30:00.12345678Z',
  '2026-02-18T10:30:00.Z',
  '2026-02-18T10:30:00+15:00',
  '2026-02-18',
  ' 2026-02-18T10:30:00Z',
  'yesterday',
  '',
  null,
  1_771_410_600,
])('does not take %s for a time', (value) => {
  expect(readExistingTime(value)).toBeUndefined();
});

it('orders times by their smallest steps, and times without an end last', () => {
  const endless = { wallAt: Number.POSITIVE_INFINITY, ticks: 0 };
  const early = { wallAt: 5, ticks: 1 };
  const late = { wallAt: 5, ticks: 2 };
  const later = { wallAt: 6, ticks: 0 };
  expect([endless, later, late, early, endless].sort(compareTimes)).toEqual([
    early,
    late,
    later,
    endless,
    endless,
  ]);
});
