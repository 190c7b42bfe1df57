// The judging of the gate: what is green, what is red, and that nothing is green which was not measured and compared.
import { describe, expect, it } from 'vitest';
import type { KeptRow, MeasuredRow, RowVerdict } from './judge.ts';
import { judgeRows, slowerRows } from './judge.ts';

const kept: KeptRow = { name: 'a', ratio: 4, threshold: 0.1 };
const measured: MeasuredRow = { name: 'a', messageCount: 1000, ratio: 4, change: 0 };

function only(keptRows: readonly KeptRow[], measuredRows: readonly MeasuredRow[]): RowVerdict {
  const verdicts = judgeRows(keptRows, measuredRows);
  expect(verdicts).toHaveLength(1);
  return verdicts[0] as RowVerdict;
}

describe('a row of the gate', () => {
  it.each([
    ['as it was', 0, 'green'],
    ['slower by less than the threshold', 0.09, 'green'],
    ['slower by more', 0.11, 'slower'],
    ['slower by a fifth', 0.2, 'slower'],
    ['slower by what is no number', Number.NaN, 'slower'],
    ['much faster', -0.5, 'green'],
  ] as const)('is judged by what differs from the kept broker beside it: %s', (_, change, kind) => {
    expect(only([kept], [{ ...measured, change }]).kind).toBe(kind);
  });

  it('is not judged by a ratio of another machine if the kept broker is there', () => {
    expect(only([kept], [{ ...measured, ratio: 40 }]).kind).toBe('green');
  });

  it.each([
    ['as much as two machines differ', 5.9, 'green'],
    ['more', 6.1, 'slower'],
  ] as const)('is judged by its ratio without the kept broker: %s', (_, ratio, kind) => {
    expect(only([kept], [{ name: 'a', messageCount: 9, ratio }]).kind).toBe(kind);
  });

  it('says what is wrong and what to do', () => {
    const { text } = only([kept], [{ ...measured, ratio: 4.8, change: 0.2 }]);
    expect(text).toContain('a: slower: 4.80 times what the skeleton takes for a message, +20.0% against');
    expect(text).toContain('npm run bench:gate -- --write');
    expect(only([kept], [{ ...measured, change: -0.5 }]).text).toContain('It became faster');
    const elsewhere = only([kept], [{ name: 'a', messageCount: 9, ratio: 7 }]).text;
    expect(elsewhere).toContain('+75.0% against the kept 4.00, which was measured elsewhere, allowed +50.0%');
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
      [measured, { ...measured, name: 'b', change: 0.25 }],
    );
    expect(slowerRows(verdicts)).toEqual(['b']);
  });
});
