// What another check shows broken blocks those that rely on it; what none shows stays the failure that it was.
import { describe, expect, it } from 'vitest';
import type { Level } from '../catalogue-words.ts';
import type { Outcome } from '../outcome.ts';
import { sampleResult } from '../testing/sample-log.ts';
import { causesOf, withCauses } from './causes.ts';

const failed = (
  id: string,
  more: {
    outcome?: Outcome;
    level?: Level;
    reliesOn?: string;
    clause?: string;
    possibleCauses?: string[];
    requiredStep?: string;
  } = {},
) => {
  const { outcome = 'fail', ...rest } = more;
  return sampleResult(id, outcome, { reason: 'it did not', expected: 'it does', ...rest });
};
const outcomes = (results: ReturnType<typeof withCauses>): readonly string[] =>
  results.map(({ id, outcome, blockedBy }) => `${id} ${outcome} ${blockedBy?.clause ?? ''}`.trim());

describe('withCauses', () => {
  it('blocks what relies on a requirement that a check about it shows broken', () => {
    const results = withCauses([
      failed('DELIVERY-010a'),
      failed('BODY-017a', { reliesOn: 'DELIVERY-010' }),
      failed('DELIVERY-033a', { outcome: 'warn', reliesOn: 'DELIVERY-010' }),
      sampleResult('CONN-001a', 'pass'),
    ]);
    expect(outcomes(results)).toEqual([
      'DELIVERY-010a fail',
      'BODY-017a blocked DELIVERY-010',
      'DELIVERY-033a blocked DELIVERY-010',
      'CONN-001a pass',
    ]);
    expect(results[1]?.blockedBy?.shownBy).toEqual(['DELIVERY-010a']);
    expect(withCauses(results)).toEqual(results);
  });

  it('blocks what names the requirement of its step itself', () => {
    const naming = failed('OVERFLOW-013a', { reliesOn: 'OVERFLOW-010', clause: 'OVERFLOW-010' });
    expect(outcomes(withCauses([naming, failed('OVERFLOW-010a')]))[0]).toBe(
      'OVERFLOW-013a blocked OVERFLOW-010',
    );
  });

  it('leaves a failure that no check about its cause shows', () => {
    const passed = sampleResult('DELIVERY-010a', 'pass');
    const alone = failed('BODY-017a', { reliesOn: 'DELIVERY-010' });
    expect(outcomes(withCauses([passed, alone]))).toEqual(['DELIVERY-010a pass', 'BODY-017a fail']);
  });

  it('believes no check that failed for another reason itself, and none of the runner', () => {
    const results = withCauses([
      failed('QUEUE-001a', { reliesOn: 'CONN-005' }),
      failed('CONN-005a', { reliesOn: 'QUEUE-001' }),
      failed('CONN-019a', { outcome: 'error' }),
      failed('BODY-017a', { reliesOn: 'CONN-019' }),
    ]);
    expect(results.filter(({ outcome }) => outcome === 'blocked')).toEqual([]);
  });

  it('takes the requirement that a check names for the one that it shows broken', () => {
    const named = failed('DELIVERY-014b', { clause: 'DELIVERY-053' });
    const relying = failed('DLQ-012a', { reliesOn: 'DELIVERY-053' });
    expect(outcomes(withCauses([named, relying]))[1]).toBe('DLQ-012a blocked DELIVERY-053');
  });
});

