// The last lines of a report: which checks are not right, and which did not end alike in all repetitions.
import { describe, expect, it } from 'vitest';
import { colourfulLog, sampleResult } from '../testing/sample-log.ts';
import { flipLines, notRightLines } from './outcome-summary.ts';

const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `CONN-${String(index + 100)}a`);

describe('what is not right', () => {
  it('is named in one line for each outcome, failures first', () => {
    expect(notRightLines(colourfulLog().results, false)).toEqual([
      'failed: CONN-001a',
      'error of the runner: FRAME-002a',
      'not shown: FRAME-004a',
      'could not run: FRAME-001a',
    ]);
    expect(notRightLines(colourfulLog().results, true)).toContain('warned, with --strict: FRAME-003a');
  });

  it('is nothing where everything is right', () => {
    expect(notRightLines([sampleResult('CONN-001a', 'pass')], true)).toEqual([]);
  });

  it('names all failures, and of what is blocked the first', () => {
    const failed = numbered(30).map((id) => sampleResult(id, 'fail'));
    const blocked = numbered(30).map((id) => sampleResult(id, 'blocked'));
    const [failedLine, blockedLine] = notRightLines([...failed, ...blocked], false);
    expect(failedLine).toContain('CONN-129a');
    expect(blockedLine).toMatch(/^blocked: CONN-100a, .*CONN-111a and 18 more$/);
  });

  it('tells failures that the baseline expects apart', () => {
    const baseline = { expect: 'fail', reason: 'known' } as const;
    expect(notRightLines([sampleResult('CONN-001a', 'fail', { baseline })], false)).toEqual([
      'as the baseline expects: CONN-001a',
    ]);
  });
});

describe('flips', () => {
  it('are the checks that did not end alike, with how often each way', () => {
    const results = [1, 2, 3].flatMap((repetition) => [
      sampleResult('CONN-001a', 'pass', { repetition }),
      sampleResult('CONN-002a', repetition === 2 ? 'fail' : 'pass', { repetition }),
    ]);
    expect(flipLines(results)).toEqual([
      'Ended differently in the repetitions:',
      '     CONN-002a: 2 pass, 1 fail',
    ]);
    expect(flipLines(results.slice(0, 2))).toEqual([]);
  });
});
