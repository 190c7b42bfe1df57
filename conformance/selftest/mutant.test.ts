// The self-test's own judgement: a mutant that does not work and a survivor must both be noticed.
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../src/outcome.ts';
import type { CheckResult } from '../src/result.ts';
import { misnamedRules, mutantFaults } from './mutant-verdict.ts';
import type { Mutant } from './mutants.ts';

const mutant: Mutant = {
  id: 'conn-x',
  title: 'something is wrong',
  find: 'a < b',
  replace: 'a <= b',
  breaks: ['CONN-001', 'CONN-002'],
  mustFail: ['CONN-001a'],
  mayFail: ['CONN-002a'],
};

function result(id: string, outcome: Outcome, notes: readonly string[] = []): CheckResult {
  const evidence = { frames: 0, messages: 0, responses: 0, assertions: 0 };
  const rest = { title: '', level: 'MUST', profile: 'core', evidence, warnings: [] } as const;
  return {
    id,
    outcome,
    notes,
    ...rest,
    clauses: [id.replace(/[a-z]$/, '')],
    expected: 'it does',
    durationMs: 0,
    reproduce: '',
    repetition: 1,
    trace: [],
    brokerLog: [],
  };
}

/** It passed, but for a recommendation. */
function warned(id: string, clause: string): CheckResult {
  const { expected: _, ...rest } = result(id, 'warn');
  return { ...rest, warnings: [{ clause, text: 'no id' }] };
}

const smoke = result('SMOKE-000a', 'pass');

describe('mutantFaults', () => {
  it.each<[string, readonly CheckResult[], string | undefined]>([
    ['a kill by failure', [smoke, result('CONN-001a', 'fail')], undefined],
    ['a kill by warning', [smoke, result('CONN-001a', 'warn')], undefined],
    [
      'a kill of an optional rule',
      [smoke, result('CONN-001a', 'not applicable', ['optional, not seen'])],
      undefined,
    ],
    ['a check that may fail', [smoke, result('CONN-001a', 'fail'), result('CONN-002a', 'fail')], undefined],
    ['a survivor', [smoke, result('CONN-001a', 'pass')], 'it survives CONN-001a, which ended with pass'],
    ['a check that was not run', [smoke], 'CONN-001a did not run'],
    [
      'an optional check that was left out',
      [smoke, result('CONN-001a', 'not applicable')],
      'it survives CONN-001a',
    ],
    [
      'another failure',
      [smoke, result('CONN-001a', 'fail'), result('CONN-003a', 'fail')],
      'CONN-003a fails too',
    ],
    ['an error', [smoke, result('CONN-001a', 'error')], 'CONN-001a ended with error'],
    ['a broken handshake', [result('SMOKE-000a', 'fail'), result('CONN-001a', 'fail')], 'it does not count'],
    [
      'what is watched, broken in the smoke test too',
      [{ ...result('SMOKE-000a', 'blocked'), watched: true }, result('CONN-001a', 'fail')],
      undefined,
    ],
    ['no smoke test', [result('CONN-001a', 'fail')], 'it does not count'],
  ])('%s', (_name, results, fault) => {
    const faults = mutantFaults(mutant, results, 'SMOKE-000a');
    if (fault === undefined) expect(faults).toEqual([]);
    else expect(faults.join('; ')).toContain(fault);
  });
});

describe('what is watched in every check', () => {
  const watched = (id: string, clause: string): CheckResult => ({
    ...result(id, 'fail'),
    ...{ clause, watched: true },
  });
  const faultsOf = (results: readonly CheckResult[], more: Partial<Mutant> = {}): readonly string[] =>
    mutantFaults({ ...mutant, ...more }, [smoke, ...results], 'SMOKE-000a');

  it('may see in any check what the fault breaks', () => {
    const own = result('CONN-001a', 'fail');
    expect(faultsOf([own, watched('CONN-003a', 'CONN-002')])).toEqual([]);
    expect(faultsOf([own, watched('CONN-003a', 'CONN-004')])).toEqual([
      'CONN-003a fails too and is not named: ',
    ]);
  });

  it('proves nothing of the assertions of a check that must fail', () => {
    expect(faultsOf([watched('CONN-001a', 'CONN-001')])).toEqual([
      'the assertions of CONN-001a hold: it fails only by what is watched in every check',
    ]);
    expect(faultsOf([watched('CONN-001a', 'CONN-001')], { watched: ['CONN-001a'] })).toEqual([]);
    expect(faultsOf([result('CONN-001a', 'fail')], { watched: ['CONN-001a'] })).toEqual([
      'CONN-001a fails by its own assertions, not only by what is watched in every check',
    ]);
  });
});

describe('misnamedRules', () => {
  const failing = result('CONN-001a', 'fail');
  const blockedBy = { clause: 'CONN-002', shownBy: ['CONN-002a'] };

  it.each<[string, readonly CheckResult[], readonly string[]]>([
    ['nothing where the broken ones are named', [failing], []],
    [
      'a broken requirement that the fault does not name',
      [failing, { ...result('CONN-002a', 'fail'), clause: 'CONN-004' }],
      ['CONN-004 is called broken, and the fault does not name it'],
    ],
    [
      'a recommendation that it does not name',
      [failing, warned('CONN-002a', 'CONN-007')],
      ['CONN-007 is called broken, and the fault does not name it'],
    ],
    [
      'a broken requirement that is not called so',
      [{ ...failing, clause: 'CONN-002' }],
      ['CONN-001 is broken, and is not called so'],
    ],
    [
      'none whose failure another broken one explains',
      [{ ...result('CONN-001a', 'blocked'), blockedBy }, result('CONN-002a', 'fail')],
      [],
    ],
  ])('names %s', (_name, results, texts) => {
    expect(misnamedRules(mutant, results)).toEqual(texts);
  });

  it('finds nothing wrong with what a check is about that may fail, and did', () => {
    const failed = [failing, result('CONN-002a', 'fail')];
    expect(misnamedRules({ ...mutant, breaks: ['CONN-001'] }, failed)).toEqual([]);
    expect(misnamedRules({ breaks: ['CONN-001'], mustFail: ['CONN-001a'] }, failed)).toEqual([
      'CONN-002 is called broken, and the fault does not name it',
    ]);
  });
});
