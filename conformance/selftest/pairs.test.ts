// Pairs of planted faults: which are drawn, and what is said of the requirements that a run calls broken.
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../src/outcome.ts';
import { randomFor } from '../src/random.ts';
import type { CheckResult } from '../src/result.ts';
import { comparison } from './deviations-comparison.ts';
import { type Drawn, drawPairs } from './pairs-drawing.ts';

const faults: readonly Drawn[] = [
  { id: 'conn-a', mustFail: ['CONN-001a'] },
  { id: 'conn-b', mustFail: ['CONN-002a', 'ERROR-001a'] },
  { id: 'retry-a', mustFail: ['RETRY-001a'] },
];

function namesOf(seed: number): readonly string[] {
  return [...drawPairs(faults, randomFor(seed, 'pairs'))].map((pair) =>
    pair
      .map(({ id }) => id)
      .sort()
      .join(' '),
  );
}

describe('drawPairs', () => {
  it('draws each pair of different areas once', () => {
    expect([...namesOf(1)].sort()).toEqual(['conn-a retry-a', 'conn-b retry-a']);
  });

  it('draws the same pairs again with the same seed', () => {
    expect(namesOf(7)).toEqual(namesOf(7));
  });

  it('draws nothing from a single fault or none', () => {
    expect([...drawPairs(faults.slice(0, 1), randomFor(1, 'pairs'))]).toEqual([]);
    expect([...drawPairs([], randomFor(1, 'pairs'))]).toEqual([]);
  });
});

function result(id: string, outcome: Outcome, more: Partial<CheckResult> = {}): CheckResult {
  return {
    id,
    outcome,
    title: '',
    level: 'MUST',
    profile: 'core',
    clauses: [id.replace(/[a-z]$/, '')],
    evidence: { frames: 0, messages: 0, responses: 0, assertions: 0 },
    expected: 'an answer',
    actual: 'nothing',
    reason: 'it is answered',
    notes: [],
    warnings: [],
    durationMs: 0,
    reproduce: '',
    repetition: 1,
    trace: [],
    brokerLog: [],
    ...more,
  };
}

const first = { id: 'conn-a', breaks: ['CONN-001', 'CONN-002'] };
const second = { id: 'retry-a', breaks: ['RETRY-001'] };
const asNamed = [
  result('CONN-001a', 'fail'),
  result('CONN-002a', 'warn'),
  result('CONN-003a', 'pass'),
] as const;

describe('comparison', () => {
  it('finds nothing wrong when the broken requirements are those of the fault', () => {
    expect(comparison([first], asNamed)).toEqual({ wrong: [], missing: [], unexplained: [] });
  });

  it('names the check and its reason for a requirement that no fault breaks', () => {
    const { wrong } = comparison([first], [...asNamed, result('CONN-004a', 'fail', { clause: 'CONN-005' })]);
    expect(wrong).toEqual([
      'CONN-005 is called broken by CONN-004a: it is answered (expected an answer, got nothing)',
    ]);
  });

  it('names the check for a recommendation that no fault breaks', () => {
    const warnings = [{ clause: 'CONN-007', text: 'the id differs' }];
    const { wrong } = comparison([first], [...asNamed, result('CONN-006a', 'pass', { warnings })]);
    expect(wrong).toEqual(['CONN-007 is called broken by CONN-006a: the id differs']);
  });

  it('misses a requirement of a single fault that a check is about and does not call broken', () => {
    const { missing } = comparison([first], [result('CONN-001a', 'fail'), result('CONN-002a', 'pass')]);
    expect(missing).toEqual(['CONN-002 is broken, and is not called so']);
  });

  it.each<[string, CheckResult]>([
    ['a check about it is blocked', result('CONN-002a', 'blocked')],
    ['no check about it ran', result('CONN-003a', 'pass')],
  ])('does not miss a requirement when %s', (_name, other) => {
    expect(comparison([first], [result('CONN-001a', 'fail'), other]).missing).toEqual([]);
  });

  it('asks for one requirement of each of several faults', () => {
    const results = [result('CONN-001a', 'fail'), result('CONN-002a', 'pass'), result('RETRY-001a', 'pass')];
    expect(comparison([first, second], results)).toMatchObject({
      wrong: [],
      missing: ['no requirement of retry-a is called broken'],
    });
  });

  it('names a check that failed at a step that nothing explains', () => {
    const { unexplained } = comparison(
      [first],
      [...asNamed, result('CONN-004a', 'fail', { reliesOn: 'QUEUE-001' })],
    );
    expect(unexplained).toEqual([
      'CONN-004a relies on QUEUE-001, which no check shows broken: it is answered',
    ]);
  });
});
