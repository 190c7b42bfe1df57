// What a mutation run comes to: shares per folder, a fault below the least one, and what has changed since.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ageOf, judge, percentOf, type Summary, staleFiles, summaryOf, withFiles } from './summary.ts';

function mutant(status: string) {
  const location = { start: { line: 14, column: 7 } };
  return { status, mutatorName: 'EqualityOperator', replacement: 'a >=\n  b', location };
}

const report = {
  files: {
    'src/b/x.ts': {
      source: 'x',
      mutants: ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'RuntimeError'].map(mutant),
    },
    'src/a/y.ts': { source: 'y', mutants: [mutant('Killed')] },
  },
};
function source(name: string, length = 100) {
  return { sha256: `hash of ${name}`, length };
}

const sources = new Map([
  ['src/a/types.ts', source('types')],
  ['src/a/y.ts', source('y')],
]);
const summary = summaryOf(report, { date: '2026-01-01', sources, hash: (text) => `hash of ${text}` });

const same = new Map(
  Object.entries(summary.files).map(([path, { sha256 }]) => [path, { sha256, length: 100 }]),
);

describe('the summary of a mutation run', () => {
  it('counts what ran, by file, in the order of the paths, files without mutants included', () => {
    expect(Object.entries(summary.files)).toEqual([
      ['src/a/types.ts', { sha256: 'hash of types', killed: 0, survived: 0, uncovered: 0 }],
      ['src/a/y.ts', { sha256: 'hash of y', killed: 1, survived: 0, uncovered: 0 }],
      [
        'src/b/x.ts',
        { sha256: 'hash of x', killed: 2, survived: 1, uncovered: 1, survivors: expect.any(Array) },
      ],
    ]);
  });

  it('takes over the results of the files that were mutated anew, and keeps the others', () => {
    const result = (killed: number) => ({ sha256: 'h', killed, survived: 0, uncovered: 0 });
    const kept = { date: '2026-01-01', files: { 'a.ts': result(1), 'c.ts': result(1) } };
    const renewed = {
      date: '2026-01-02',
      files: { 'a.ts': result(2), 'b.ts': result(2), 'c.ts': result(2) },
    };
    expect(withFiles(kept, renewed, ['b.ts', 'c.ts'])).toEqual({
      date: '2026-01-02',
      files: { 'a.ts': result(1), 'b.ts': result(2), 'c.ts': result(2) },
    });
  });

  it('keeps the mutants that no test killed, and where they stand', () => {
    expect(summary.files['src/b/x.ts']?.survivors).toEqual([
      '14:7 EqualityOperator: a >= b',
      '14:7 EqualityOperator: a >= b (met by no test)',
    ]);
  });

  it('counts a mutant that no test meets as survived', () => {
    expect(percentOf(Object.values(summary.files))).toBe(60);
  });

  it('finds fault with a folder below the least share, and with one that has no result', () => {
    const faults = judge(summary, ['src/a', 'src/b', 'src/c']).map(({ fault }) => fault !== undefined);
    expect(faults).toEqual([false, true, true]);
  });

  it('names files that have changed, have come, or are gone', () => {
    const sources = new Map([
      ['src/b/x.ts', source('another')],
      ['src/b/new.ts', source('new')],
    ]);
    expect(staleFiles(summary, sources)).toEqual([
      'src/a/types.ts',
      'src/a/y.ts',
      'src/b/new.ts',
      'src/b/x.ts',
    ]);
    expect(staleFiles(summary, same)).toEqual([]);
  });

  it('finds fault when more than a tenth of the code has changed, or has come', () => {
    const changedBy = (length: number) => new Map([...same, ['src/b/new.ts', source('new', length)]]);
    expect(ageOf(summary, same)).toEqual({
      title: '0.0 percent of the code has changed since 2026-01-01',
    });
    expect(ageOf(summary, changedBy(33)).fault).toBeUndefined();
    expect(ageOf(summary, changedBy(34)).fault).toContain('npm run mutation');
    const changed = new Map([...same, ['src/b/x.ts', source('another')]]);
    expect(ageOf(summary, changed).fault).toContain('npm run mutation');
  });
});

describe('the kept summary', () => {
  it('is of files that exist: after a change, `npm run refresh`', async () => {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    const path = join(root, 'docs/internals/mutation.json');
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Summary;
    const present = Object.entries(kept.files).filter(([file]) => existsSync(join(root, file)));
    const files = Object.fromEntries(present);
    await expect(`${JSON.stringify({ ...kept, files }, null, 2)}\n`).toMatchFileSnapshot(path);
  });
});