describe('possible causes', () => {
  const ended = (...results: ReturnType<typeof failed>[]) => outcomes(withCauses(results));

  it('block a check that failed at its own rule, where another check shows one of them', () => {
    const own = failed('DLQ-001a', { possibleCauses: ['TTL-007', 'DELIVERY-010'] });
    expect(ended(own, failed('DELIVERY-010a'))).toEqual([
      'DLQ-001a blocked DELIVERY-010',
      'DELIVERY-010a fail',
    ]);
    expect(ended(own, sampleResult('DELIVERY-010a', 'pass'))).toEqual([
      'DLQ-001a fail',
      'DELIVERY-010a pass',
    ]);
  });

  it('are not shown by a check that is blocked itself', () => {
    expect(
      ended(
        failed('DLQ-001a', { possibleCauses: ['DELIVERY-010'] }),
        failed('DELIVERY-010a', { possibleCauses: ['DELIVERY-051'] }),
        failed('DELIVERY-051a'),
      ),
    ).toEqual(['DLQ-001a fail', 'DELIVERY-010a blocked DELIVERY-051', 'DELIVERY-051a fail']);
  });

  it('come from a failure that others might explain but do not', () => {
    expect(
      ended(
        failed('DLQ-001a', { possibleCauses: ['DELIVERY-010'] }),
        failed('DELIVERY-010a', { possibleCauses: ['DELIVERY-051'] }),
        failed('RETRY-001a', { reliesOn: 'DLQ-001' }),
      ),
    ).toEqual(['DLQ-001a blocked DELIVERY-010', 'DELIVERY-010a fail', 'RETRY-001a fail']);
  });

  it('do not keep a failure at a step of another requirement from showing its own', () => {
    expect(
      ended(
        failed('BODY-037a', { reliesOn: 'QUEUE-001', possibleCauses: ['BODY-037'] }),
        failed('BODY-038a', { reliesOn: 'QUEUE-001', possibleCauses: ['BODY-037'] }),
      ),
    ).toEqual(['BODY-037a fail', 'BODY-038a blocked BODY-037']);
  });

  it('that would explain each other come from the one that explains most', () => {
    expect(
      ended(
        failed('DLQ-001a', { possibleCauses: ['OVERFLOW-022'] }),
        failed('OVERFLOW-022a', { possibleCauses: ['DLQ-001'] }),
        failed('RETRY-008a', { possibleCauses: ['DLQ-001'] }),
      ),
    ).toEqual(['DLQ-001a fail', 'OVERFLOW-022a blocked DLQ-001', 'RETRY-008a blocked DLQ-001']);
  });

  it('leave failures that explain each other alike as they are', () => {
    expect(
      ended(
        failed('DLQ-001a', { possibleCauses: ['TTL-007'] }),
        failed('TTL-007a', { possibleCauses: ['DLQ-001'] }),
      ),
    ).toEqual(['DLQ-001a fail', 'TTL-007a fail']);
  });

  it('are looked for among failures at steps of other requirements too', () => {
    expect(
      ended(
        failed('DELIVERY-023a', { possibleCauses: ['DELIVERY-016'] }),
        failed('DELIVERY-016a', { reliesOn: 'RETRY-001' }),
      ),
    ).toEqual(['DELIVERY-023a blocked DELIVERY-016', 'DELIVERY-016a fail']);
  });
});

describe('a recommendation that is not followed', () => {
  const unfollowed = failed('FRAME-012a', { outcome: 'warn' });

  it('explains another warning, which stays one', () => {
    const closing = failed('FRAME-013a', { outcome: 'warn', reliesOn: 'FRAME-012' });
    const results = withCauses([unfollowed, closing]);
    expect(outcomes(results)).toEqual(['FRAME-012a warn', 'FRAME-013a warn']);
    expect(results[1]?.explainedBy).toEqual({ clause: 'FRAME-012', shownBy: ['FRAME-012a'] });
    expect(causesOf(results)).toEqual([
      { clause: 'FRAME-012', shownBy: ['FRAME-012a'], blocked: ['FRAME-013a'] },
    ]);
    expect(withCauses(results)).toEqual(results);
  });

  it('explains nothing that a broken MUST explains too, whichever is seen first', () => {
    const warned = failed('QUEUE-011a', { outcome: 'warn', possibleCauses: ['TTL-005', 'BODY-037'] });
    const names = failed('BODY-037a', { reliesOn: 'QUEUE-001' });
    const late = failed('TTL-005a', { outcome: 'warn' });
    expect(outcomes(withCauses([late, warned, names]))).toEqual([
      'TTL-005a warn',
      'QUEUE-011a blocked BODY-037',
      'BODY-037a fail',
    ]);
    const naming = failed('OVERFLOW-019a', {
      outcome: 'warn',
      clause: 'OVERFLOW-010',
      possibleCauses: ['TTL-005'],
    });
    const [, seen] = withCauses([late, naming, failed('OVERFLOW-010a')]);
    expect(seen?.explainedBy).toBeUndefined();
  });

  it('explains no failure', () => {
    const required = failed('FRAME-009a', { possibleCauses: ['FRAME-012'] });
    expect(outcomes(withCauses([unfollowed, required]))).toEqual(['FRAME-012a warn', 'FRAME-009a fail']);
  });
});

