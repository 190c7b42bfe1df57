// The judging of the gate: what is green, what is red, and that nothing is green which was not measured and compared.
import { describe, expect, it } from 'vitest';
import type { KeptRow, MeasuredRow, RowVerdict } from './judge.ts';
import { judgeRows, slowerRows } from './judge.ts';

const kept: KeptRow = { name: 'a', ratio: 4, threshold: 0.1 };
const measured: MeasuredRow = { name: 'a', messageCount: 1000, ratio: 4 };

function only(keptRows: readonly KeptRow[], measuredRows: readonly MeasuredRow[]): RowVerdict {
  const verdicts = judgeRows(keptRows, measuredRows);
  expect(verdicts).toHaveLength(1);
  return verdicts[0] as RowVerdict;
}

describe('a row of the gate', () => {
  it.each([
    ['as it was', 4, 'green'],
    ['slower by less than the threshold', 4.39, 'green'],
    ['slower by more', 4.41, 'slower'],
    ['slower by a fifth', 4.8, 'slower'],
    ['much faster', 2, 'green'],
  ] as const)('is judged by its ratio: %s', (_, ratio, kind) => {
    expect(only([kept], [{ ...measured, ratio }]).kind).toBe(kind);
  });

  it('says what is wrong and what to do', () => {
    const { text } = only([kept], [{ ...measured, ratio: 4.8 }]);
    expect(text).toContain('a: slower: 4.80 times what the skeleton takes for a message, kept 4.00, +20.0%');
    expect(text).toContain('npm run bench:gate -- --write');
    expect(only([kept], [{ ...measured, ratio: 2 }]).text).toContain('It became faster');
  });
});

describe('the gate is red', () => {
  it.each<[string, readonly KeptRow[], readonly MeasuredRow[], string]>([
    ['for a row that was not measured', [kept], [], 'it is kept, and was not measured'],
    ['for a row that is not kept', [], [measured], 'it was measured, and is not kept'],
    ['for nothing at all', [], [], 'nothing is kept and nothing was measured'],
    ['without messages', [kept], [{ ...measured, messageCount: 0 }], 'no message passed'],
    [
      'for a load that failed',
      [kept],
      [{ name: 'a', messageCount: 0, fault: 'lost 3' }],
      'the load failed: lost 3',
    ],
    ['without a ratio', [kept], [{ name: 'a', messageCount: 9 }], 'is not known'],
    ['for a ratio of nothing', [kept], [{ ...measured, ratio: 0 }], 'is not known'],
    ['for a ratio that is no number', [kept], [{ ...measured, ratio: Number.NaN }], 'is not known'],
    ['for a kept ratio of nothing', [{ ...kept, ratio: 0 }], [measured], 'no positive number'],
    ['for a threshold that lets everything pass', [{ ...kept, threshold: 5 }], [measured], 'threshold'],
  ])('%s', (_, keptRows, measuredRows, text) => {
    const verdict = only(keptRows, measuredRows);
    expect(verdict.kind).toBe('unmeasured');
    expect(verdict.text).toContain(text);
  });

  it('for each such row beside green ones', () => {
    const verdicts = judgeRows([kept, { ...kept, name: 'b' }], [measured, { ...measured, name: 'c' }]);
    expect(verdicts.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      'a green',
      'b unmeasured',
      'c unmeasured',
    ]);
  });

  it('and only slower rows are measured again', () => {
    const verdicts = judgeRows(
      [kept, { ...kept, name: 'b' }, { ...kept, name: 'c' }],
      [measured, { ...measured, name: 'b', ratio: 5 }],
    );
    expect(slowerRows(verdicts)).toEqual(['b']);
  });
});
