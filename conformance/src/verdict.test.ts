// What closes the gate, and which exit code is used if several apply.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Outcome } from './outcome.ts';
import { outcomes } from './outcome.ts';
import { verdictLines } from './report/console.ts';
import type { CheckResult } from './result.ts';
import type { RunFacts, VerdictScope } from './verdict.ts';
import { countOutcomes, decidingExitCode, verdictOf } from './verdict.ts';

function results(...list: readonly Outcome[]): readonly CheckResult[] {
  const evidence = { frames: 0, messages: 0, responses: 0, assertions: 0 };
  const rest = {
    title: '',
    level: 'MUST',
    profile: 'core',
    clauses: [],
    evidence,
    notes: [],
    warnings: [],
  } as const;
  const tail = { durationMs: 0, reproduce: '', repetition: 1, trace: [], brokerLog: [] };
  return list.map((outcome) => ({ id: 'X-001a', ...rest, ...tail, outcome }));
}

function expected(...list: readonly Outcome[]): readonly CheckResult[] {
  const baseline = { expect: 'fail', reason: 'known' } as const;
  return results(...list).map((result) => (result.outcome === 'fail' ? { ...result, baseline } : result));
}

function facts(more: Partial<RunFacts>): RunFacts {
  return { results: results('pass'), partial: false, strict: false, notReachedCount: 0, ...more };
}

describe('verdictOf', () => {
  it.each<[string, Partial<RunFacts>, number, string]>([
    ['a pass', {}, 0, 'conformant'],
    ['a warning', { results: results('pass', 'warn') }, 0, 'conformant'],
    ['a warning with --strict', { results: results('pass', 'warn'), strict: true }, 1, 'conformant'],
    ['a failure', { results: results('pass', 'fail') }, 1, 'not conformant'],
    ['nothing at all', { results: [] }, 2, 'undetermined'],
    ['only checks that do not apply', { results: results('not applicable') }, 2, 'undetermined'],
    ['a check that could not run', { results: results('pass', 'could not run') }, 3, 'undetermined'],
    ['only checks that could not run', { results: results('could not run') }, 3, 'undetermined'],
    ['a check that could not show its rule', { results: results('pass', 'not shown') }, 3, 'undetermined'],
    ['only checks that could not show their rules', { results: results('not shown') }, 3, 'undetermined'],
    ['checks that were not reached', { notReachedCount: 1 }, 3, 'undetermined'],
    ['a target that died', { targetFault: 'died' }, 4, 'undetermined'],
    ['an error of the runner', { results: results('pass', 'error') }, 5, 'undetermined'],
    ['an interrupt', { runnerFault: 'interrupted' }, 5, 'undetermined'],
    ['a failure that the baseline expects', { results: expected('fail', 'pass') }, 0, 'not conformant'],
    ['a stale entry', { staleEntries: ['line 1'] }, 1, 'conformant'],
    [
      'a stale entry and a check that could not run',
      { results: results('pass', 'could not run'), staleEntries: ['line 1'] },
      1,
      'undetermined',
    ],
    [
      'a warning with --strict and a check that could not run',
      { results: results('warn', 'could not run'), strict: true },
      1,
      'undetermined',
    ],
    ['only a stale entry', { results: [], staleEntries: ['line 1'] }, 2, 'undetermined'],
    [
      'an expected failure and a check that could not run',
      { results: [...expected('fail'), ...results('could not run')] },
      3,
      'not conformant',
    ],
    [
      'a failure and a check that could not run',
      { results: results('fail', 'could not run') },
      1,
      'not conformant',
    ],
    [
      'a failure in a target that died',
      { results: results('fail'), targetFault: 'died' },
      4,
      'not conformant',
    ],
    [
      'all of these together',
      { results: results('fail', 'error', 'could not run'), targetFault: 'died' },
      5,
      'not conformant',
    ],
  ])('%s', (_name, more, exitCode, status) => {
    const verdict = verdictOf(facts(more));
    expect(verdict).toMatchObject({ exitCode, status, conformant: status === 'conformant' });
    expect(verdict.gate).toBe(exitCode === 0 ? 'open' : 'closed');
  });

  it('opens the gate only if a check ran, the run is complete and nothing failed', () => {
    const anyResults = fc.array(fc.constantFrom(...outcomes), { maxLength: 5 });
    fc.assert(
      fc.property(anyResults, fc.boolean(), fc.nat(1), (list, strict, notReachedCount) => {
        const verdict = verdictOf(facts({ results: results(...list), strict, notReachedCount }));
        const bad: readonly Outcome[] = strict
          ? ['fail', 'blocked', 'error', 'not shown', 'could not run', 'warn']
          : ['fail', 'blocked', 'error', 'not shown', 'could not run'];
        const ran = list.some((outcome) => outcome === 'pass' || outcome === 'warn');
        const open = ran && notReachedCount === 0 && !list.some((outcome) => bad.includes(outcome));
        expect(verdict.exitCode === 0).toBe(open);
      }),
    );
  });

  it('counts every outcome', () => {
    expect(countOutcomes(results('pass', 'pass', 'fail'))).toMatchObject({
      pass: 2,
      fail: 1,
      warn: 0,
      error: 0,
    });
  });
});

describe('decidingExitCode', () => {
  it('is the first of 5, 4, 2, 1, 3, 0', () => {
    const order = [5, 4, 2, 1, 3, 0] as const;
    for (const [index] of order.entries())
      expect(decidingExitCode(order.slice(index).reverse())).toBe(order[index]);
  });
});

describe('verdictLines', () => {
  it('are two: the verdict on the broker, and the state of the gate', () => {
    expect(verdictLines('X', verdictOf(facts({})))).toEqual([
      'X is CONFORMANT.',
      'The gate is open (exit code 0): nothing failed.',
    ]);
    const [first, second] = verdictLines('X', verdictOf(facts({ results: results('fail'), partial: true })));
    expect(first).toBe('X is NOT CONFORMANT.');
    expect(second).toContain('1 check failed');
    expect(verdictLines('X', verdictOf(facts({ partial: true })))).toEqual([
      'X is CONFORMANT in the part that was run.',
      'The gate is open (exit code 0): nothing failed, in a PARTIAL run.',
    ]);
  });

  it.each<[VerdictScope, Partial<RunFacts>, string]>([
    [{ profiles: ['core'], unbuilt: [] }, {}, 'X is CONFORMANT to profile core.'],
    [
      { profiles: ['core', 'delivery', 'durable'], unbuilt: [] },
      { results: results('fail') },
      'X is NOT CONFORMANT to profiles core, delivery and durable.',
    ],
    [
      { profiles: ['full'], unbuilt: ['auth', 'tls'] },
      {},
      'X is CONFORMANT to profile full (without auth and tls, which have no checks yet).',
    ],
    [
      { profiles: ['full'], unbuilt: ['auth'] },
      { partial: true },
      'X is CONFORMANT in the part that was run: profile full (without auth, which has no checks yet).',
    ],
    [
      { profiles: ['core'], unbuilt: [] },
      { results: results('pass', 'not shown') },
      'X is NOT SHOWN to be conformant to profile core: the run is not complete.',
    ],
  ])('name the profiles, and those without checks', (scope, more, line) => {
    expect(verdictLines('X', verdictOf(facts({ scope, ...more })))[0]).toBe(line);
  });
});
