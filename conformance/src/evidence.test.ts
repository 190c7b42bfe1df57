// What counts as a decision about the check's own requirements, and what is missing without one.
import { describe, expect, it } from 'vitest';
import { Evidence, missingEvidence } from './evidence.ts';

const own = ['QUEUE-009', 'QUEUE-010'] as const;
const missing = (evidence: Evidence, floor = {}): string | undefined =>
  missingEvidence({ evidence: floor, clauses: own }, evidence);

describe('missingEvidence', () => {
  it.each<[string, (evidence: Evidence) => void]>([
    ['an assertion that names no requirement', (evidence) => evidence.assertion()],
    ['an assertion about the main requirement', (evidence) => evidence.assertion('QUEUE-009')],
    ['an assertion about another of its own', (evidence) => evidence.assertion('QUEUE-010')],
    ['an answer that its own requirement asks for', (evidence) => evidence.preparation('QUEUE-010')],
  ])('is nothing after %s', (_title, act) => {
    const evidence = new Evidence(own);
    act(evidence);
    expect(missing(evidence)).toBeUndefined();
  });

  it.each<[string, (evidence: Evidence) => void]>([
    ['nothing', () => {}],
    ['frames', (evidence) => evidence.count('frames')],
    ['an assertion about a requirement of other checks', (evidence) => evidence.assertion('CONN-001')],
    ['an answer that was only waited for', (evidence) => evidence.preparation()],
  ])('is the decision after %s', (_title, act) => {
    const evidence = new Evidence(own);
    act(evidence);
    expect(missing(evidence)).toBe('no assertion about QUEUE-009 or QUEUE-010');
  });

  it('is also what the floor asks for', () => {
    const evidence = new Evidence(own);
    evidence.assertion();
    expect(missing(evidence, { assertions: 1 })).toBeUndefined();
    expect(missing(evidence, { frames: 2, assertions: 2 })).toBe(
      '0 of at least 2 frames, 1 of at least 2 assertions',
    );
  });
});
