// The course of the gate: which rows are measured again, how often, and when there is no time for it. The clock is the test's.
import { describe, expect, it } from 'vitest';
import { judgedAttempts } from './attempts.ts';
import type { KeptRow } from './judge.ts';

const kept: readonly KeptRow[] = ['a', 'b'].map((name) => ({ name, ratio: 4, threshold: 0.1 }));

function rowAt(ratio: number): { readonly ratio: number; readonly change: number } {
  return { ratio, change: ratio / 4 - 1 };
}

/** Measures row b with these ratios, one after the other; row a never changes. Each row takes ten seconds. */
async function gate(ratios: readonly number[], budgetMs = 1_000_000) {
  const asked: string[] = [];
  const told: string[] = [];
  let now = 0;
  let index = 0;
  const verdicts = await judgedAttempts({
    kept,
    names: ['a', 'b'],
    measure: async (names) => {
      asked.push(names.join());
      now += names.length * 10_000;
      const ratio = ratios[index] ?? 0;
      index += 1;
      return names.map((name) => ({ name, messageCount: 9, ...rowAt(name === 'b' ? ratio : 4) }));
    },
    repeatCount: 3,
    nowMs: () => now,
    budgetMs,
    tell: (line) => told.push(line),
  });
  return { kinds: verdicts.map(({ kind }) => kind).join(), asked, told };
}

describe('the gate', () => {
  it('measures once when nothing is slower', async () => {
    expect(await gate([4])).toMatchObject({ kinds: 'green,green', asked: ['a,b'] });
  });

  it('measures a slower row again, and believes the good measurement', async () => {
    expect(await gate([5, 5, 4])).toMatchObject({ kinds: 'green,green', asked: ['a,b', 'b', 'b'] });
  });

  it('is red when the row was slower three more times', async () => {
    expect(await gate([5, 5, 5, 5, 4])).toMatchObject({
      kinds: 'green,slower',
      asked: ['a,b', 'b', 'b', 'b'],
    });
  });

  it('is red, and says so, when there is no time to measure again', async () => {
    const { kinds, told } = await gate([5, 5, 4], 35_000);
    expect(kinds).toBe('green,slower');
    expect(told.at(-1)).toBe('not measured again, there is no time left: b');
  });

  it('does not measure again what was not there', async () => {
    expect((await gate([Number.NaN])).asked).toEqual(['a,b']);
  });
});
