// Which calls count as an assertion about the check's own requirements, and what is missing without one.
import { describe, expect, it } from 'vitest';
import { Evidence, missingEvidence } from './evidence.ts';

const own = ['QUEUE-009', 'QUEUE-010'] as const;
const missing = (evidence: Evidence, minimum = {}): string | undefined =>
  missingEvidence({ evidence: minimum, clauses: own }, evidence);

describe('missingEvidence', () => {
  it.each<[string, (evidence: Evidence) => void]>([
    ['an assertion that names no requirement', (evidence) => evidence.addAssertion()],
    ['an assertion about the main requirement', (evidence) => evidence.addAssertion('QUEUE-009')],
    ['an assertion about another of its own', (evidence) => evidence.addAssertion('QUEUE-010')],
    ['an answer that its own requirement demands', (evidence) => evidence.addPreparation('QUEUE-010')],
  ])('is undefined after %s', (_title, act) => {
    const evidence = new Evidence(own);
    act(evidence);
    expect(missing(evidence)).toBeUndefined();
  });

  it.each<[string, (evidence: Evidence) => void]>([
    ['nothing', () => {}],
    ['frames', (evidence) => evidence.count('frames')],
    ['an assertion about a requirement of another check', (evidence) => evidence.addAssertion('CONN-001')],
    ['an answer that was only waited for', (evidence) => evidence.addPreparation()],
  ])('is an assertion after %s', (_title, act) => {
    const evidence = new Evidence(own);
    act(evidence);
    expect(missing(evidence)).toBe('no assertion about QUEUE-009 or QUEUE-010');
  });

  it('says which answer was so slow that times prove nothing', () => {
    const evidence = new Evidence(own);
    expect(evidence.overload(1000)).toBeUndefined();
    for (const tookMs of [20, 500, 30]) evidence.addAnswerTime(tookMs);
    expect(evidence.overload(1000)).toMatch(/^an answer came only after 500 ms/);
    expect(evidence.overload(1001)).toBeUndefined();
  });

  it('names the counts below the minimum', () => {
    const evidence = new Evidence(own);
    evidence.addAssertion();
    expect(missing(evidence, { assertions: 1 })).toBeUndefined();
    expect(missing(evidence, { frames: 2, assertions: 2 })).toBe(
      '0 of at least 2 frames, 1 of at least 2 assertions',
    );
  });
});