describe('withCauses, for a recommendation whose check ended at a step of a MUST', () => {
  const step = { reliesOn: 'CONN-005', requiredStep: 'CONN-005' } as const;
  const recommended = failed('PUBLISH-011b', { outcome: 'warn', level: 'SHOULD', ...step });
  const optional = failed('QUEUE-040a', { outcome: 'not applicable', level: 'MAY', ...step });

  it('is not shown where no other check shows the MUST kept or broken', () => {
    expect(outcomes(withCauses([recommended, optional, sampleResult('CONN-006a', 'pass')]))).toEqual([
      'PUBLISH-011b not shown',
      'QUEUE-040a not shown',
      'CONN-006a pass',
    ]);
    expect(causesOf(withCauses([recommended]))).toEqual([]);
  });

  it.each(['not shown', 'not applicable', 'could not run', 'error'] as const)(
    'is not shown where the check of the MUST ended as %s',
    (outcome) => {
      const [first] = withCauses([recommended, sampleResult('CONN-005a', outcome)]);
      expect(first?.outcome).toBe('not shown');
    },
  );

  it('stays what it was where another check shows the MUST kept', () => {
    const kept = sampleResult('CONN-019a', 'pass', { clauses: ['CONN-019', 'CONN-005'] });
    expect(outcomes(withCauses([recommended, optional, kept])).slice(0, 2)).toEqual([
      'PUBLISH-011b warn',
      'QUEUE-040a not applicable',
    ]);
    const warned = sampleResult('CONN-005a', 'warn');
    expect(outcomes(withCauses([recommended, warned]))[0]).toBe('PUBLISH-011b warn');
  });

  it('is blocked where another check shows the MUST broken', () => {
    expect(outcomes(withCauses([recommended, optional, failed('CONN-005a')])).slice(0, 2)).toEqual([
      'PUBLISH-011b blocked CONN-005',
      'QUEUE-040a blocked CONN-005',
    ]);
  });

  it('stays a warning where another recommendation explains it', () => {
    const other = failed('OVERFLOW-010a', { outcome: 'warn', level: 'SHOULD' });
    const explained = { ...recommended, possibleCauses: ['OVERFLOW-010'] };
    expect(outcomes(withCauses([explained, other]))[0]).toBe('PUBLISH-011b warn');
  });

  it('stays open in a part of a run, and is decided when the parts are one', () => {
    const part = withCauses([recommended], { isPart: true });
    expect(outcomes(part)).toEqual(['PUBLISH-011b warn']);
    const alone = withCauses([recommended]);
    expect(withCauses(alone)).toEqual(alone);
    const whole = [...alone, sampleResult('CONN-005a', 'pass')];
    expect(outcomes(withCauses(whole))[0]).toBe('PUBLISH-011b warn');
    expect(outcomes(withCauses([...alone, failed('CONN-005a')]))[0]).toBe('PUBLISH-011b blocked CONN-005');
  });
});

describe('causesOf', () => {
  it('tells what blocks most first, and whom', () => {
    const results = withCauses([
      failed('BODY-001a'),
      failed('DELIVERY-010a'),
      failed('DELIVERY-010b', { clause: 'DELIVERY-010' }),
      failed('BODY-017a', { reliesOn: 'DELIVERY-010' }),
      failed('BODY-018a', { reliesOn: 'DELIVERY-010' }),
    ]);
    expect(causesOf(results)).toEqual([
      {
        clause: 'DELIVERY-010',
        shownBy: ['DELIVERY-010a', 'DELIVERY-010b'],
        blocked: ['BODY-017a', 'BODY-018a'],
      },
      { clause: 'BODY-001', shownBy: ['BODY-001a'], blocked: [] },
    ]);
  });

  it('takes a failure that nothing explains for one of the requirement that the check is about', () => {
    const results = withCauses([failed('FRAME-003a', { reliesOn: 'PUBLISH-001' }), failed('BODY-001a')]);
    expect(causesOf(results).map(({ clause }) => clause)).toEqual(['BODY-001', 'FRAME-003']);
  });

  it('tells nothing of a run in which nothing is broken', () => {
    expect(causesOf([sampleResult('CONN-001a', 'pass'), sampleResult('CONN-002a', 'warn')])).toEqual([]);
  });
});
