// Patterns by example: what a star stands for, and which letters are the same in another case.

import { describe, expect, it } from 'vitest';
import { foldCase, Pattern } from './pattern.ts';

const matches = (pattern: string, name: string): boolean => new Pattern(pattern).matches(foldCase(name));

describe('a pattern', () => {
  it.each([
    ['*', 'orders'],
    ['orders', 'orders'],
    ['orders.*', 'orders.eu'],
    ['orders.*', 'orders.eu.north'],
    ['orders.*', 'orders.'],
    ['orders*', 'orders'],
    ['*.dlq', 'orders.dlq'],
    ['*.eu.*', 'orders.eu.north'],
    ['a*a', 'aa'],
    ['a**b', 'ab'],
    ['*a*b*c*', 'xaybzc'],
    ['*aab', 'aaaab'],
  ])('%s matches %s [AUTH-018]', (pattern, name) => {
    expect(matches(pattern, name)).toBe(true);
  });

  it.each([
    ['orders.*', 'orders'],
    ['orders', 'orders.eu'],
    ['orders', 'my.orders'],
    ['o.ders', 'orders'],
    ['*.dlq', 'orders.dlq.eu'],
    ['a*a', 'a'],
    ['a*b*c', 'acb'],
    ['*b*', 'aaa'],
    ['', 'orders'],
    ['?', 'a'],
    ['[a-z]', 'a'],
  ])('%s does not match %s: every other character stands for itself [AUTH-018]', (pattern, name) => {
    expect(matches(pattern, name)).toBe(false);
  });

  it.each([
    ['ORDERS.*', 'orders.EU'],
    ['Größe', 'GRÖßE'],
    ['ЗАКАЗЫ.*', 'заказы.Сегодня'],
    // The word ends in the letter that has a form for the end of words.
    ['ΟΔΟΣ*', 'οδοσημα'],
    ['οδος', 'ΟΔΟΣ'],
    ['𐐀', '𐐨'],
  ])('%s matches %s, which is written in another case [AUTH-019]', (pattern, name) => {
    expect(matches(pattern, name)).toBe(true);
  });

  it.each([
    ['ı', 'i'],
    ['İ', 'i'],
    ['ß', 'ss'],
    ['é', 'e'],
  ])('%s does not match %s, which is another letter [AUTH-019]', (pattern, name) => {
    expect(matches(pattern, name)).toBe(false);
    expect(matches(name, pattern)).toBe(false);
  });
});
