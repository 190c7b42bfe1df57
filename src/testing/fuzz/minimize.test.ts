// What is left of an input when everything is removed that is not needed to fail.

import { describe, expect, it } from 'vitest';
import { minimize } from './minimize.ts';

const numbers = Array.from({ length: 100 }, (_, index) => index);

describe('minimizing', () => {
  it.each<[string, readonly number[]]>([
    ['one item', [37]],
    ['two items far from each other', [3, 96]],
    ['a run', [50, 51, 52]],
    ['the ends', [0, 99]],
  ])('leaves %s that the failure needs', async (_, needed) => {
    const fails = async (items: readonly number[]) => needed.every((item) => items.includes(item));
    expect(await minimize(numbers, fails)).toEqual(needed);
  });

  it('leaves one item when any fails', async () => {
    expect(await minimize(numbers, async () => true)).toHaveLength(1);
  });

  it('ends after so many tries with what still fails', async () => {
    let tries = 0;
    const fails = async (items: readonly number[]) => {
      tries += 1;
      return items.includes(0) && items.includes(99);
    };
    const left = await minimize(numbers, fails, 5);
    expect(tries).toBe(5);
    expect(left).toContain(0);
    expect(left).toContain(99);
  });
});
